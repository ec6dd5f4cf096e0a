// `GET /api/v1/top`: the server's load, for operators. server.cpp shows the same figures in /metrics.
#include <algorithm>
#include <cmath>

#include "api/common/shapes.h"
#include "api/rest/rest.h"

namespace sk::api::rest {

namespace {

using http::Reply;

constexpr size_t kRowsUsual = 50, kRowsMax = 200;
const std::vector<std::string> kSorts = {"cpu", "memory", "requests"};  // in the order of TopSort

// Names of those that the rows show. Only an administrator's actor gets them.
struct Names {
  std::unordered_map<Id, std::string> principals, workspaces;
};

Names names_in(const Call& call, const TopRows& rows) {
  std::vector<Id> principals, workspaces;
  for (const auto& row : rows.tenants) principals.push_back(row.principal);
  for (const auto& row : rows.sessions) {
    principals.push_back(row.load.owner);
    workspaces.push_back(row.load.workspace);
  }
  return {call.app.keep.access().names_of(call.actor, principals),
          call.app.keep.workspaces().names_of(call.actor, workspaces)};
}

Json named_json(const Id& id, std::string_view prefix, const std::unordered_map<Id, std::string>& names) {
  auto found = names.find(id);
  return {{"id", id.with_prefix(prefix)}, {"name", found == names.end() ? "" : found->second}};
}

double rounded(double value) { return std::round(value * 10) / 10; }
Json rounded_or_null(const std::optional<double>& value) {
  return value ? Json(rounded(*value)) : Json(nullptr);
}
Json milliseconds(const std::optional<double>& seconds) {
  return seconds ? Json(rounded(*seconds * 1000)) : Json(nullptr);
}

Json used_json(uint64_t used_bytes, uint64_t max_bytes) {
  return {{"used_bytes", used_bytes}, {"max_bytes", max_bytes}};
}

void add_figures(Json& out, const TenantFigures& row) {
  out["sessions"] = {{"awake", row.sessions_awake}, {"asleep", row.sessions_asleep}};
  out["executions"] = {{"running", row.executions_running}, {"waiting", row.executions_waiting}};
  out["jobs"] = {{"running", row.jobs_running}, {"waiting", row.jobs_waiting}};
  out["memory_bytes"] = row.memory_bytes;
  out["cpu_percent"] = rounded_or_null(row.cpu_percent);
  out["processes"] = row.processes;
  out["calls_refused"] = row.calls_refused;
  out["kept_bytes"] = row.kept_bytes;
  out["requests_per_s"] = rounded(row.requests_per_s);
}

std::string_view state_of(const interpreter::SessionLoad& load) {
  using enum interpreter::SessionActivity;
  switch (load.activity) {
    case starting:
      return "starting";
    case running:
      return "running";
    case ending:
      return "ending";
    case asleep:
      return "asleep";
    case idle:
      break;
  }
  return "idle";
}

Json moment_or_null(TimeUs time_us) {
  return time_json(time_us == 0 ? std::nullopt : std::optional(time_us));
}

Json session_row(const SessionFigures& row, const Names& names) {
  const auto& load = row.load;
  return {{"id", load.id.with_prefix(prefix::session)},
          {"name", load.name},
          {"workspace", named_json(load.workspace, prefix::workspace, names.workspaces)},
          {"principal", named_json(load.owner, prefix::principal, names.principals)},
          {"state", state_of(load)},
          {"running_since", moment_or_null(load.running_since_us)},
          {"awake_since", moment_or_null(load.awake_since_us)},
          {"active_at", time_json(load.active_us)},
          {"executions_waiting", load.waiting},
          {"memory_bytes", load.usage.memory_bytes},
          {"memory_max_bytes", load.memory_bytes_max},
          {"cpu_percent", rounded_or_null(row.cpu_percent)},
          {"processes", load.usage.processes},
          {"calls_refused", load.usage.calls_refused}};
}

Json queues_json(const TopSnapshot& snapshot) {
  Json out = Json::array();
  for (const auto& [name, load] : snapshot.queues)
    out.push_back(
        {{"name", name}, {"threads", load.threads}, {"running", load.running}, {"waiting", load.waiting}});
  return out;
}

Json server_json(const TopSnapshot& snapshot) {
  const auto& http = snapshot.http;
  size_t on_threads = http.workers.running + http.workers.waiting;
  return {{"memory_bytes", snapshot.process.memory_bytes},
          {"threads", snapshot.process.threads},
          {"cpu_percent", rounded_or_null(snapshot.process.cpu_percent)},
          {"connections",
           {{"open", http.connections},
            {"idle", http.connections - std::min(http.connections, http.requests)},
            {"with_request", http.requests}}},
          {"requests",
           {{"per_s", rounded(snapshot.requests_per_s)},
            {"without_thread", http.requests - std::min(http.requests, on_threads)},
            {"p50_ms", milliseconds(snapshot.p50_s)},
            {"p99_ms", milliseconds(snapshot.p99_s)}}},
          {"body_memory", used_json(http.body_bytes, http.body_bytes_max)},
          {"output_memory", used_json(snapshot.output_bytes, snapshot.output_bytes_max)},
          {"catalog_writes", snapshot.catalog_writes}};
}

Json top_json(const TopSnapshot& snapshot, const TopRows& rows, const Names& names) {
  Json out = {{"time", time_json(snapshot.time_us)}, {"uptime_s", snapshot.uptime_s}};
  out["server"] = server_json(snapshot);
  const auto& disk = snapshot.disk;
  out["disk"] = {{"free_bytes", disk.free_bytes},
                 {"total_bytes", disk.total_bytes},
                 {"reserve_bytes", disk.reserve_bytes},
                 {"catalog_bytes", disk.catalog_bytes},
                 {"kept_bytes", disk.kept_bytes}};
  out["queues"] = queues_json(snapshot);
  out["all"] = {{"sessions_awake_max", snapshot.sessions_max}};
  add_figures(out["all"], snapshot.all);
  out["tenants"] = Json::array();
  for (const auto& row : rows.tenants) {
    Json one = {{"principal", named_json(row.principal, prefix::principal, names.principals)}};
    add_figures(one, row);
    out["tenants"].push_back(std::move(one));
  }
  out["other_tenants"] = {{"count", rows.other_tenants}};
  add_figures(out["other_tenants"], rows.others);
  out["sessions"] = Json::array();
  for (const auto& row : rows.sessions) out["sessions"].push_back(session_row(row, names));
  const auto& others = rows.in_other_sessions;
  out["other_sessions"] = {
      {"count", rows.other_sessions},
      {"executions", {{"running", others.executions_running}, {"waiting", others.executions_waiting}}},
      {"memory_bytes", others.memory_bytes},
      {"cpu_percent", rounded_or_null(others.cpu_percent)},
      {"processes", others.processes},
      {"calls_refused", others.calls_refused}};
  return out;
}

Reply show_top(Call& call) {
  call.need_admin();
  auto sort = TopSort::cpu;
  if (auto wanted = call.query.text("sort"))
    sort = static_cast<TopSort>(std::find(kSorts.begin(), kSorts.end(), *wanted) - kSorts.begin());
  auto limit = call.query.integer("limit").value_or(kRowsUsual);
  auto snapshot = call.app.top.read();
  auto rows = largest(*snapshot, sort,
                      static_cast<size_t>(within(limit, 1, static_cast<int64_t>(kRowsMax), "limit")));
  return Reply::json(top_json(*snapshot, rows, names_in(call, rows)));
}

}  // namespace

void add_top_routes(Routes& routes) {
  routes.add(
      {.method = "GET",
       .pattern = kRoot + "/top",
       .id = "get_top",
       .tag = "server",
       .summary = "Shows what the server does now: load, queues, tenants and awake sessions; for "
                  "administrators",
       .details = "The figures are gathered at most once a second. CPU is in percent of one core, since the "
                  "figures were gathered before; it is null when that was more than a minute ago, so ask "
                  "twice. Times of requests include those that wait, such as long polls. Tenants that do "
                  "nothing are in `other_tenants`, except those that keep the most.",
       .query = {{.name = "sort", .about = "The order of the rows, largest first.", .choices = kSorts},
                 {.name = "limit",
                  .type = FieldType::integer,
                  .about = "The most tenants and sessions to list, up to 200. The rest is summed."}},
       .answers = {{200, "The figures of this second.", "Top"}},
       .errors = {Code::forbidden}},
      show_top);
}

}  // namespace sk::api::rest
