#include "api/common/top.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <tuple>

#include "api/app.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/text.h"
#include "interpreter/records.h"

namespace sk::api {

namespace {

constexpr int64_t kGatherEveryUs = kSecondUs;
// Rates over a longer time would hide what goes on now.
constexpr int64_t kCompareMostUs = 60 * kSecondUs;
// Passes over a table: at least this long apart, and at most a fiftieth of the time.
constexpr int64_t kStoredEveryUs = 10 * kSecondUs;
constexpr int64_t kStoredShare = 50;
// Tenants that do nothing and are shown nevertheless, because they keep the most.
constexpr size_t kQuietTenantsMax = 100;
constexpr size_t kStatusBytesMax = 64 << 10;

// For the counts of requests, which need no date: every request pays for it.
TimeUs steady_us() {
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

// The number behind "Name:" in /proc/self/status; 0 when it is missing.
uint64_t status_number(std::string_view status, std::string_view name) {
  for (auto line : split(status, '\n')) {
    if (!line.starts_with(name)) continue;
    auto value = trim(line.substr(name.size()));
    return parse_unsigned(value.substr(0, value.find(' '))).value_or(0);
  }
  return 0;
}

TopSnapshot::Process measure_process() {
  TopSnapshot::Process out;
  try {
    auto status = read_file("/proc/self/status", kStatusBytesMax);
    out.memory_bytes = status_number(status, "VmRSS:") << 10;
    out.threads = status_number(status, "Threads:");
  } catch (const Error&) {
    // Without /proc there are no figures.
  }
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) == 0)
    for (const auto& time : {usage.ru_utime, usage.ru_stime})
      out.cpu_us += static_cast<uint64_t>(time.tv_sec) * kSecondUs + static_cast<uint64_t>(time.tv_usec);
  return out;
}

uint64_t size_of_file(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 ? static_cast<uint64_t>(info.st_size) : 0;
}

TopSnapshot::Disk measure_disk(const workspace::KeepContext& context) {
  TopSnapshot::Disk out;
  struct statvfs info{};
  if (::statvfs(context.directory.c_str(), &info) == 0) {
    out.free_bytes = static_cast<uint64_t>(info.f_bavail) * info.f_frsize;
    out.total_bytes = static_cast<uint64_t>(info.f_blocks) * info.f_frsize;
  }
  out.reserve_bytes = context.limits.disk_reserve_bytes;
  for (auto end : {"", "-wal"}) out.catalog_bytes += size_of_file(context.directory + "/catalog.db" + end);
  return out;
}

double percent(uint64_t cpu_us, int64_t time_us) {
  return time_us <= 0 ? 0 : 100.0 * static_cast<double>(cpu_us) / static_cast<double>(time_us);
}

void add_rate(std::optional<double>& sum, const std::optional<double>& more) {
  if (more) sum = sum.value_or(0) + *more;
}

void add(TenantFigures& sum, const TenantFigures& one) {
  sum.sessions_awake += one.sessions_awake;
  sum.sessions_asleep += one.sessions_asleep;
  sum.executions_running += one.executions_running;
  sum.executions_waiting += one.executions_waiting;
  sum.jobs_running += one.jobs_running;
  sum.jobs_waiting += one.jobs_waiting;
  sum.memory_bytes += one.memory_bytes;
  add_rate(sum.cpu_percent, one.cpu_percent);
  sum.processes += one.processes;
  sum.calls_refused += one.calls_refused;
  sum.kept_bytes += one.kept_bytes;
  sum.requests_per_s += one.requests_per_s;
}

void add(TenantFigures& sum, const SessionFigures& one) {
  if (one.load.activity != interpreter::SessionActivity::asleep) ++sum.sessions_awake;
  sum.executions_running += one.load.running_since_us != 0 ? 1 : 0;
  sum.executions_waiting += one.load.waiting;
  sum.memory_bytes += one.load.usage.memory_bytes;
  add_rate(sum.cpu_percent, one.cpu_percent);
  sum.processes += one.load.usage.processes;
  sum.calls_refused += one.load.usage.calls_refused;
}

double size_by(TopSort sort, std::optional<double> cpu_percent, uint64_t memory_bytes,
               double requests_per_s) {
  switch (sort) {
    case TopSort::cpu:
      return cpu_percent.value_or(0);
    case TopSort::memory:
      return static_cast<double>(memory_bytes);
    case TopSort::requests:
      return requests_per_s;
  }
  return 0;
}

// Rows that are equal in the chosen order follow the other figures, so that a busy tenant is not hidden
// behind idle ones.
template <class Row, class Figures>
void put_largest_first(std::vector<Row>& rows, TopSort sort, size_t limit, Figures figures) {
  auto rank = [&](const Row& row) {
    auto [cpu, memory, requests, id] = figures(row);
    return std::tuple(-size_by(sort, cpu, memory, requests), -cpu.value_or(0), -static_cast<double>(memory),
                      -requests, id);
  };
  auto middle = rows.begin() + static_cast<ptrdiff_t>(std::min(limit, rows.size()));
  std::partial_sort(rows.begin(), middle, rows.end(),
                    [&](const Row& a, const Row& b) { return rank(a) < rank(b); });
}

}  // namespace

