// Passes a streamed request body from the loop thread to its sink on worker threads. Bytes are collected into
// large pieces: the sink processes one while the next is filled. When that one is full too, the connection is
// parked. Internal to this room.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "http/message.h"

namespace sk::http {

class Exchange;

// Member of its Exchange. Jobs hold a reference to the Exchange.
class Upload {
 public:
  static constexpr size_t kPieceBytesMin = 64 << 10;
  static constexpr size_t kReadAheadBytesMax = 512 << 10;

  Upload(Exchange& exchange, std::unique_ptr<BodySink> sink) : exchange_(exchange), sink_(std::move(sink)) {}

  // Loop thread. `later`: the connection is parked and no bytes were taken; offer them again. `failed`: the
  // sink threw, and the exchange has the reply. `cut`: the server is closing.
  enum class Taken { all, later, failed, cut };
  Taken take(std::string_view bytes);
  // Loop thread: the body is complete. Parks the connection until the sink has created its reply (`all`), or
  // reports that it already failed (`failed`).
  Taken finish();
  // Loop thread: the client has disconnected, or sends too slowly. The sink is destroyed on a worker thread,
  // and sets no reply any more. Returns false if it is destroyed already: it failed, or created its reply.
  bool abort();

 private:
  void start_locked() SK_REQUIRES(mutex_);
  void pump();
  bool choose_locked(bool& last) SK_REQUIRES(mutex_);
  void fail(const std::exception_ptr& failure);
  void end();

  Exchange& exchange_;
  std::unique_ptr<BodySink> sink_;  // used only by the running job
  std::string running_;             // the piece that the sink is processing

  Mutex mutex_;
  std::string filling_ SK_GUARDED_BY(mutex_);
  uint64_t taken_bytes_ SK_GUARDED_BY(mutex_) = 0;
  bool busy_ SK_GUARDED_BY(mutex_) = false;    // a job is queued or running
  bool parked_ SK_GUARDED_BY(mutex_) = false;  // the loop waits for the job
  bool complete_ SK_GUARDED_BY(mutex_) = false;
  bool failed_ SK_GUARDED_BY(mutex_) = false;
  bool aborted_ SK_GUARDED_BY(mutex_) = false;
};

}  // namespace sk::http
