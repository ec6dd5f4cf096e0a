// Holds the state of every session and lets one caller at a time change it.
//
//   asleep ─▶ waking ─▶ running ─▶ ending ─▶ asleep          deleted (by a caller that holds the lease)
//
// Waking, running, putting to sleep, evicting, recovering and deleting a session happen under its lease, so
// that no two of them overlap. A live session owns its working copy; while a session is asleep, the
// holder of its lease does.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/id.h"
#include "base/mutex.h"

namespace sk::interpreter {

class LiveSession;

enum class Phase { asleep, waking, running, ending };

// Any thread.
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

  // Prevents sessions from waking.
  void close();

  // Waits while another caller has the lease.
  Lease acquire(const Id& session);
  std::optional<Lease> try_acquire(const Id& session);

  // The live session, for calls that do not change its state; null when it is asleep or ending.
  std::shared_ptr<LiveSession> find(const Id& session) const;
  // Like find(), and also returns a session that is ending.
  std::shared_ptr<LiveSession> find_any(const Id& session) const;
  Phase phase(const Id& session) const;
  // All sessions that are waking or running.
  std::vector<std::shared_ptr<LiveSession>> all() const;

 private:
  struct Slot {
    bool leased = false;
    size_t waiting = 0;
    bool ending = false;
    std::shared_ptr<LiveSession> live;
    bool is_idle() const { return !leased && waiting == 0 && !live; }
  };

  mutable Mutex mutex_;
  ConditionVariable released_;
  std::unordered_map<Id, Slot> slots_ SK_GUARDED_BY(mutex_);  // a session without one is asleep
  bool closed_ SK_GUARDED_BY(mutex_) = false;
};

}  // namespace sk::interpreter
