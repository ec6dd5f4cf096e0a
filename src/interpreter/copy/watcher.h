// Detects which paths of working copies were touched, with inotify. It works without root, and the kernel
// queues an event within the call that changes a file. Once a cell has reported its end, take() therefore
// returns all its changes.
//
// Each session has an inotify instance and a lock of its own while the host has instances (128 per user are
// common); after that, the sessions of a principal share one. What one tenant's code does therefore neither
// delays nor loses events of another. Where watching fails (no instance, too many folders, lost events),
// every capture compares the whole copy until all its folders are watched again.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <unordered_map>

#include "base/fd.h"
#include "base/id.h"
#include "base/mutex.h"
#include "interpreter/copy/watch_group.h"
#include "interpreter/copy/working_copy.h"

namespace sk::interpreter {

// Any thread. Its own thread reads events as they arrive, so that the kernel's queues do not overflow. It
// only marks names: it never walks and never waits for a session.
class Watcher {
 public:
  struct Options {
    // Limit for one copy. Further folders are not watched, so that one session cannot use all watches of the
    // host.
    size_t folders_per_copy_max;
    // Limit on instances for one session each. Unset: half of what the host allows, which leaves the other
    // half to principals with many sessions.
    std::optional<size_t> own_instances_max = {};
  };
  explicit Watcher(Options options);
  ~Watcher();

  // Watches all folders of a copy. `copy` outlives its watch. Sessions of one `principal` may share an
  // instance.
  void add(const Id& session, const Id& principal, const WorkingCopy& copy);
  void remove(const Id& session);
  // Reads all queued events, then returns what touched this copy. Watches folders that are new since the last
  // call, and tries again to watch those that could not be watched before.
  Touched take(const Id& session);
  // Returns changes that could not be processed.
  void put_back(const Id& session, const Touched& touched);
  bool anything(const Id& session);

 private:
  // One instance, and who uses it.
  struct Group {
    Group(uint64_t n, std::optional<Id> p, size_t folders_per_copy_max)
        : number(n), principal(p), watch(folders_per_copy_max) {}
    const uint64_t number;              // its name in epoll_
    const std::optional<Id> principal;  // whose sessions share it; unset: it is one session's own
    size_t sessions = 0;                // under the watcher's mutex
    std::atomic<bool> is_listened_to{false};
    WatchGroup watch;
  };

  void run();
  std::shared_ptr<Group> find(const Id& session);
  std::shared_ptr<Group> choose_group(const Id& principal) SK_REQUIRES(mutex_);
  std::shared_ptr<Group> make_group(std::optional<Id> principal) SK_REQUIRES(mutex_);
  void listen_to(Group& group);
  void arm(const Group& group, int operation);
  void end_call(Group& group);

  const size_t folders_per_copy_max_, own_instances_max_;
  Fd epoll_, stop_;
  Mutex mutex_;  // held for moments only, never while a group works
  std::unordered_map<Id, std::shared_ptr<Group>> sessions_ SK_GUARDED_BY(mutex_);
  std::unordered_map<uint64_t, std::weak_ptr<Group>> groups_ SK_GUARDED_BY(mutex_);  // by number
  std::unordered_map<Id, std::weak_ptr<Group>> shared_ SK_GUARDED_BY(mutex_);        // by principal
  size_t own_instances_ SK_GUARDED_BY(mutex_) = 0;
  uint64_t last_number_ SK_GUARDED_BY(mutex_) = 0;
  std::thread thread_;
};

}  // namespace sk::interpreter
