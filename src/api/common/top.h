// A snapshot of the server's load, for operators: `GET /api/v1/top`, `/metrics` and `sandkeep top` show it.
//
// Top gathers the figures of all rooms into one snapshot, at most once a second, whoever asks. It takes each
// room's locks for a copy of some numbers, and waits for no session. Figures that need a pass over a table
// (sleeping sessions, kept bytes) are read less often. A snapshot names tenants by id: names need an
// administrator.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/id.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/recent_counts.h"
#include "base/worker_pool.h"
#include "http/server.h"
#include "interpreter/load.h"

namespace sk::api {

class App;

// The load of one tenant, or the sum of several.
struct TenantFigures {
  Id principal;  // zero for several
  size_t sessions_awake = 0;
  size_t sessions_asleep = 0;
  size_t executions_running = 0;
  size_t executions_waiting = 0;
  size_t jobs_running = 0;  // on the threads of the sessions
  size_t jobs_waiting = 0;
  uint64_t memory_bytes = 0;  // of its sandboxes, like the next two
  std::optional<double> cpu_percent;
  uint64_t processes = 0;
  uint64_t calls_refused = 0;  // by the filter, in sessions that are awake
  uint64_t kept_bytes = 0;     // of its workspaces
  double requests_per_s = 0;
};

struct SessionFigures {
  interpreter::SessionLoad load;
  std::optional<double> cpu_percent;  // of one core
  double requests_per_s = 0;          // of its owner, to sort by
};

// Rates are over the time since the snapshot before. They are unset when there is none of the last minute.
struct TopSnapshot {
  TimeUs time_us = 0;
  int64_t uptime_s = 0;
  struct Process {
    uint64_t memory_bytes = 0;
    uint64_t threads = 0;
    uint64_t cpu_us = 0;
    std::optional<double> cpu_percent;
  } process;
  http::HttpLoad http;
  double requests_per_s = 0;  // over the last five to ten seconds
  std::optional<double> p50_s, p99_s;
  struct Disk {
    uint64_t free_bytes = 0;
    uint64_t total_bytes = 0;
    uint64_t reserve_bytes = 0;
    uint64_t catalog_bytes = 0;
    uint64_t kept_bytes = 0;
  } disk;
  uint64_t output_bytes = 0, output_bytes_max = 0;
  size_t sessions_max = 0;
  std::vector<std::pair<std::string, PoolLoad>> queues;
  size_t catalog_writes = 0;  // running and waiting
  TenantFigures all;
  std::vector<TenantFigures> tenants;  // those that do something, and the largest of the others; in no order
  size_t other_tenants = 0;            // the number of those that are in `others`
  TenantFigures others;
  std::vector<SessionFigures> sessions;  // awake, in no order
};

enum class TopSort { cpu, memory, requests };

// The largest rows of a snapshot. The rest is summed.
struct TopRows {
  std::vector<TenantFigures> tenants;
  size_t other_tenants = 0;
  TenantFigures others;
  std::vector<SessionFigures> sessions;
  size_t other_sessions = 0;
  TenantFigures in_other_sessions;
};
// At most `limit` tenants and as many sessions, largest first. Equal rows are ordered by id, so that a view
// that is redrawn does not flicker. A pure function.
TopRows largest(const TopSnapshot& snapshot, TopSort sort, size_t limit);

// Any thread. `app` outlives it.
class Top {
 public:
  explicit Top(App& app);

  // Call once, when the server exists. It outlives all calls of read().
  void watch(const http::Server& server);
  // Counts a request, for the rates; a zero id for one without a principal.
  void count_request(const Id& principal);

  // Returns the snapshot of this second. Only one caller gathers; the others get the one before, or wait for
  // the first.
  std::shared_ptr<const TopSnapshot> read();

 private:
  // Figures that need a pass over a table.
  struct Stored {
    std::unordered_map<Id, size_t> sessions;      // by owner, awake or asleep
    std::unordered_map<Id, uint64_t> kept_bytes;  // by owner
    std::vector<Id> largest;                      // owners with the most kept bytes
    uint64_t kept_bytes_of_all = 0;
    size_t sessions_of_all = 0;
  };
  // The figures from which the next snapshot computes rates.
  struct Before {
    TimeUs time_us = 0;  // 0: there is none
    uint64_t process_cpu_us = 0;
    std::unordered_map<Id, uint64_t> session_cpu_us;
    HistogramCounts requests{};
  };

  const http::Server* watched();  // null: none
  std::shared_ptr<const TopSnapshot> gather(TimeUs now_us);
  std::shared_ptr<const Stored> stored(TimeUs now_us);
  void gather_sessions(TopSnapshot& out, std::vector<interpreter::SessionLoad> loads);
  void gather_tenants(TopSnapshot& out, const FairLoad& threads);

  App& app_;
  const TimeUs started_us_;
  RecentCounts requests_;
  Mutex mutex_;
  ConditionVariable gathered_;
  const http::Server* server_ SK_GUARDED_BY(mutex_) = nullptr;
  std::shared_ptr<const TopSnapshot> last_ SK_GUARDED_BY(mutex_);
  bool gathering_ SK_GUARDED_BY(mutex_) = false;
  // Only for the caller that gathers.
  Before before_;
  std::shared_ptr<const Stored> stored_;
  TimeUs stored_next_us_ = 0;
};

}  // namespace sk::api
