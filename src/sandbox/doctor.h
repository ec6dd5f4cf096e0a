// Reports which layers of the sandbox this host and user provide. Each layer is tested by using it, not
// inferred.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sandbox/cgroup.h"
#include "sandbox/user_ids.h"

namespace sk::sandbox {

enum class Need {
  always,    // nothing can run without it
  required,  // without it, only a weak sandbox can run
  exact,     // without it, limits are approximate
  useful,    // additional defence in depth
};

struct Layer {
  std::string name;
  bool present = false;
  Need need = Need::required;
  std::string detail;  // the finding
  std::string advice;  // how to provide a missing layer; empty when present
};

struct Report {
  std::vector<Layer> layers;
  bool is_root = false;           // otherwise a user namespace is used
  bool limits_are_exact = false;  // by control groups; otherwise by a watcher and resource limits

  // Returns true when no `always` or `required` layer is missing. Limits may still be approximate.
  bool complete() const;
  // Returns true when no `always` layer is missing.
  bool possible() const;
  // Returns the names of the missing layers, except `useful` ones.
  std::string missing() const;
};

// The results of examine_host(), for use by the rest of this room.
struct Findings {
  Report report;
  uint32_t layer_bits = 0;  // enum sk_layer
  UserIdPlan ids;
  bool has_project_quotas = false;  // of the data root, which this process may set
};

// Tests all layers. `data_root` is the parent of the sessions' folders; its filesystem determines whether
// owners can be mapped. Forks short-lived children and takes some milliseconds. Never throws for a missing
// layer.
Findings examine_host(const CgroupTree& cgroups, const std::string& data_root);

}  // namespace sk::sandbox
