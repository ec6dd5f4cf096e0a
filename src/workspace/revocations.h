// Ends what goes on under a right when the right ends: a key is revoked or expires, a member is removed or
// gets a lower role, a principal is suspended, a workspace is trashed.
//
// A request checks its rights when it begins, and a write transaction checks them again (check_still_holds).
// Work that lasts longer (a waiting or running execution, an open stream, the body of an upload) has a
// RightWatch. Code that changes rights announces it after the commit. One thread then asks the watches that
// are concerned whether their right still holds; nothing polls. Expiry is announced by nobody, so while a
// watched key has one, the thread looks every second.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/mutex.h"
#include "workspace/authority.h"

namespace sk::workspace {

class Revocations;

// A moment in the order of announcements. Rights that were checked after it was taken need no second look
// unless something was announced since. A value.
class RightsMoment {
 public:
  RightsMoment() = default;  // before all others

 private:
  friend class Revocations;
  explicit RightsMoment(uint64_t number) : number_(number) {}
  uint64_t number_ = 0;
};

// Watches one right. Its Revocations outlives it. Movable; one thread at a time, except check().
class RightWatch {
 public:
  RightWatch() = default;  // watches nothing
  RightWatch(RightWatch&&) noexcept = default;
  RightWatch& operator=(RightWatch&& other) noexcept;
  // Ends the watch. A callback that has begun is not waited for, so it captures a weak_ptr of its owner.
  ~RightWatch();

  // Throws what the next request with the same key would get, if the right does not hold now. Reads the
  // catalog only if any right changed since it was last read. Any thread.
  void check() const;

 private:
  friend class Revocations;
  struct State;
  explicit RightWatch(std::shared_ptr<State> state) : state_(std::move(state)) {}
  void end();
  std::shared_ptr<State> state_;  // shared with the thread that asks it
};

// Any thread. `db` and `clock` outlive it.
class Revocations {
 public:
  Revocations(catalog::Database& db, const Clock& clock) : db_(db), clock_(clock) {}
  ~Revocations() { stop(); }

  RightsMoment now() const { return RightsMoment(announced_.load()); }

  // `on_end` runs once, on the thread of this object, when the right has ended, with the error that the next
  // request would get. It must be short. It does not run before start(). `checked` is a moment before the
  // rights were last checked. Throws that error at once if the right does not hold any more.
  using OnEnd = std::function<void(const Error& error)>;
  [[nodiscard]] RightWatch watch(const Authority& authority, Right right, OnEnd on_end,
                                 RightsMoment checked = {});
  // The same for what concerns no workspace: the key and its principal only.
  [[nodiscard]] RightWatch watch_key(const Actor& actor, OnEnd on_end, RightsMoment checked = {});

  // Call after the commit of a change of rights, before it is answered. `subject` is the key, the principal
  // or the workspace concerned. Short, and does not use the database.
  void announce(const Id& subject);

  void start();
  // Ends the thread after the current callback. Idempotent.
  void stop();

 private:
  friend class RightWatch;
  using StatePtr = std::shared_ptr<RightWatch::State>;

  RightWatch add(const Actor& actor, std::optional<Authority> authority, Right right, OnEnd on_end,
                 RightsMoment checked);
  void ask(const RightWatch::State& state);
  void run();
  std::vector<StatePtr> take_concerned() SK_REQUIRES(mutex_);
  void end_if_lost(const StatePtr& state);
  OnEnd remove(const RightWatch::State& state);

  catalog::Database& db_;
  const Clock& clock_;
  std::atomic<uint64_t> announced_{1};
  Mutex mutex_;
  ConditionVariable wake_;
  std::unordered_map<const RightWatch::State*, StatePtr> watches_ SK_GUARDED_BY(mutex_);
  std::unordered_set<Id> changed_ SK_GUARDED_BY(mutex_);  // subjects to ask about
  bool any_changed_ SK_GUARDED_BY(mutex_) = false;
  size_t expiring_ SK_GUARDED_BY(mutex_) = 0;  // watches of keys that expire
  bool stopping_ SK_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace sk::workspace
