// Sees which paths of working copies were touched, through one inotify instance for all of them: it works
// without root, and the kernel queues events within the very call that changes a file. So once a cell has
// said that it is done, take() finds everything that it did.
//
// Where watching fails (too many folders, lost events), the copy is compared as a whole at every capture
// until all of its folders are watched again.
#pragma once

#include <map>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>

#include "base/fd.h"
#include "base/id.h"
#include "base/mutex.h"
#include "interpreter/copy/working_copy.h"

namespace sk::interpreter {

// What happened in one working copy since it was last taken.
struct Touched {
  std::set<std::string> paths;    // written, created, renamed, deleted, changed in mode
  std::set<std::string> folders;  // new, moved, or not watched in time: everything below may have changed
  std::set<std::string> members;  // folders in which any member may have changed, but not deeper
  bool opened = false;            // some file was opened; it may be open for writing still
  bool everything = false;        // events were lost, or folders could not be watched: compare all

  void add(const Touched& other);
  bool empty() const { return paths.empty() && folders.empty() && members.empty() && !opened && !everything; }
};

// Any thread. A thread of its own reads events as they come, so that the kernel's queue does not run over.
class Watcher {
 public:
  struct Options {
    // Of one copy. More are not watched, so that one session cannot use up the watches of the host.
    size_t folders_per_copy_max;
  };
  explicit Watcher(Options options);
  ~Watcher();

  // Watches all folders of a copy. `copy` outlives its watch.
  void add(const Id& session, const WorkingCopy& copy);
  void remove(const Id& session);
  // Reads all events that are queued by now, then hands over what touched this copy. Watches anew what could
  // not be watched before.
  Touched take(const Id& session);
  // Puts back what could not be dealt with.
  void put_back(const Id& session, const Touched& touched);
  bool anything(const Id& session);

 private:
  struct Copy {
    const WorkingCopy* copy = nullptr;
    Touched touched;
    std::set<int> watches;
    std::set<int> modified;  // of them, those with modifications since the last take()
    std::set<int> muted;     // of them, those whose modifications are not reported for now
    bool blind = false;      // some folder is not watched, or events were lost
    bool warned = false;
  };
  struct Folder {
    Id session;
    std::string path;
    int modifications = 0;  // reported since the last take()
  };

  void run();
  void drain_locked() SK_REQUIRES(mutex_);
  void handle_locked(int watch, uint32_t mask, std::string_view name) SK_REQUIRES(mutex_);
  void watch_folder_locked(const Id& session, Copy& copy, const std::string& path) SK_REQUIRES(mutex_);
  void watch_tree_locked(const Id& session, Copy& copy, const std::string& path) SK_REQUIRES(mutex_);
  void count_modification_locked(int watch, Copy& copy, Folder& folder) SK_REQUIRES(mutex_);
  void go_blind_locked(const Id& session, Copy& copy, const char* why) SK_REQUIRES(mutex_);

  const size_t folders_per_copy_max_;
  Fd inotify_, stop_;
  Mutex mutex_;
  std::unordered_map<Id, Copy> copies_ SK_GUARDED_BY(mutex_);
  std::unordered_map<int, Folder> folders_ SK_GUARDED_BY(mutex_);  // by watch descriptor
  std::thread thread_;
};

}  // namespace sk::interpreter
