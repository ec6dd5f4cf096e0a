// Control groups, version 1 and 2: limits and usage of a session, and a way to freeze all of it at once.
//
// Version 1 has one hierarchy of folders per controller, version 2 one for all; hosts mix them. A session's
// group is a folder in each hierarchy in use. It lies below this server's folder, which lies below the
// server's own group, or below the nearest group above it that the server may divide. Hierarchies that share
// something out (processor, disk) have a folder for each tenant in between. All tenants have the same weight,
// so that the sessions of one tenant together get as much as the single session of another.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "sandbox/limits.h"

namespace sk::sandbox {

// One mounted hierarchy, as /proc/self/mountinfo and /proc/self/cgroup describe it.
struct CgroupHierarchy {
  int version = 0;
  // Version 1: the controllers mounted together. Version 2: the controllers available here.
  std::vector<std::string> controllers;
  std::string own_path;    // folder of the server's own group
  std::string mount_path;  // of the topmost group that can be seen
};

// Parses the contents of those two files. Returns an empty list where nothing is usable. Exposed for tests.
std::vector<CgroupHierarchy> parse_hierarchies(std::string_view mountinfo, std::string_view own_groups);

// Returns the disk of the folder's filesystem, "8:0", or nullopt where it is not on a single disk.
std::optional<std::string> disk_below(const std::string& folder);

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

  // Returns the machine's memory, or less where the server's own group has less.
  uint64_t memory_bytes() const;
  // Limits the memory of all sessions together. No effect without a memory controller.
  void limit_memory(uint64_t bytes) const;

 private:
  friend class Cgroup;
  struct Branch {
    int version;
    std::vector<std::string> controllers;
    std::string path;  // the server's folder in this hierarchy
    std::string own_path;
    bool is_by_tenant() const;
  };
  void use(const CgroupHierarchy& hierarchy);
  bool use_version_2(Branch& branch, const std::string& parent) const;
  void sweep(const std::string& parent) const;
  const Branch* branch_of(std::string_view controller) const;

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

  // Adds a process to the groups that need no tenant; children forked later belong to them too. It takes
  // about 10 ms, because the kernel stops all forks of the machine. Throws Error(internal).
  void add(pid_t pid);
  // Creates the groups below the tenant's folders. Returns a file for each: a process that writes "0" to it
  // joins. `tenant` is a valid name of a file, or empty. Throws Error(internal).
  std::vector<Fd> enter_tenant(const std::string& tenant);
  // Throws Error(internal) when a limit of an available controller cannot be set.
  void set_limits(const SessionLimits& limits);
  // Limits what the group reads from a disk ("8:0") per second, and what it writes. No effect without a
  // controller for that. Throws Error(internal) for a disk that cannot be limited.
  void limit_io(const std::string& disk, uint64_t bytes_per_s);
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
    const CgroupTree::Branch* branch;
    int version;
    std::string path;
  };
  bool make_place(const CgroupTree::Branch& branch, const std::string& path);
  const Place* place_of(std::string_view controller) const;
  bool set_frozen(bool frozen);

  const CgroupTree& tree_;
  const std::string name_;
  std::vector<Place> places_;  // one per branch of the tree that was entered
};

}  // namespace sk::sandbox
