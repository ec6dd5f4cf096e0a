// Values for subjects: principals, their keys, and the actor of a request.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/id.h"

namespace sk::interpreter {
class SandboxedInterpreter;
}

namespace sk::identity {

// Permits Access::recorded_actor(). Only the interpreter that continues recorded executions can create one.
class ReplayKey {
 private:
  friend class sk::interpreter::SandboxedInterpreter;
  ReplayKey() {}
};

// The authenticated subject of an operation: a principal, acting through one of its keys, within the key's
// scope. A value. Only Access creates one with a principal.
class Actor {
 public:
  // Creates an actor without a principal, and therefore without rights.
  Actor() = default;

  const Id& principal() const { return principal_; }
  const std::string& name() const { return name_; }
  // Returns whether the actor may manage principals and see the server's own journal.
  bool is_admin() const { return admin_; }
  // Returns false for a read-only key.
  bool may_write() const { return !read_only_; }
  // Throws Error(forbidden) for a read-only key. For operations that concern no workspace, or several.
  void need_write() const;
  // Returns the only workspace that the key gives access to; unset: all of the principal's.
  const std::optional<Id>& only_workspace() const { return only_workspace_; }
  // Returns the time from which the key is invalid.
  const std::optional<TimeUs>& expires_us() const { return expires_us_; }
  // Zero for an actor from a third-party token.
  const Id& key() const { return key_; }

 private:
  friend class Access;

  Id principal_;
  std::string name_;
  bool admin_ = false;
  bool read_only_ = false;
  std::optional<Id> only_workspace_;
  std::optional<TimeUs> expires_us_;
  Id key_;
};

// A principal as records name it: the author of a version or of a journal entry. Gives no rights, so any
// code may create one.
struct Author {
  Author() = default;
  Author(Id principal_id, std::string shown_name) : principal(principal_id), name(std::move(shown_name)) {}
  // Implicit: whoever acts is the author of its changes.
  Author(const Actor& actor) : principal(actor.principal()), name(actor.name()) {}

  Id principal;  // zero: the server
  std::string name;
};

// Limits that an administrator set for one principal; unset: the server's settings apply.
struct PrincipalLimits {
  std::optional<uint64_t> quota_bytes;  // of all its workspaces; 0: none
  std::optional<uint64_t> workspaces_max;
  std::optional<uint64_t> keys_max;
  std::optional<uint64_t> sessions_max;  // awake at the same time
  std::optional<uint64_t> sessions_kept_max;
};

struct Principal {
  Id id;
  std::string name;
  std::string kind;  // person | agent
  bool admin = false;
  TimeUs created_us = 0;
  std::optional<TimeUs> suspended_us = {};
  PrincipalLimits limits = {};
};

struct KeyInfo {
  Id id;
  Id principal;
  std::string principal_name;
  std::string name;
  std::string hint;  // first characters, for recognition
  bool read_only = false;
  std::optional<Id> only_workspace;
  std::optional<TimeUs> expires_us;
  std::optional<TimeUs> revoked_us;
  std::optional<TimeUs> last_used_us;
  TimeUs created_us = 0;
};

}  // namespace sk::identity
