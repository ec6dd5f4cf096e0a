// Treats working copies of sleeping sessions as a cache: the workspace has all their contents, and a session
// that wakes without a copy gets a new one. Chooses the copies to evict.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "interpreter/records.h"

namespace sk::interpreter {

// Any thread.
class CopyCache {
 public:
  struct Rules {
    std::string directory;       // directory of the copies
    int64_t keep_s = 0;          // evict copies unused for longer than this
    uint64_t reserve_bytes = 0;  // evict copies earlier while free disk space is close to this
  };
  CopyCache(Rules rules, Records& records) : rules_(std::move(rules)), records_(records) {}

  // Returns the next copy to evict: the least recently used one, when it is older than keep_s or the disk is
  // short.
  std::optional<SessionInfo> next(TimeUs now_us, const std::function<bool(const Id&)>& in_use);
  // Spares a copy that holds content that could not be kept. It is not considered again until it has been
  // used.
  void spare(const SessionInfo& session);
  // Lists copies of sessions that were deleted by a server that died before it removed them. For the start:
  // later a copy may be one that is being removed.
  std::vector<SessionInfo> of_deleted_sessions() const;
  // Writes all copies to disk, so that none is untrusted after a power cut. For a clean stop. Logs a failure.
  void sync();

 private:
  bool is_disk_short() const;

  const Rules rules_;
  Records& records_;
  Mutex mutex_;
  std::unordered_map<Id, TimeUs> spared_ SK_GUARDED_BY(mutex_);  // time of its last use
};

}  // namespace sk::interpreter
