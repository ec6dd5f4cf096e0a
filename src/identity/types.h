// Subjects as values: who acts, and the keys through which they do.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/id.h"

namespace sk::identity {

// The one who acts, as authentication found out: a principal through one of its keys, within the key's scope.
// A value; only Access and recorded_actor() make one that stands for somebody.
class Actor {
 public:
  // Nobody: has no principal, and so no rights.
  Actor() = default;

  const Id& principal() const { return principal_; }
  const std::string& name() const { return name_; }
  // May manage principals and see the server's own journal.
  bool is_admin() const { return admin_; }
  // False for a key that is limited to reading.
  bool may_write() const { return !read_only_; }
  // Error(forbidden) for such a key; for what concerns no workspace, or several.
  void need_write() const;
  // The one workspace that the key opens; unset: all of the principal's.
  const std::optional<Id>& only_workspace() const { return only_workspace_; }
  // From then on the key opens nothing.
  const std::optional<TimeUs>& expires_us() const { return expires_us_; }
  // Zero for one who came by somebody else's token, and for one on record.
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

// A principal that the server's records name, for what is done in its name without a key: a line of the
// journal, background work, an execution that goes on after a restart.
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
  std::string hint;  // its first characters, to recognise it by
  bool read_only = false;
  std::optional<Id> only_workspace;
  std::optional<TimeUs> expires_us;
  std::optional<TimeUs> revoked_us;
  std::optional<TimeUs> last_used_us;
  TimeUs created_us = 0;
};

}  // namespace sk::identity
