// Values for subjects: principals, their keys, and the actor of a request.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/id.h"

namespace sk::identity {

// The authenticated subject of an operation: a principal, acting through one of its keys, within the key's
// scope. A value. Only Access and recorded_actor() create one with a principal.
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
  // Zero for an actor from a third-party token and for a recorded actor.
  const Id& key() const { return key_; }

 private:
  friend class Access;
  friend Actor recorded_actor(const Id& principal, std::string name);

  Id principal_;
  std::string name_;
  bool admin_ = false;
  bool read_only_ = false;
  std::optional<Id> only_workspace_;
  std::optional<TimeUs> expires_us_;
  Id key_;
};

// Creates an actor for a principal that the server's records name. For actions without a key: a journal
// entry, background work, an execution that continues after a restart.
Actor recorded_actor(const Id& principal, std::string name);

struct Principal {
  Id id;
  std::string name;
  std::string kind;  // person | agent
  bool admin = false;
  TimeUs created_us = 0;
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
