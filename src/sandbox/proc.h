// Reading the host's /proc. Internal to this room.
#pragma once

#include <dirent.h>
#include <sys/types.h>

#include <memory>
#include <set>
#include <string>

namespace sk::sandbox {

// Returns what can be read; "" for a process that has ended.
std::string read_proc(const std::string& path);

// Calls `visit` with the name of each numeric entry of a /proc folder.
template <class Visit>
void for_each_number(const std::string& folder, Visit visit) {
  std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(folder.c_str()), ::closedir);
  while (dir) {
    auto* entry = ::readdir(dir.get());
    if (!entry) return;
    if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9') visit(::dirfd(dir.get()), entry->d_name);
  }
}

// Calls `visit` once for each pid that list() returns, and lists again until no pid is new. A process or
// thread can start another one and exit between the listing and the visit. The bound is for code that never
// stops starting processes.
template <class List, class Visit>
void for_each_also_new(List list, Visit visit) {
  constexpr int kListingsMax = 16;
  std::set<pid_t> visited;
  for (int listing = 0; listing < kListingsMax; ++listing) {
    size_t before = visited.size();
    for (pid_t pid : list())
      if (visited.insert(pid).second) visit(pid);
    if (visited.size() == before) return;
  }
}

}  // namespace sk::sandbox
