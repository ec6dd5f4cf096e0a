// The access log: reads and denied attempts, which the journal does not record. Records are batched and
// coalesced in memory and written to segment files every few seconds; no request waits for that. Records that
// could not be written stay in memory, up to a limit, and are written later. When a segment is closed, its
// SHA-256 is recorded in the server's journal. Segments are deleted after the retention time, or earlier when
// all of them together are too large.
#pragma once

#include <map>
#include <string>
#include <thread>

#include "base/mutex.h"
#include "workspace/keep_context.h"
#include "workspace/types.h"

namespace sk::workspace {

struct AccessRecord {
  Id workspace;         // zero if none
  Id principal;         // zero if unknown
  std::string action;   // read, list, link, denied
  std::string target;   // path or version id
  std::string outcome;  // ok, or the error's code
  std::string address;

  auto key() const { return std::tie(workspace, principal, action, target, outcome, address); }
  bool operator<(const AccessRecord& other) const { return key() < other.key(); }
};

struct AccessLogLimits {
  int retention_days;  // 0: forever
  uint64_t bytes_max;
};

// Any thread. The constructor starts a thread; stop() writes pending records and joins it.
class AccessLog {
 public:
  AccessLog(KeepContext& context, std::string directory, AccessLogLimits limits);
  ~AccessLog();
  // Queues a record. Equal records within a batch are written once, with a count. Drops the record when too
  // many wait for a disk that cannot be written. Of clients without a principal, only some records of a batch
  // have their target and address; the others are counted together, so that strangers cannot push the records
  // of others out of the log.
  void note(AccessRecord record);
  // Writes pending records immediately; for tests and stop. Throws Error when they cannot be written.
  void flush();
  void stop();

 private:
  struct Seen {
    int64_t count = 0;
    TimeUs first_us = 0, last_us = 0;
  };
  using Batch = std::map<AccessRecord, Seen>;
  void run();
  void write_pending();
  void append(const Batch& batch) SK_REQUIRES(file_mutex_);
  void put_back(Batch batch);
  void close_segment() SK_REQUIRES(file_mutex_);
  void delete_old_segments() SK_REQUIRES(file_mutex_);

  KeepContext& context_;
  const std::string directory_;
  const AccessLogLimits limits_;
  Mutex mutex_;
  ConditionVariable wake_;
  Batch pending_ SK_GUARDED_BY(mutex_);
  size_t strangers_ SK_GUARDED_BY(mutex_) = 0;  // records of pending_ without a principal
  int64_t dropped_ SK_GUARDED_BY(mutex_) = 0;   // records since the last log line about them
  bool stopping_ SK_GUARDED_BY(mutex_) = false;
  Mutex file_mutex_;
  std::string segment_path_ SK_GUARDED_BY(file_mutex_);
  TimeUs segment_started_us_ SK_GUARDED_BY(file_mutex_) = 0;
  int64_t segment_records_ SK_GUARDED_BY(file_mutex_) = 0;
  uint64_t segment_bytes_ SK_GUARDED_BY(file_mutex_) = 0;
  std::thread thread_;
};

}  // namespace sk::workspace
