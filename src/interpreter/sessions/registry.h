// Holds the state of every session and lets one caller at a time change it.
//
//   asleep ─▶ waking ─▶ running ─▶ ending ─▶ asleep          deleted (by a caller that holds the lease)
//
// Waking, running, putting to sleep, evicting, recovering and deleting a session happen under its lease, so
// that no two of them overlap. A live session owns its working copy; while a session is asleep, the
// holder of its lease does.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/id.h"
#include "base/later.h"
#include "base/mutex.h"
#include "base/worker_pool.h"

namespace sk::interpreter {

class LiveSession;

enum class Phase { asleep, waking, running, ending };

// Any thread. No call waits.
class Registry {
 public:
  // The exclusive right to change one session's state. The destructor releases it, on any thread.
  class Lease {
   public:
    Lease(Lease&& other) noexcept;
    Lease& operator=(Lease&& other) noexcept;
    ~Lease();

    const Id& id() const { return id_; }
    // Null while the session is asleep.
    std::shared_ptr<LiveSession> live() const;
    // From asleep to waking; the session's strand does the rest. Error(unavailable) after close().
    void wake(std::shared_ptr<LiveSession> live);
    // From waking or running to ending: find() no longer returns it.
    void begin_end();
    // From ending to asleep. The lease owns the session's copy from then on.
    void end();

   private:
    friend class Registry;
    Lease(Registry& registry, const Id& id) : registry_(&registry), id_(id) {}
    void release();
    Registry* registry_;
    Id id_;
  };

  // `pool`, which outlives the registry, runs the callers that waited for a lease. At most `waiting_max`
  // callers wait for one session.
  Registry(WorkerPool& pool, size_t waiting_max) : pool_(pool), waiting_max_(waiting_max) {}

  // Prevents sessions from waking.
  void close();

  // The lease: at once if it is free, else on the pool, in the order of the calls. A caller that gives up is
  // removed from the queue. Error(too_many_requests) when the queue is full, unless `place` skips the limit.
  enum class Place { limited, always };
  Later<Lease> acquire(const Id& session, Place place = Place::limited);
  std::optional<Lease> try_acquire(const Id& session);

  // The live session, for calls that do not change its state; null when it is asleep or ending.
  std::shared_ptr<LiveSession> find(const Id& session) const;
  // Like find(), and also returns a session that is ending.
  std::shared_ptr<LiveSession> find_any(const Id& session) const;
  Phase phase(const Id& session) const;
  // All sessions that are waking or running.
  std::vector<std::shared_ptr<LiveSession>> all() const;
  std::vector<std::shared_ptr<LiveSession>> ending() const;

 private:
  struct Waiter {
    uint64_t number = 0;
    Promise<Lease> lease;
  };
  struct Slot {
    bool leased = false;
    std::deque<Waiter> waiting;  // empty unless leased
    bool ending = false;
    std::shared_ptr<LiveSession> live;
    bool is_idle() const { return !leased && !live; }
  };

  // Removes a caller from the queue. False when it is not there any more: it has the lease, or is about to.
  bool forget(const Id& session, uint64_t number);

  WorkerPool& pool_;
  const size_t waiting_max_;
  mutable Mutex mutex_;
  std::unordered_map<Id, Slot> slots_ SK_GUARDED_BY(mutex_);  // a session without one is asleep
  uint64_t next_waiter_ SK_GUARDED_BY(mutex_) = 1;
  bool closed_ SK_GUARDED_BY(mutex_) = false;
};

}  // namespace sk::interpreter
