// Control groups, version 1 and 2: limits and usage of a session, and a way to freeze all of it at once.
//
// Version 1 has one hierarchy of folders per controller, version 2 one for all; hosts mix them. A session's
// group is a folder in each hierarchy in use. It lies below this server's folder, which lies below the
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
  // Version 1: the controllers mounted together. Version 2: the controllers available here.
  std::vector<std::string> controllers;
  std::string own_path;  // folder of the server's own group
};

// Parses the contents of those two files. Returns an empty list where nothing is usable. Exposed for tests.
std::vector<CgroupHierarchy> parse_hierarchies(std::string_view mountinfo, std::string_view own_groups);

class Cgroup;

// The files of one group that tell its usage, as paths. A value, so that any thread can read them while the
// group is used, and after it was removed. Constant after construction.
class CgroupFiles {
 public:
  // Fields of missing controllers, and of a removed group, are zero.
  Usage read() const;
  bool has_memory() const { return memory_.has_value(); }
  bool has_cpu() const { return cpuacct_ || cpu_; }
  bool has_processes() const { return pids_.has_value(); }

 private:
  friend class Cgroup;
  struct Folder {
    int version;
    std::string path;
  };
  std::optional<Folder> memory_, pids_, cpuacct_;
  std::optional<Folder> cpu_;  // only of version 2, where it tells the time used
};

// Factory of the sessions' groups. Constant after construction; thread-safe.
class CgroupTree {
 public:
  // Finds the hierarchies that this host and user can use, and creates the server's folder in each. Never
  // throws: `has` returns false for missing controllers.
  static CgroupTree find();
  // Uses the given hierarchies, for tests.
  explicit CgroupTree(std::vector<CgroupHierarchy> hierarchies, std::string folder_name);
  CgroupTree(CgroupTree&&) = default;
  ~CgroupTree();

  bool has(std::string_view controller) const;
  // Returns "v1: memory, pids, cpu", or the reason why there is none.
  const std::string& description() const { return description_; }

  // Returns the server's folders, one in each hierarchy.
  std::vector<std::string> folders() const;

  // Creates an empty group with a unique name. Throws Error(internal).
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

// Group of one session. Not thread-safe. It can only be removed once it contains no process.
class Cgroup {
 public:
  Cgroup(const CgroupTree& tree, std::string name);
  ~Cgroup() { remove(); }
  Cgroup(const Cgroup&) = delete;
  Cgroup& operator=(const Cgroup&) = delete;

  // Adds a process; children forked later belong to the group too. Throws Error(internal).
  void add(pid_t pid);
  // Throws Error(internal) when a limit of an available controller cannot be set.
  void set_limits(const SessionLimits& limits);
  Usage usage() const { return files().read(); }
  CgroupFiles files() const;
  // Returns this field of Usage at low cost, or nullopt where processes are not counted.
  std::optional<uint64_t> processes_refused() const;
  // Returns false when there is no freezer.
  bool freeze() { return set_frozen(true); }
  bool thaw() { return set_frozen(false); }
  std::vector<pid_t> processes() const;
  // Removes the group. Returns false while processes are still ending.
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
  std::vector<Place> places_;  // one per branch of the tree, in the same order
};

}  // namespace sk::sandbox
