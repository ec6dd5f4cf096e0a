// Writes records of executions to the catalog on a thread of its own, so that no answer waits for them. Reads
// through it include the records that are not written yet, so that no reader waits either.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "base/worker_pool.h"
#include "interpreter/records.h"

namespace sk::interpreter {

// Any thread. `records` and `pool` outlive it. Failed writes are logged.
class RecordSaver {
 public:
  RecordSaver(Records& records, WorkerPool& pool) : records_(records), pool_(pool), thread_(1, 100'000) {}

  // Saves an execution without a sync: a record that must survive a power cut is durable before this. A newer
  // state of an execution replaces the one that waits.
  void save(const SessionInfo& session, const Execution& execution);
  void mark_told(const SessionInfo& session);
  void tell(const SessionInfo& session, std::string kind, TimeUs expires_us);
  // Calls `then` when everything about the session is written: at once if it already is, else on the pool.
  void after(const Id& session, std::function<void()> then);

  // Like the reads of Records, with the unwritten records.
  std::optional<Execution> find_execution(const Id& session, const Id& execution);
  workspace::Page<Execution> list_executions(const Id& session, int64_t before,
                                             const Records::PageLimit& limit);
  std::vector<Execution> executions_after(const Id& session, int64_t after, size_t limit);

  // Writes the rest. Idempotent.
  void stop() { thread_.stop(); }
  PoolLoad load() const { return thread_.load(); }

 private:
  using Unwritten = std::unordered_map<Id, std::shared_ptr<const Execution>>;
  struct Pending {
    size_t writes = 0;
    Unwritten executions;
    std::vector<std::function<void()>> waiting;
  };

  void write(const Id& session, std::function<void()> job);
  void submit(const Id& session, std::function<void()> job);
  void write_latest(const SessionInfo& session, const Id& execution);
  void written(const Id& session);
  // Call before the read of the catalog: a record that is not here any more is in the catalog by then.
  Unwritten unwritten(const Id& session) const;

  Records& records_;
  WorkerPool& pool_;
  mutable Mutex mutex_;
  std::unordered_map<Id, Pending> pending_ SK_GUARDED_BY(mutex_);  // by session
  WorkerPool thread_;                                              // last: its jobs use the members above
};

}  // namespace sk::interpreter
