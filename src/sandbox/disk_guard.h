// Keeps sessions from filling the disk. RLIMIT_FSIZE limits one file. The guard limits all files of a session
// together, and keeps a reserve that no session may use, so the server can always write.
//
// Without filesystem quotas, the size of a folder is only known by walking it, which costs a few microseconds
// per file. Querying the free space costs almost nothing, so the guard walks folders when the free space has
// shrunk. It also walks every few seconds, since space that others free hides what a session takes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "base/fd.h"
#include "base/mutex.h"

namespace sk::sandbox {

struct FolderUsage {
  uint64_t bytes = 0;    // allocated, not apparent: sparse files count as allocated
  uint64_t entries = 0;  // files, folders, links; a hard-linked file counts once
};

struct DiskLimits {
  uint64_t bytes_max = 0;
  uint64_t entries_max = 0;
};

// Measures the content of the open folder. Follows no links, crosses no filesystem boundary, and descends at
// most 512 levels. Concurrent changes may or may not be counted.
FolderUsage measure_folder(int folder_fd);

// Thread-safe. Its own thread checks every `interval_ms`.
class DiskGuard {
 public:
  struct Options {
    std::string data_root;       // on the filesystem whose free space is checked
    uint64_t reserve_bytes = 0;  // never available to sessions
    int interval_ms = 250;
  };
  explicit DiskGuard(Options options);
  ~DiskGuard();
  DiskGuard(const DiskGuard&) = delete;
  DiskGuard& operator=(const DiskGuard&) = delete;

  // Stops watching on destruction, and waits for a running callback.
  class Ticket {
   public:
    Ticket(DiskGuard& guard, uint64_t number) : guard_(guard), number_(number) {}
    ~Ticket() { guard_.forget(number_); }
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;

   private:
    DiskGuard& guard_;
    const uint64_t number_;
  };
  // Receives the reason why a session must end: "disk: 12 GiB of 10 GiB", or that the reserve was reached
  // while this session grew most.
  using Over = std::function<void(const std::string& why)>;
  // Watches a folder. `over` is called at most once, on the guard's thread; it should freeze the session and
  // have it killed. It must not destroy the ticket. A folder that already exceeds the limits may keep its
  // size or shrink, but not grow. `hidden` tells, on the same thread, how many bytes the session uses on that
  // filesystem besides its folder: those of files that were deleted and are still open.
  using Hidden = std::function<uint64_t(uint64_t device)>;
  std::unique_ptr<Ticket> watch(const std::string& folder, DiskLimits limits, Over over, Hidden hidden = {});

 private:
  struct Watched {
    std::shared_ptr<Fd> folder;  // shared: a walk may outlive the ticket
    DiskLimits limits;
    Over over;
    Hidden hidden;
    DiskLimits allowed;  // above the limits only for a folder that exceeded them from the start
    FolderUsage usage;
    FolderUsage before;  // when the reserve was last intact
    bool told = false;
  };
  struct Free {
    uint64_t bytes = UINT64_MAX, entries = UINT64_MAX;
  };

  void run();
  bool is_worth_walking(const Free& free);
  void walk(const Free& free);
  static void tighten(Watched& watched);
  void look_at_one(Watched& watched) SK_REQUIRES(mutex_);
  void look_at_reserve(const Free& free) SK_REQUIRES(mutex_);
  static uint64_t hidden_bytes(const Watched& watched);
  Free free_space() const;
  void forget(uint64_t number);

  const Options options_;
  Mutex mutex_;  // held during callbacks
  ConditionVariable wake_;
  bool stopping_ SK_GUARDED_BY(mutex_) = false;
  uint64_t numbers_ SK_GUARDED_BY(mutex_) = 0;
  std::map<uint64_t, Watched> watched_ SK_GUARDED_BY(mutex_);

  // Guard's thread only.
  Free walked_at_;            // free space at the last walk
  int64_t next_walk_us_ = 0;  // limits walking to a tenth of the time
  int64_t overdue_us_ = 0;    // walk even if the free space has not shrunk
  std::thread thread_;
};

}  // namespace sk::sandbox
