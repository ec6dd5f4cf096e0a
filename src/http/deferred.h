// Server-side state of Deferred: a promise that is completed, cancelled or timed out exactly once. Internal
// to this room. Thread-safe.
#pragma once

#include <atomic>

#include "base/mutex.h"
#include "http/message.h"

namespace sk::http {

struct Deferred::Impl {
  const std::chrono::milliseconds deadline;
  const std::function<Reply()> at_deadline;
  const std::function<void()> on_cancel;
  const std::function<void()> on_lost;
  const AtStop at_stop;

  // Returns true for the first request only. A second request would wait for a reply that was already
  // delivered.
  bool take() { return !taken.exchange(true); }

  enum class Attached { waiting, completed, claimed };
  // Routes a later completion to `deliver`. Returns `completed` when the reply is already in `early`, and
  // `claimed` when it was cancelled in the meantime.
  Attached attach(std::function<bool(Reply)> deliver_to);
  Reply take_early();  // after `completed`
  // Claims the right to end the promise at its deadline or by cancelling. Returns true for one caller only.
  bool claim();

  std::atomic<bool> taken{false};
  Mutex mutex;
  bool done SK_GUARDED_BY(mutex) = false;
  std::optional<Reply> early SK_GUARDED_BY(mutex);
  std::function<bool(Reply)> deliver SK_GUARDED_BY(mutex);
};

}  // namespace sk::http
