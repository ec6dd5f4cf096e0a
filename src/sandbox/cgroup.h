// Control groups, version 1 and 2: limits and figures of a session, and a way to stop all of it at once.
//
// Version 1 has one hierarchy of folders per controller, version 2 one for all; hosts mix them. A session's
// group is a folder in each hierarchy that is used, below one folder that belongs to this server, below the
// server's own group.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/limits.h"

namespace sk::sandbox {

// One mounted hierarchy, as /proc/self/mountinfo and /proc/self/cgroup describe it.
struct CgroupHierarchy {
  int version = 0;
  std::vector<std::string>
      controllers;       // of version 1: those mounted together; of version 2: those that can be used here
  std::string own_path;  // folder of the server's own group
};

// From the texts of those two files; `mounted` is empty where nothing is usable. Exposed for tests.
std::vector<CgroupHierarchy> parse_hierarchies(std::string_view mountinfo, std::string_view own_groups);

class Cgroup;

// Where sessions' groups are made. Constant after construction; any thread.
class CgroupTree {
 public:
  // Finds what this host and user can use, and makes the server's folder in it. Never throws: what is missing
  // is simply not `has`.
  static CgroupTree find();
  // Over given hierarchies, for tests.
  explicit CgroupTree(std::vector<CgroupHierarchy> hierarchies, std::string folder_name);
  CgroupTree(CgroupTree&&) = default;
  ~CgroupTree();

  bool has(std::string_view controller) const;
  // "v1: memory, pids, cpu", or why there is none.
  const std::string& description() const { return description_; }

  // A new, empty group under a name of its own. Throws Error(internal).
  std::unique_ptr<Cgroup> make() const;

 private:
  friend class Cgroup;
  struct Branch {
    int version;
    std::vector<std::string> controllers;
    std::string path;  // the server's folder in this hierarchy
  };
  void use(const CgroupHierarchy& hierarchy);
  void sweep(const std::string& own_path) const;

  std::string folder_name_;
  std::vector<Branch> branches_;
  std::string description_;
  std::unique_ptr<std::atomic<uint64_t>> names_ = std::make_unique<std::atomic<uint64_t>>(0);
};

// One session's group. One thread at a time. Removing it needs that no process is left in it.
class Cgroup {
 public:
  Cgroup(const CgroupTree& tree, std::string name);
  ~Cgroup() { remove(); }
  Cgroup(const Cgroup&) = delete;
  Cgroup& operator=(const Cgroup&) = delete;

  // Children that are forked later belong to it too. Throws Error(internal).
  void add(pid_t pid);
  // Throws Error(internal) when a limit of a present controller cannot be set.
  void set_limits(const Limits& limits);
  Usage usage() const;
  // Of Usage, alone and cheaply; nullopt where processes are not counted.
  std::optional<uint64_t> processes_refused() const;
  // False where no freezer is there.
  bool freeze() { return set_frozen(true); }
  bool thaw() { return set_frozen(false); }
  std::vector<pid_t> processes() const;
  // True when nothing is left of it; false while processes are still ending.
  bool remove();

 private:
  struct Place {
    int version;
    std::string path;
  };
  const Place* place_of(std::string_view controller) const;
  bool set_frozen(bool frozen);

  const CgroupTree& tree_;
  const std::string name_;
  std::vector<Place> places_;  // one per branch of the tree, same order
};

}  // namespace sk::sandbox