TopRows largest(const TopSnapshot& snapshot, TopSort sort, size_t limit) {
  TopRows out;
  out.tenants = snapshot.tenants;
  out.other_tenants = snapshot.other_tenants;
  out.others = snapshot.others;
  put_largest_first(out.tenants, sort, limit, [](const TenantFigures& row) {
    return std::tuple(row.cpu_percent, row.memory_bytes, row.requests_per_s, row.principal);
  });
  for (; out.tenants.size() > limit; out.tenants.pop_back()) {
    add(out.others, out.tenants.back());
    ++out.other_tenants;
  }
  out.sessions = snapshot.sessions;
  put_largest_first(out.sessions, sort, limit, [](const SessionFigures& row) {
    return std::tuple(row.cpu_percent, row.load.usage.memory_bytes, row.requests_per_s, row.load.id);
  });
  for (; out.sessions.size() > limit; out.sessions.pop_back()) {
    add(out.in_other_sessions, out.sessions.back());
    ++out.other_sessions;
  }
  return out;
}

Top::Top(App& app) : app_(app), started_us_(app.clock.now_us()), requests_(steady_us()) {}

void Top::watch(const http::Server& server) {
  MutexLock lock(mutex_);
  server_ = &server;
}

const http::Server* Top::watched() {
  MutexLock lock(mutex_);
  return server_;
}

void Top::count_request(const Id& principal) { requests_.add(principal, steady_us()); }

std::shared_ptr<const TopSnapshot> Top::read() {
  TimeUs now_us = app_.clock.now_us();
  MutexLock lock(mutex_);
  if (gathering_ && !last_)
    gathered_.wait(lock, [this]() SK_REQUIRES(mutex_) { return !gathering_ || last_ != nullptr; });
  if (last_ && (gathering_ || now_us < last_->time_us + kGatherEveryUs)) return last_;
  gathering_ = true;
  lock.unlock();
  std::shared_ptr<const TopSnapshot> made;
  std::exception_ptr failed;
  try {
    made = gather(now_us);
  } catch (...) {
    failed = std::current_exception();
  }
  lock.lock();
  gathering_ = false;
  if (made) last_ = made;
  gathered_.notify_all();
  if (failed) std::rethrow_exception(failed);
  return made;
}

std::shared_ptr<const TopSnapshot> Top::gather(TimeUs now_us) {
  auto out = std::make_shared<TopSnapshot>();
  out->time_us = now_us;
  out->uptime_s = (now_us - started_us_) / kSecondUs;
  if (now_us - before_.time_us > kCompareMostUs) before_ = {};

  out->process = measure_process();
  if (before_.time_us != 0)
    out->process.cpu_percent =
        percent(out->process.cpu_us - std::min(out->process.cpu_us, before_.process_cpu_us),
                now_us - before_.time_us);
  if (const auto* server = watched()) out->http = server->load();
  auto requests = app_.metrics.histogram_counts("sandkeep_http_request_seconds");
  auto recent = requests;
  for (size_t i = 0; i < recent.size(); ++i) recent[i] -= std::min(recent[i], before_.requests[i]);
  out->p50_s = quantile(recent, 0.5);
  out->p99_s = quantile(recent, 0.99);

  auto load = app_.interpreter.load();
  out->output_bytes = load.output_bytes;
  out->output_bytes_max = load.output_bytes_max;
  out->sessions_max = load.sessions_max;
  auto background = app_.background.loads();
  out->queues = {{"requests", out->http.workers}, {"sessions", load.threads.all}};
  for (auto& pool : load.pools) out->queues.push_back(std::move(pool));
  out->queues.emplace_back("bridge", app_.captures.load());
  out->queues.emplace_back("short_jobs", background.short_jobs);
  out->queues.emplace_back("chores", background.chores);
  out->queues.emplace_back("transfers", background.transfers);
  out->catalog_writes = app_.keep.context().db.queued_writes();

  stored_ = stored(now_us);
  out->disk = measure_disk(app_.keep.context());
  out->disk.kept_bytes = stored_->kept_bytes_of_all;
  gather_sessions(*out, std::move(load.sessions));
  gather_tenants(*out, load.threads);

  before_.time_us = now_us;
  before_.process_cpu_us = out->process.cpu_us;
  before_.requests = requests;
  return out;
}

