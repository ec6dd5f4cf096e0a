// Fetches the files of messages that are elsewhere, on threads of its own, and keeps each or says why not.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/worker_pool.h"
#include "bridge/remote.h"
#include "bridge/source.h"
#include "bridge/upstream.h"
#include "conversations/conversations.h"
#include "workspace/keep.h"

namespace sk::bridge {

// The fields without a value here are settings; their defaults are in the server's table.
struct CapturesOptions {
  RemoteOptions remote;
  size_t threads;
  std::chrono::seconds message_time_max;
  uint64_t file_bytes_max;
  size_t queue_max = 256;
};

// Any thread. `keep` and `conversations` outlive it.
class Captures {
 public:
  Captures(workspace::Keep& keep, conversations::Conversations& conversations, CapturesOptions options);
  ~Captures();

  // Ends what an earlier server left pending.
  void recover() { conversations_.give_up_pending(); }

  struct Job {
    workspace::Authority authority;
    std::vector<conversations::Message> messages;  // whose pending files are to be fetched
    Source source;
    std::function<void()> done;  // on the job's thread, when nothing is pending any more; must not throw
  };
  // Error(too_many_requests) when too many jobs wait; the files are then settled as cannot_tell, and done()
  // is not called.
  void start(Job job);

  // What runs is cut off and settled as cannot_tell. Idempotent.
  void stop();

 private:
  void run(const Job& job);
  void capture_message(const Job& job, const conversations::Message& message);
  conversations::Captured capture(const Job& job, const conversations::Message& message,
                                  const conversations::ShownFile& file, Upstream& upstream);
  void give_up(const Job& job, const std::string& why);

  workspace::Keep& keep_;
  conversations::Conversations& conversations_;
  const CapturesOptions options_;
  StopSignal stop_;
  WorkerPool pool_;  // last: its threads use all of the above
};

}  // namespace sk::bridge
