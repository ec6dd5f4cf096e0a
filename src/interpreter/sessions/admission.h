// Decides whether another session may wake, by the number of awake sessions and by the memory that they use.
// Puts idle sessions to sleep to make room.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory_budget.h"
#include "base/mutex.h"
#include "interpreter/options.h"
#include "interpreter/records.h"
#include "interpreter/sessions/registry.h"

namespace sk::interpreter {

// Reads some files.
uint64_t held_now(const LiveSession& session);

// Thread-safe. What it is given outlives it.
class Admission {
 public:
  struct Parts {
    Registry& registry;
    const InterpreterOptions& options;
    const Clock& clock;
    uint64_t memory_max;  // of all sessions together
    // Ends the live session of a lease, without waiting for it.
    std::function<void(Registry::Lease)> end;
    // Memory that the session uses now, without contents of files that the kernel can drop.
    std::function<uint64_t(const LiveSession&)> held_bytes = held_now;
    const MemoryBudget* names = nullptr;  // null: unlimited
  };
  explicit Admission(Parts parts) : parts_(std::move(parts)) {}

  // Admits a session that `guest` wakes, who may have `mine_max` awake. Throws Error(too_many_requests) when
  // there is no room and none can be made.
  //
  // Most sessions use far less memory than they may. So memory counts as it is used now, without contents of
  // files that the kernel can drop, and the new session needs room for a quarter of its own limit. If several
  // grow at once, control groups end the largest process among them.
  //
  // When the memory for the names of files is nearly used up, an idle session makes room for those of this
  // one.
  //
  // The session counts as awake while the result exists: hold it until the registry has the session.
  [[nodiscard]] std::shared_ptr<void> admit(const Id& guest, size_t mine_max, uint64_t memory_bytes);

 private:
  std::shared_ptr<void> admit_number(const Id& guest, size_t mine_max);
  void admit_memory(const Id& guest, uint64_t memory_bytes);
  // Puts a session to sleep. Returns it, or null when none can sleep.
  std::shared_ptr<LiveSession> make_room(const Id& guest, const std::optional<Id>& owner);
  // The error for a guest who waits until a session is idle: one of the owner, or any.
  Error refuse(const std::optional<Id>& owner, std::string what) const;

  const Parts parts_;
  Mutex mutex_;
  std::multiset<Id> arriving_ SK_GUARDED_BY(mutex_);  // guests whose session is not in the registry yet
};

// Throws Error(too_many_requests) if more than `queue_max` executions wait or run in the session, which
// counts the new one already.
void check_queue(const LiveSession& session, size_t queue_max, TimeUs now_us);

// Throws Error(quota_exceeded) if `max` other sessions of the owner hold content that could not be kept.
// Their working copies stay on the disk, which no quota counts, until they are settled: by their own
// executions, by a retry, or when they are deleted. So a session without such content does not wake.
void check_only_copies(Records& records, const SessionInfo& session, size_t max);

// Sentences for the next answer of sessions that were put to sleep for a reason their users should know.
// Thread-safe. Forgets the oldest of more than kMax, and all of them with the server.
class SleepNotes {
 public:
  static constexpr size_t kMax = 10'000;
  void add(const Id& session, std::string sentence);
  std::string take(const Id& session);  // empty: none

 private:
  Mutex mutex_;
  std::map<Id, std::string> notes_ SK_GUARDED_BY(mutex_);  // ids grow with time, so the first is the oldest
};

}  // namespace sk::interpreter
