// An authority: the permission to act in one workspace. Every call that reads or changes a workspace takes
// one and begins with need(). Its constructor is private: Workspaces creates it from the actor and the
// catalog, and system_authority() for the server's own work.
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

  const Actor& actor() const { return actor_; }
  // The workspace's description. Its figures may be outdated; for Origin::system only the id is set.
  const Workspace& workspace() const { return workspace_; }
  const Id& workspace_id() const { return workspace_.id; }
  // The scope of its writes.
  catalog::Scope scope() const { return catalog::Scope::workspace(workspace_.id); }
  Right right() const { return right_; }
  // The folder it is limited to. Empty means the whole workspace, which is currently the case for every
  // origin.
  const std::string& path_scope() const { return path_scope_; }
  Origin origin() const { return origin_; }
  // The reason why the server acts; empty for other origins.
  std::string_view reason() const { return reason_; }

  bool allows(Right right) const { return right_ >= right; }
  // Error(forbidden) if it lacks the right; Error(not_found) if it may not read.
  void need(Right right) const;

 private:
  friend class Workspaces;
  friend Authority system_authority(const Id& workspace, Actor as, SystemReason reason);
  Authority(Actor actor, Workspace workspace, Origin origin);

  Actor actor_;
  Workspace workspace_;
  Right right_;
  std::string path_scope_;
  Origin origin_;
  std::string_view reason_;  // points to a literal
};

// For work without a request: captures, retention, expiry. Has the owner's right, independent of keys and
// members. `as` is the author in the journal.
Authority system_authority(const Id& workspace, Actor as, SystemReason reason);

// Checks the rights again; every write transaction calls this first. Throws what the next request with the
// same key would get. Error(unauthorized) for a revoked or expired key. Error(not_found) if the principal has
// no access to the workspace. Error(forbidden) if it lacks `right`. A system authority always passes.
void check_still_holds(catalog::Tx& tx, const Authority& authority, Right right);

// The error for a workspace that does not exist or that the actor may not know about.
Error no_such_workspace(std::string_view id_or_name);

}  // namespace sk::workspace
