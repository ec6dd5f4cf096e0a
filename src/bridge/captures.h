// Fetches the remote files of messages on its own threads. Each file is stored or gets a reason why not.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/fair_queue.h"
#include "bridge/remote_server.h"
#include "bridge/source.h"
#include "bridge/upstream.h"
#include "conversations/conversations.h"
#include "workspace/keep.h"

namespace sk::bridge {

// Fields without a default are settings; the server's settings table has their defaults.
struct CapturesOptions {
  RemoteOptions remote;
  size_t threads;
  size_t threads_per_principal_max;
  std::chrono::seconds message_time_max;
  uint64_t file_bytes_max;
  size_t queue_max = 256;
  size_t queue_per_principal_max = 64;
};

// Principals take turns, message by message, and one principal uses only a part of the threads. Any thread.
// `keep` and `conversations` outlive it.
class Captures {
 public:
  Captures(workspace::Keep& keep, conversations::Conversations& conversations, CapturesOptions options);
  ~Captures();

  // Settles files that an earlier server left pending.
  void recover() { conversations_.give_up_pending(); }

  struct Job {
    workspace::Authority authority;
    std::vector<conversations::Message> messages;  // their pending files are fetched
    RemoteSource source;
    std::function<void()> done;  // called on the job's thread at the end of the job; must not throw
  };
  // Queues a job. If the queue, or the principal's part of it, is full, settles its files as cannot_tell,
  // does not call done() and throws Error(too_many_requests).
  void start(Job job);

  // Cancels running jobs, whose files are settled as cannot_tell, and joins the threads. Idempotent.
  void stop();
  PoolLoad load() const { return pool_.load().all; }

 private:
  // Handles the message with that number, and queues the next one.
  void run(const std::shared_ptr<const Job>& job, size_t number);
  void capture_message(const Job& job, const conversations::Message& message);
  conversations::Captured capture(const Job& job, const conversations::Message& message,
                                  const conversations::ShownFile& file, Upstream& upstream);
  void give_up(const Job& job, const std::string& why);

  workspace::Keep& keep_;
  conversations::Conversations& conversations_;
  const CapturesOptions options_;
  StopSignal stop_;
  FairPool pool_;  // by principal; last, because its threads use all other members
};

}  // namespace sk::bridge
