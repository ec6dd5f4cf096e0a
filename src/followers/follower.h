// A follower of all journals: something that happens after commits and outlives a client's connection, such
// as thumbnails or the invalidation of caches. It gets each journal's events in order and in batches, at
// least once, on a thread of its own. It can be slow, fail and be behind without effect on commits and on
// others.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "followers/cursors.h"
#include "workspace/journal.h"
#include "workspace/keep.h"

namespace sk::followers {

struct FollowerOptions {
  // Names the follower in the catalog, in metrics and in the log. It never changes: under another name, a
  // follower begins anew.
  std::string name;
  // durable: continues after a restart or a kill where it was. in_memory: begins anew with each process.
  enum class Keeps { durable, in_memory } keeps = Keeps::durable;
  Begin begin = Begin::now;
  workspace::EventFilter filter;
  size_t batch_max = 100;
  // Time between a commit and the read of its event, in which further commits join the batch. Without it,
  // every commit wakes the thread.
  std::chrono::milliseconds delay{250};
  // A batch that failed is tried again after `retry_min`, and after twice the time with each failure, up to
  // `retry_max`. The other journals continue.
  std::chrono::milliseconds retry_min{1'000};
  std::chrono::milliseconds retry_max{300'000};
  // An event that failed so often is logged and skipped; 0: never.
  int attempts_max = 0;
  // Cursors are saved at most this often, and when the follower stops.
  std::chrono::milliseconds save_interval{1'000};
  // Journals that it remembers as changed or as failing. Above that, it compares all journals with its
  // cursors.
  size_t journals_max = 10'000;
};

// start() and stop() belong to one thread. `keep` and `metrics` outlive it.
class Follower {
 public:
  // `events` are of one journal, in order, and never empty. An exception means that the batch was not
  // handled: it comes again, event by event until one succeeds. A handler that may take long ends with an
  // exception when `stop` is requested.
  using OnEvents =
      std::function<void(const std::vector<workspace::JournalEntry>& events, const std::stop_token& stop)>;
  Follower(workspace::Keep& keep, Metrics& metrics, FollowerOptions options, OnEvents on_events);
  ~Follower();
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  // Makes the cursors, which a commit must not have to wait for, and starts the thread.
  void start();
  // Ends the thread after the current batch and saves the cursors. Idempotent.
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sk::followers
