// Keeps sessions from filling the disk. RLIMIT_FSIZE bounds one file; this bounds all files of a session
// together, and keeps a reserve free that no session may touch, so that the server can always write.
//
// Without quotas of the filesystem, the only way to know what a folder holds is to walk it, which costs a few
// microseconds per file. So the guard asks the filesystem how much is free, which costs nothing, and walks
// only when that has shrunk.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/fd.h"

namespace sk::sandbox {

struct FolderUsage {
  uint64_t bytes = 0;    // allocated, not apparent: a sparse file counts for what it takes
  uint64_t entries = 0;  // files, folders, links; a file with several names counts once
};

struct DiskLimits {
  uint64_t bytes_max = 0;
  uint64_t entries_max = 0;
};

// What lies below the open folder. Follows no links, crosses into no other filesystem, and goes no deeper
// than 512 levels. What changes meanwhile may be counted or not.
FolderUsage measure_folder(int folder_fd);

// Any thread. One thread of its own looks every `interval_ms`.
class DiskGuard {
 public:
  struct Options {
    std::string data_root;       // on the filesystem whose free space counts
    uint64_t reserve_bytes = 0;  // never lent
    int interval_ms = 250;
  };
  explicit DiskGuard(Options options);
  ~DiskGuard();
  DiskGuard(const DiskGuard&) = delete;
  DiskGuard& operator=(const DiskGuard&) = delete;

  // Stops watching when it is destroyed, and waits for a callback under way.
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
  // Why a session must end: "disk: 12 GiB of 10 GiB", or that the reserve was reached while this session grew
  // most.
  using Over = std::function<void(const std::string& why)>;
  // `over` is called at most once, on the guard's thread; it should freeze the session and have it killed. It
  // may not destroy the ticket. A folder that has more than the limits already may keep it, to be made
  // smaller, but not grow.
  std::unique_ptr<Ticket> watch(const std::string& folder, DiskLimits limits, Over over);

 private:
  struct Watched {
    std::shared_ptr<Fd> folder;  // shared: a walk may outlast the ticket
    DiskLimits limits;
    Over over;
    DiskLimits allowed;  // above the limits while the folder has been so since the beginning
    FolderUsage usage;
    FolderUsage before;  // when the reserve was last fine
    bool told = false;
  };
  struct Free {
    uint64_t bytes = UINT64_MAX, entries = UINT64_MAX;
  };

  void run();
  bool is_worth_walking(const Free& free);
  void walk(const Free& free);
  static void tighten(Watched& watched);
  void look_at_one(Watched& watched);
  void look_at_reserve(const Free& free);
  Free free_space() const;
  void forget(uint64_t number);

  const Options options_;
  std::mutex mutex_;  // guards what follows, and is held during callbacks
  std::condition_variable wake_;
  bool stopping_ = false;
  uint64_t numbers_ = 0;
  std::map<uint64_t, Watched> watched_;

  // The guard's thread only.
  Free walked_at_;            // free space when folders were last walked
  int64_t next_walk_us_ = 0;  // not sooner: walking may take a tenth of the time, no more
  std::thread thread_;
};

}  // namespace sk::sandbox
