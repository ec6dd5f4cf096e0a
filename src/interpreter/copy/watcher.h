// Detects which paths of working copies were touched, with one inotify instance for all of them. inotify
// works without root, and the kernel queues an event within the call that changes a file. Once a cell has
// reported its end, take() therefore returns all its changes.
//
// Where watching fails (too many folders, lost events), every capture compares the whole copy until all its
// folders are watched again.
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

// Changes in one working copy since the last take().
struct Touched {
  std::set<std::string> paths;    // written, created, renamed, deleted, mode changed
  std::set<std::string> folders;  // new, moved, or watched too late: everything below may have changed
  std::set<std::string> members;  // folders in which any direct member may have changed
  bool opened = false;            // some file was opened and may still be open for writing
  bool everything = false;        // events were lost, or folders could not be watched: compare everything

  void add(const Touched& other);
  bool empty() const { return paths.empty() && folders.empty() && members.empty() && !opened && !everything; }
};

// Any thread. Its own thread reads events as they arrive, so that the kernel's queue does not overflow.
class Watcher {
 public:
  struct Options {
    // Limit for one copy. Further folders are not watched, so that one session cannot use all watches of the
    // host.
    size_t folders_per_copy_max;
  };
  explicit Watcher(Options options);
  ~Watcher();

  // Watches all folders of a copy. `copy` outlives its watch.
  void add(const Id& session, const WorkingCopy& copy);
  void remove(const Id& session);
  // Reads all queued events, then returns what touched this copy. Tries again to watch folders that could not
  // be watched before.
  Touched take(const Id& session);
  // Returns changes that could not be processed.
  void put_back(const Id& session, const Touched& touched);
  bool anything(const Id& session);

 private:
  struct Copy {
    const WorkingCopy* copy = nullptr;
    Touched touched;
    std::set<int> watches;
    std::set<int> modified;  // watches with modifications since the last take()
    std::set<int> muted;     // watches whose modifications are not reported for now
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
