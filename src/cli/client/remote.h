// A server for commands: JSON calls and streams over HTTP. Rethrows the server's errors as Error. Owns one
// connection, for one thread at a time; copy the Target to open more.
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
#include "http/client/client.h"

namespace sk::cli {

using Query = std::vector<std::pair<std::string, std::string>>;

// Conditions of a write: lock tokens, preconditions, a fencing number.
struct WriteConditions {
  std::vector<std::string> lock_tokens;
  std::vector<std::string> if_match;  // version ids, or "*"
  bool if_new = false;
  std::optional<uint64_t> fence;

  void add_to(http::Headers& headers) const;
};

// Returns a request without body and streams.
http::ClientRequest request_to(std::string method, std::string path);

class Remote {
 public:
  explicit Remote(Target target);

  const Target& target() const { return target_; }
  // Returns the target with the default workspace filled in, for further connections.
  Target resolved_target();

  // Makes one JSON call; `path` is "/api/v1/…", already encoded. Returns null for an answer without a body.
  // Throws the server's error with its code, message, hint and facts. Error(unavailable) if no server
  // answers.
  Json call(std::string method, const std::string& path, const Query& query = {},
            const std::optional<Json>& body = {}, const http::Headers& headers = {});
  // Like call(), for a call that is answered only when its work is done: waits up to a week, without retries.
  Json call_patiently(std::string method, const std::string& path, const Query& query = {});
  // Streams the bytes of a GET to `take`. An exception of `take` ends the transfer and propagates.
  void stream(const std::string& path, const Query& query, const std::function<void(std::string_view)>& take);
  // Sends a request with streams. `request.url` is a path as above. Adds the key.
  http::ClientResponse send(http::ClientRequest request, const Query& query = {});

  // Returns "/api/v1/workspaces/{ws}/{what}[/{path}]" for the workspace of `where`, or for the default
  // workspace.
  std::string url(const RemotePath& where, std::string_view what);
  std::string url_with_path(const RemotePath& where, std::string_view what);
  // Returns the workspace's name or id. Without one, it is the only workspace that the key may open, or the
  // one named `default`. The server is asked once.
  std::string workspace_of(const RemotePath& where);
  // Returns the id of the workspace. The server is asked once per name.
  std::string workspace_id_of(const RemotePath& where);
  // Returns a limit of the server by its name in GET /api/v1, but at most `most`.
  int64_t limit(std::string_view name, int64_t most);

 private:
  http::ClientResponse exchange(http::Client& client, http::ClientRequest request, const Query& query);

  Target target_;
  http::Client client_;
  std::map<std::string, std::string> ids_;  // workspace ids by name
};

// How a user of the command line gives a valid key, for a server that refused the target's key.
std::string key_hint(const Target& target);

// Returns the entry at that path, or nullopt.
std::optional<Json> find_entry(Remote& remote, const RemotePath& where);
Json get_entry(Remote& remote, const RemotePath& where);

// Calls `take` for every item of a paged list, in order.
void for_each_item(Remote& remote, const std::string& path, Query query,
                   const std::function<void(const Json& item)>& take);

// Returns the default workspace of a key: the only one that it may open, else the one named `default`. `me`
// is the answer of GET /api/v1/me.
std::string default_workspace(const Json& me);

// Converts an error answer, with its code (by name, else by HTTP status), message, hint and facts.
Error to_error(const http::ClientResponse& response, const Target& target);

}  // namespace sk::cli
