// Server-side state of EventStream: the buffer of events that are not yet sent. Internal to this room.
#pragma once

#include <sys/types.h>

#include <optional>

#include "base/memory_budget.h"
#include "base/mutex.h"
#include "http/message.h"

namespace sk::http {

struct EventStream::Impl {
  const std::function<void()> on_close;
  const AtStop at_stop;

  // Data available to the connection now.
  struct Taken {
    enum class Kind { bytes, nothing_yet, end, broken } kind;
    size_t size = 0;
  };
  // Loop thread. If there is no data, calls `park` with the lock held, so no send() can be missed. `wake`
  // then resumes the connection, once.
  Taken take(std::span<char> out, const std::function<bool()>& park, std::function<void()> wake);
  // Queues a comment that keeps proxies and the client from timing out. Does nothing when other data is
  // pending.
  void heartbeat();
  // Counts what is not sent yet, beyond a few kilobytes, for the client that receives the stream.
  void begin(MemoryBudget& budget, std::string client, size_t bytes_max);
  // Marks the connection as lost; nothing can be sent any more. Gives back the memory.
  void break_off();
  bool append(std::string_view text) SK_REQUIRES(mutex);
  bool has_room(size_t bytes) SK_REQUIRES(mutex);
  void give_up_locked() SK_REQUIRES(mutex);
  void wake_locked() SK_REQUIRES(mutex);

  mutable Mutex mutex;
  std::string unsent SK_GUARDED_BY(mutex);
  size_t unsent_max SK_GUARDED_BY(mutex) = 4 << 20;
  std::optional<MemoryBudget::Share> share
      SK_GUARDED_BY(mutex);                // of what is unsent, while it has a connection
  std::string owner SK_GUARDED_BY(mutex);  // of the share
  bool closed SK_GUARDED_BY(mutex) = false;
  bool broken SK_GUARDED_BY(mutex) = false;
  std::function<void()> wake_waiting SK_GUARDED_BY(mutex);  // set while the connection is parked
};

}  // namespace sk::http
