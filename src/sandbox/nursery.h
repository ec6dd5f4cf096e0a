// Creates sessions of one runtime: owns its launcher and zygote, keeps a few sessions ready, and cleans up
// ended ones.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/metrics.h"
#include "base/mutex.h"
#include "sandbox/doctor.h"
#include "sandbox/launcher.h"
#include "sandbox/privileged.h"
#include "sandbox/session.h"
#include "sandbox/session_parts.h"

namespace sk::sandbox {

// Thread-safe. Its own thread, the keeper, fills the pool, renews the zygote, and cleans up.
class Nursery {
 public:
  struct Options {
    size_t plan = 0;  // number of its launcher's plan
    size_t pool_size = 0;
    uint64_t zygote_forks_max = 1'000;  // then starts a new one, with another memory layout and hash seed
    int64_t zygote_age_max_s = 3'600;
  };
  struct Shared {
    const Findings& findings;
    const CgroupTree& cgroups;
    UserIds& ids;
    Metrics& metrics;
    Privileged& privileged;
  };
  // Starts the launcher and throws as it does. The zygote starts in the background.
  Nursery(Options options, Shared shared);
  // All sessions must be destroyed. Waits until they are cleaned up.
  ~Nursery();
  Nursery(const Nursery&) = delete;
  Nursery& operator=(const Nursery&) = delete;

  // Returns false when no zygote is ready in time.
  [[nodiscard]] bool wait_ready(int timeout_ms);
  // Starts a session. Throws Error: unavailable when there is no zygote, bad_request for an invalid spec,
  // internal with the failed step.
  std::unique_ptr<Session> start(SessionSpec spec);
  // Takes over the remains of a session for cleanup.
  void dispose(std::unique_ptr<SessionParts> parts);
  Privileged& privileged() const { return shared_.privileged; }

 private:
  std::unique_ptr<SessionParts> prepare(Zygote::Urgency urgency);
  std::unique_ptr<SessionParts> take_ready();
  void open_gate(SessionParts& parts, const SessionSpec& spec);
  void limit_io(Cgroup& cgroup, const SessionSpec& spec);
  std::shared_ptr<Zygote> current_zygote();
  std::shared_ptr<Launcher> current_launcher();

  // Keeper thread only.
  void keep();
  void renew_launcher();
  void renew_zygote();
  void try_later(std::string_view what, std::string_view why);
  void start_zygote();
  void fill_pool();
  void clear_remains();
  void sleep_until_needed();
  void wake();

  const Options options_;
  const Shared shared_;
  Counter& started_;
  Counter& started_cold_;
  Counter& zygotes_started_;
  Counter& refused_calls_;
  Histogram& start_time_;
  Gauge& pooled_;

  Mutex mutex_;
  ConditionVariable zygote_ready_;
  // Shared: pending requests keep a dead one alive.
  std::shared_ptr<Launcher> launcher_ SK_GUARDED_BY(mutex_);
  std::shared_ptr<Zygote> zygote_ SK_GUARDED_BY(mutex_);  // ready; otherwise null
  std::deque<std::unique_ptr<SessionParts>> pool_ SK_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<SessionParts>> remains_ SK_GUARDED_BY(mutex_);
  bool stopping_ SK_GUARDED_BY(mutex_) = false;

  std::atomic<uint64_t> forks_of_zygote_{0};

  // Keeper thread only.
  std::shared_ptr<Zygote> coming_;  // started but not ready
  std::vector<std::weak_ptr<Zygote>> zygotes_;
  int64_t zygote_since_us_ = 0;
  int64_t next_try_us_ = 0;
  int64_t next_fill_us_ = 0;
  std::atomic<int64_t> taken_us_{0};  // time of the last session start
  int64_t patience_us_ = 0;

  Fd wake_;  // eventfd
  std::thread keeper_;
};

}  // namespace sk::sandbox
