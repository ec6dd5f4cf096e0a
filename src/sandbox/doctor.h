// Which layers of the sandbox this host and this user have. Each is tried, not guessed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sandbox/cgroup.h"
#include "sandbox/user_ids.h"

namespace sk::sandbox {

enum class Need {
  always,    // without it nothing can run at all
  required,  // without it only a weak sandbox runs
  useful,    // another wall behind the others
};

struct Layer {
  std::string name;
  bool present = false;
  Need need = Need::required;
  std::string detail;  // what was found
  std::string advice;  // what to do when it is missing; empty when it is there
};

struct Report {
  std::vector<Layer> layers;
  bool is_root = false;           // else a user namespace stands in for it
  bool limits_are_exact = false;  // by control groups, else approximately: by a watcher and resource limits

  // Nothing that is always needed or required is missing.
  bool complete() const;
  // Nothing that is always needed is missing.
  bool possible() const;
  // The names of what is missing and not merely useful.
  std::string missing() const;
};

// What the doctor found, in the form that the rest of the room works with.
struct Findings {
  Report report;
  uint32_t layer_bits = 0;  // enum sk_layer
  UserIdPlan ids;
};

// `data_root` is where sessions' folders will be: whether their owners can be mapped depends on its
// filesystem. Forks some short-lived children; takes some milliseconds. Never throws for what is missing.
Findings examine_host(const CgroupTree& cgroups, const std::string& data_root);

}  // namespace sk::sandbox
