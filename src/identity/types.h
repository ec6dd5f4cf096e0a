// Subjects as values: who acts, and the keys through which they do.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/id.h"

namespace sk::identity {

// Who acts, as authentication found out: a principal through one of its keys. Every call of the domain takes
// one.
struct Actor {
  Id principal;
  std::string name;
  bool admin = false;                // may manage principals and see the server's own journal
  bool read_only = false;            // by the key's scope
  std::optional<Id> only_workspace;  // by the key's scope
  std::optional<TimeUs> expires_us;  // by the key's scope: from then on it opens nothing
  Id key;
};

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
