// Working copies of sleeping sessions are a cache: all that they hold is in the workspace, and a session that
// wakes without one gets a new one. This says which of them go.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/mutex.h"
#include "interpreter/records.h"

namespace sk::interpreter {

// Any thread.
class CopyCache {
 public:
  struct Rules {
    std::string directory;       // the copies lie in it
    int64_t keep_s = 0;          // a copy that was unused for longer goes
    uint64_t reserve_bytes = 0;  // copies go sooner while the disk is close to it
  };
  CopyCache(Rules rules, Records& records) : rules_(std::move(rules)), records_(records) {}

  // The one to go next: that was unused longest, when its time is over or the disk is short.
  std::optional<SessionInfo> next(TimeUs now_us, const std::function<bool(const Id&)>& in_use);
  // It holds what could not be kept: it stays, and is not looked at again before it was used again.
  void spare(const SessionInfo& session);

 private:
  bool is_disk_short() const;

  const Rules rules_;
  Records& records_;
  Mutex mutex_;
  std::unordered_map<Id, TimeUs> spared_ SK_GUARDED_BY(mutex_);  // when it was last used
};

}  // namespace sk::interpreter
