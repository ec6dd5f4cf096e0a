// Sees which paths of working copies were touched, through one inotify instance for all of them: it works
// without root, and events are queued by the kernel within the very call that changes a file. So once a cell
// has said that it is done, drain() finds everything that it did.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>

#include "base/fd.h"
#include "base/id.h"
#include "interpreter/working_copy.h"

namespace sk::interpreter {

// What happened in one working copy since it was last taken.
struct Touched {
  std::set<std::string> paths;    // written, created, renamed, deleted, changed in mode
  std::set<std::string> folders;  // new, moved, or not watched in time: everything below may have changed
  bool opened = false;            // some file was opened; it may be open for writing still
  bool everything = false;        // events were lost, or folders could not be watched: compare all

  bool empty() const { return paths.empty() && folders.empty() && !opened && !everything; }
};

// Any thread. A thread of its own reads events as they come, so that the kernel's queue does not run over.
class Watcher {
 public:
  Watcher();
  ~Watcher();

  // Watches all folders of a copy. `copy` outlives its watch.
  void add(const Id& session, const WorkingCopy& copy);
  void remove(const Id& session);
  // Reads all events that are queued by now, then hands over what touched this copy.
  Touched take(const Id& session);
  // Puts back what could not be dealt with.
  void put_back(const Id& session, const Touched& touched);
  bool anything(const Id& session);

 private:
  struct Copy {
    const WorkingCopy* copy;
    Touched touched;
    std::set<int> watches;
  };
  struct Folder {
    Id session;
    std::string path;
  };

  void run();
  void drain_locked();
  void handle_locked(int watch, uint32_t mask, std::string_view name);
  // False when the host allows no more watches.
  bool watch_folder_locked(const Id& session, Copy& copy, const std::string& path);
  void watch_tree_locked(const Id& session, Copy& copy, const std::string& path);

  Fd inotify_, stop_;
  std::mutex mutex_;
  std::unordered_map<Id, Copy> copies_;      // guarded by mutex_
  std::unordered_map<int, Folder> folders_;  // guarded by mutex_; by watch descriptor
  std::thread thread_;
};

}  // namespace sk::interpreter
