// An authority: the permission to act in one workspace. A call of the domain that reads or changes a
// workspace takes one and begins with need(). It cannot be made up: Workspaces makes it from what identity
// says of the actor and what the catalog says of the workspace, and system_authority() makes it for work of
// the server itself.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
#include "catalog/database.h"
#include "workspace/types.h"

namespace sk::workspace {

// A sentence that says why the server acts without being asked. Only a literal can be one.
class SystemReason {
 public:
  consteval SystemReason(const char* literal) : text_(literal) {}
  constexpr std::string_view text() const { return text_; }

 private:
  std::string_view text_;
};

// A value; any thread may read it. It says what was allowed when it was made: a transaction that writes asks
// check_still_holds().
class Authority {
 public:
  // How it came about: by a key of ours, by a token that somebody else signed, by a link, or by the server.
  enum class Origin { key, token, link, system };

  const Actor& actor() const { return actor_; }
  // The description of the workspace; its figures may be old, and are missing where the server acts.
  const Workspace& workspace() const { return workspace_; }
  const Id& workspace_id() const { return workspace_.id; }
  Right right() const { return right_; }
  // The folder that it is for; empty, the whole workspace, for every origin so far.
  const std::string& path_scope() const { return path_scope_; }
  Origin origin() const { return origin_; }
  // Why the server acts; empty for every other origin.
  std::string_view reason() const { return reason_; }

  bool allows(Right right) const { return right_ >= right; }
  // Error(forbidden) unless it carries the right; Error(not_found) for one that may not even read.
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
  std::string_view reason_;  // of a literal
};

// For work that nobody asks for at that moment: captures, retention, expiry. Carries the owner's right, and
// holds whatever becomes of keys and members. `as` is the author on the record.
Authority system_authority(const Id& workspace, Actor as, SystemReason reason);

// Rights are looked at again where they are used: a transaction that writes calls this first. Throws what the
// next request of the same key would get: Error(unauthorized) for a key that was revoked or has expired,
// Error(not_found) when the workspace is closed to its principal, Error(forbidden) for less than `right`. A
// system authority always holds.
void check_still_holds(catalog::Statements& statements, const Clock& clock, const Authority& authority,
                       Right right);

// There is no such workspace, as far as the actor may know.
Error no_such_workspace(std::string_view id_or_name);

}  // namespace sk::workspace
