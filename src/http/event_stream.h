// The server's side of EventStream: what was sent and is not yet on the wire. Internal to this room.
#pragma once

#include <sys/types.h>

#include <mutex>

#include "http/message.h"

namespace sk::http {

struct EventStream::Impl {
  const std::function<void()> on_close;
  const AtStop at_stop;

  // What the connection can be given now.
  struct Taken {
    enum class Kind { bytes, nothing_yet, end, broken } kind;
    size_t size = 0;
  };
  // Loop thread. When there is nothing, calls `park` with the lock held, so that no send() can fall between;
  // `wake` then undoes it, once.
  Taken take(std::span<char> out, const std::function<bool()>& park, std::function<void()> wake);
  // A comment that keeps proxies and the client from giving up; only when nothing else is on its way.
  void heartbeat();
  // The connection is gone: nothing can be sent any more.
  void break_off();
  bool append(std::string_view text, size_t limit_bytes);
  void wake_locked();

  mutable std::mutex mutex;  // guards all below
  std::string unsent;
  size_t unsent_max = 4 << 20;
  bool closed = false;
  bool broken = false;
  std::function<void()> wake_waiting;  // set while the connection is parked
};

}  // namespace sk::http
