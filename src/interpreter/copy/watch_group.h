// One inotify instance and the copies that it watches, under one lock. Usually that is one copy; copies of
// one principal share an instance when the host allows no more of them (see watcher.h).
//
// An event only marks the name that it reports. Folders that are new or were moved are watched by the next
// take(), before its caller compares everything below them, so nothing in them is missed.
#pragma once

#include <atomic>
#include <map>
#include <set>
#include <string>
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

// Any thread.
class WatchGroup {
 public:
  explicit WatchGroup(size_t folders_per_copy_max) : folders_per_copy_max_(folders_per_copy_max) {}

  // Opens the instance, unless it is open; it is closed with the group. Returns false when the host allows no
  // more. Until it is open, all copies are compared as a whole.
  bool open();
  // -1 while it is not open.
  int descriptor() const { return descriptor_; }

  void add(const Id& session, const WorkingCopy& copy);
  void remove(const Id& session);
  // As Watcher's.
  Touched take(const Id& session);
  void put_back(const Id& session, const Touched& touched);
  bool anything(const Id& session);

  // For the thread that reads the events of all groups. Reads some events, unless another call has the lock:
  // this thread never waits for a walk.
  enum class Read { done, busy };
  Read read_some();
  // Whether read_some() returned `busy` since the last call: its caller must be told to read again.
  bool was_passed_over() { return passed_over_.exchange(false); }

 private:
  struct Copy {
    const WorkingCopy* copy = nullptr;
    Touched touched;
    std::set<std::string> unwatched;  // folders that are new or were moved; "" is the whole copy
    std::set<int> watches;
    std::set<int> modified;  // watches with modifications since the last take()
    std::set<int> muted;     // watches whose modifications are not reported for now
    bool overfull = false;   // too many names were touched: they are not listed until the next take()
    bool blind = false;      // some folder is not watched, or events were lost
    bool warned = false;
  };
  struct Folder {
    Id session;
    std::string path;       // as it was when the folder was watched; code may have moved it since
    int modifications = 0;  // reported since the last take()
  };

  enum class Some { one_buffer, all_queued };
  void drain(Some some) SK_REQUIRES(mutex_);
  void handle(int watch, uint32_t mask, std::string_view name) SK_REQUIRES(mutex_);
  static void mark(Copy& copy, std::string path, uint32_t mask);
  void watch_folder(const Id& session, Copy& copy, const std::string& path) SK_REQUIRES(mutex_);
  void watch_tree(const Id& session, Copy& copy, const std::string& path) SK_REQUIRES(mutex_);
  void count_modification(int watch, Copy& copy, Folder& folder) SK_REQUIRES(mutex_);
  static void go_blind(const Id& session, Copy& copy, const char* why);

  const size_t folders_per_copy_max_;
  std::atomic<int> descriptor_{-1};
  std::atomic<bool> passed_over_{false};
  Mutex mutex_;
  Fd inotify_ SK_GUARDED_BY(mutex_);
  std::unordered_map<Id, Copy> copies_ SK_GUARDED_BY(mutex_);
  std::unordered_map<int, Folder> folders_ SK_GUARDED_BY(mutex_);  // by watch descriptor
};

}  // namespace sk::interpreter
