// A server as the commands see it: JSON calls and streams over HTTP, with its errors thrown as our own. Owns
// one connection: one thread at a time; copies of the Target make more.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "cli/client/remote_path.h"
#include "cli/client/target.h"
#include "http/client.h"

namespace sk::cli {

using Query = std::vector<std::pair<std::string, std::string>>;

// What every write may carry: tokens of locks, preconditions, a fencing number.
struct WriteConditions {
  std::vector<std::string> lock_tokens;
  std::vector<std::string> if_match;  // version ids, or "*"
  bool if_new = false;
  std::optional<uint64_t> fence;

  void add_to(http::Headers& headers) const;
};

// A request without a body or streams yet.
http::ClientRequest request_to(std::string method, std::string path);

class Remote {
 public:
  explicit Remote(Target target);

  const Target& target() const { return target_; }
  // The same with the workspace that is meant by default filled in, for further connections.
  Target resolved_target();

  // One JSON call; `path` is "/api/v1/…", already encoded. null for an answer without a body. Throws the
  // server's error as Error, with its code, message, hint and facts; Error(unavailable) when no server
  // answered.
  Json call(std::string method, const std::string& path, const Query& query = {},
            const std::optional<Json>& body = {}, const http::Headers& headers = {});
  // The same for a call that the server answers only when its work is done, however long that takes.
  Json call_patiently(std::string method, const std::string& path, const Query& query = {});
  // The bytes of a GET as they come; what `take` throws ends it and comes out here.
  void stream(const std::string& path, const Query& query, const std::function<void(std::string_view)>& take);
  // A request with streams; `request.url` is a path as above. Adds the key.
  http::ClientResponse send(http::ClientRequest request, const Query& query = {});

  // "/api/v1/workspaces/{ws}/{what}[/{path}]" for the workspace that `where` names, or that is meant by
  // default.
  std::string url(const RemotePath& where, std::string_view what);
  std::string url_with_path(const RemotePath& where, std::string_view what);
  // The workspace's name or id. Where nobody named one it is the one named `default`, or the only one that
  // the key opens, which the server is asked for once.
  std::string workspace_of(const RemotePath& where);
  // The same as an id, which the server is asked for once.
  std::string workspace_id_of(const RemotePath& where);
  // A limit of the server by its name in GET /api/v1, or `most` where that is less.
  int64_t limit(std::string_view name, int64_t most);

 private:
  http::ClientResponse exchange(http::Client& client, http::ClientRequest request, const Query& query);

  Target target_;
  http::Client client_;
  std::map<std::string, std::string> ids_;  // of workspaces, by name
};

// The entry at that path, or nullopt when there is none.
std::optional<Json> find_entry(Remote& remote, const RemotePath& where);
Json get_entry(Remote& remote, const RemotePath& where);

// Every item of a paged list, in order.
void for_each_item(Remote& remote, const std::string& path, Query query,
                   const std::function<void(const Json& item)>& take);

// The workspace that a key means by default: the only one it opens, else the one named `default`. `me` is the
// answer of GET /api/v1/me.
std::string default_workspace(const Json& me);

// An answer's error, with its code (by name, else by HTTP status), message, hint and facts.
Error to_error(const http::ClientResponse& response, const Target& target);

}  // namespace sk::cli
