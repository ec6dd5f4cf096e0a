// An authority: the permission to act in one workspace, or in one folder of it. Every call that reads or
// changes a workspace takes one and begins with one of its need functions. Its constructor is private:
// Workspaces creates it from the actor and the catalog, and system_authority() for the server's own work.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
#include "catalog/database.h"
#include "workspace/types.h"

namespace sk::workspace {

// The reason why the server acts without a request. Only a string literal converts to it.
class SystemReason {
 public:
  consteval SystemReason(const char* literal) : text_(literal) {}
  constexpr std::string_view text() const { return text_; }

 private:
  std::string_view text_;
};

// A value; any thread may read it. It states the rights at the time of its creation, so write transactions
// call check_still_holds().
class Authority {
 public:
  // How it was created: from an API key, from a token signed by a third party, from a link, or by the server.
  enum class Origin { key, token, link, system };

  // The subject whose rights these are. For Origin::system an actor without rights.
  const Actor& actor() const { return actor_; }
  // The principal that records name as the author of changes.
  const Author& author() const { return author_; }
  // The workspace's description. Its figures may be outdated; for Origin::system only the id is set.
  const Workspace& workspace() const { return workspace_; }
  const Id& workspace_id() const { return workspace_.id; }
  // The scope of its writes, which take the author's turn.
  catalog::Scope scope() const {
    return catalog::Scope::workspace(workspace_.id).asked_by(author_.principal);
  }
  Right right() const { return right_; }
  // The folder or file that it is limited to. Empty means the whole workspace.
  const std::string& path_scope() const { return path_scope_; }
  Origin origin() const { return origin_; }
  // The reason why the server acts; empty for other origins.
  std::string_view reason() const { return reason_; }

  // Returns the same authority, limited to `path`: a folder with everything below it, or one file. The
  // author, the right and the origin stay. Error(forbidden) if this authority does not cover the path.
  Authority limited_to(std::string_view path) const;

  bool is_limited() const { return !path_scope_.empty(); }
  // Whether the entry at `path` is within the scope.
  bool covers(std::string_view path) const;
  // Whether an entry may be created at `path`, moved from there, or trashed. False for the scope's own path,
  // because its name belongs to the folder above.
  bool covers_place(std::string_view path) const;
  bool allows(Right right) const { return right_ >= right; }

  // Requires the right in the whole workspace. Error(forbidden) if it lacks the right or is limited to a
  // path; Error(not_found) if it may not read. A call that knows nothing of scopes is therefore refused.
  void need(Right right) const;
  // Requires the right within the scope. For calls that check every path by covers(). Throws like need().
  void need_in_scope(Right right) const;
  // Requires the right at `path`. Throws like need(); Error(forbidden) if the path is not covered, whether
  // or not an entry exists there.
  void need_at(Right right, std::string_view path) const;

 private:
  friend class Workspaces;
  friend Authority system_authority(const Id& workspace, Author as, SystemReason reason);
  Authority(Actor actor, Workspace workspace, Origin origin);

  Actor actor_;
  Author author_;
  Workspace workspace_;
  Right right_;
  std::string path_scope_;
  Origin origin_;
  std::string_view reason_;  // points to a literal
};

// For work without a request: captures, retention, expiry. Has the owner's right, independent of keys and
// members. `as` is the author in the journal.
Authority system_authority(const Id& workspace, Author as, SystemReason reason);

// Checks the rights again; every write transaction calls this first. Throws what the next request with the
// same key would get. Error(unauthorized) for a revoked or expired key. Error(not_found) if the principal has
// no access to the workspace. Error(forbidden) if it lacks `right`. A system authority always passes.
void check_still_holds(catalog::Tx& tx, const Authority& authority, Right right);
// The same outside of a transaction that writes.
void check_still_holds(catalog::Statements& statements, TimeUs now_us, const Authority& authority,
                       Right right);
// The same for what needs no right in the workspace, such as the end of one's own session: checks the key
// only.
void check_key_still_holds(catalog::Tx& tx, const Authority& authority);

// The error of a call that names a path outside of the authority's scope.
Error out_of_scope(const Authority& authority, std::string_view path);

// The error for a workspace that does not exist or that the actor may not know about.
Error no_such_workspace(std::string_view id_or_name);

}  // namespace sk::workspace
