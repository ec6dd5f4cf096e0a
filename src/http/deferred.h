// The server's side of Deferred: a promise that is kept, dropped or overdue exactly once. Internal to this
// room.
#pragma once

#include <atomic>
#include <mutex>

#include "http/message.h"

namespace sk::http {

struct Deferred::Impl {
  const std::chrono::milliseconds deadline;
  const std::function<Reply()> at_deadline;
  const std::function<void()> on_cancel;
  const std::function<void()> on_lost;
  const AtStop at_stop;

  // True for the one request that it is the reply to. Another one would wait for what has come already.
  bool take() { return !taken.exchange(true); }

  enum class Attached { waiting, completed, claimed };
  // From now on a completion goes to `deliver`. `completed`: it came before, take `early`; `claimed`:
  // somebody cancelled it meanwhile.
  Attached attach(std::function<bool(Reply)> deliver_to);
  // True for the one who may end it in another way: at its deadline or by cancelling.
  bool claim();

  std::atomic<bool> taken{false};
  std::mutex mutex;  // guards all below
  bool done = false;
  std::optional<Reply> early;
  std::function<bool(Reply)> deliver;
};

}  // namespace sk::http