// A pass over all sessions and workspaces, which may be many. Its figures change slowly.
std::shared_ptr<const Top::Stored> Top::stored(TimeUs now_us) {
  if (stored_ && now_us < stored_next_us_) return stored_;
  auto begin = std::chrono::steady_clock::now();
  auto out = std::make_shared<Stored>();
  out->sessions = interpreter::Records(app_.keep.context()).count_by_owner();
  for (const auto& [owner, count] : out->sessions) out->sessions_of_all += count;
  out->kept_bytes = app_.keep.workspaces().used_bytes_by_owner();
  std::vector<std::pair<uint64_t, Id>> by_size;
  for (const auto& [owner, bytes] : out->kept_bytes) {
    by_size.emplace_back(bytes, owner);
    out->kept_bytes_of_all += bytes;
  }
  auto middle = by_size.begin() + static_cast<ptrdiff_t>(std::min(kQuietTenantsMax, by_size.size()));
  std::partial_sort(by_size.begin(), middle, by_size.end(), std::greater<>());
  for (auto at = by_size.begin(); at != middle; ++at) out->largest.push_back(at->second);
  auto took = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin);
  stored_next_us_ = now_us + std::max(kStoredEveryUs, kStoredShare * took.count());
  return out;
}

void Top::gather_sessions(TopSnapshot& out, std::vector<interpreter::SessionLoad> loads) {
  std::unordered_map<Id, uint64_t> cpu_us;
  for (auto& load : loads) {
    SessionFigures row;
    uint64_t used_us = load.usage.cpu_us;
    cpu_us[load.id] = used_us;
    auto earlier = before_.session_cpu_us.find(load.id);
    bool woke_since = earlier == before_.session_cpu_us.end() || load.awake_since_us > before_.time_us;
    if (before_.time_us == 0)
      row.cpu_percent = std::nullopt;
    else if (woke_since)
      row.cpu_percent = load.awake_since_us == 0 ? 0 : percent(used_us, out.time_us - load.awake_since_us);
    else  // without control groups, the time of some ended processes is not counted any more
      row.cpu_percent = percent(used_us - std::min(used_us, earlier->second), out.time_us - before_.time_us);
    row.load = std::move(load);
    out.sessions.push_back(std::move(row));
  }
  before_.session_cpu_us = std::move(cpu_us);
}

void Top::gather_tenants(TopSnapshot& out, const FairLoad& threads) {
  auto rates = requests_.rates(steady_us());
  out.requests_per_s = rates.per_s;
  std::unordered_map<Id, TenantFigures> tenants;
  for (auto& session : out.sessions) {
    add(tenants[session.load.owner], session);
    auto rate = rates.by_key.find(session.load.owner);
    session.requests_per_s = rate == rates.by_key.end() ? 0 : rate->second;
  }
  for (const auto& key : threads.keys) {
    tenants[key.key].jobs_running = key.running;
    tenants[key.key].jobs_waiting = key.waiting;
  }
  for (const auto& [principal, rate] : rates.by_key) tenants[principal].requests_per_s = rate;
  for (const auto& principal : stored_->largest) {
    if (tenants.size() >= kQuietTenantsMax) break;
    tenants[principal];
  }
  tenants.erase(Id{});  // requests without a key, and the server's own work
  out.others.kept_bytes = stored_->kept_bytes_of_all;
  out.others.sessions_asleep = stored_->sessions_of_all;
  size_t known = stored_->kept_bytes.size();  // every principal has a workspace
  for (auto& [principal, row] : tenants) {
    row.principal = principal;
    if (auto kept = stored_->kept_bytes.find(principal); kept != stored_->kept_bytes.end()) {
      row.kept_bytes = kept->second;
      out.others.kept_bytes -= std::min(out.others.kept_bytes, kept->second);
      --known;
    }
    if (auto sessions = stored_->sessions.find(principal); sessions != stored_->sessions.end()) {
      row.sessions_asleep = sessions->second - std::min(sessions->second, row.sessions_awake);
      out.others.sessions_asleep -= std::min(out.others.sessions_asleep, sessions->second);
    }
    add(out.all, row);
    out.tenants.push_back(row);
  }
  out.other_tenants = known;
  add(out.all, out.others);
  out.all.requests_per_s = out.requests_per_s;
}

}  // namespace sk::api
