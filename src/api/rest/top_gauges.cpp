#include "api/rest/top_gauges.h"

#include "base/metrics.h"

namespace sk::api::rest {

namespace {

void append_one(std::string& out, std::string_view name, std::string_view help, double value) {
  append_gauges(out, name, help, {{{}, value}});
}

// Figures that the server has as a whole and each principal has, too.
struct PrincipalGauge {
  std::string_view name, help;
  double (*value)(const TenantFigures&);
};
constexpr double of(uint64_t number) { return static_cast<double>(number); }
constexpr PrincipalGauge kPrincipalGauges[] = {
    {"sessions_awake", "Sessions with a running interpreter.",
     [](const TenantFigures& row) { return of(row.sessions_awake); }},
    {"sessions_asleep", "Sessions without one.",
     [](const TenantFigures& row) { return of(row.sessions_asleep); }},
    {"executions_running", "Executions whose code runs.",
     [](const TenantFigures& row) { return of(row.executions_running); }},
    {"executions_waiting", "Executions that wait for their session.",
     [](const TenantFigures& row) { return of(row.executions_waiting); }},
    {"session_jobs_running", "Jobs on the threads of the sessions.",
     [](const TenantFigures& row) { return of(row.jobs_running); }},
    {"session_jobs_waiting", "Jobs that wait for such a thread.",
     [](const TenantFigures& row) { return of(row.jobs_waiting); }},
    {"sandbox_memory_bytes", "Memory of sandboxes.",
     [](const TenantFigures& row) { return of(row.memory_bytes); }},
    {"sandbox_cpu_cores", "Cores that sandboxes use, since the figures were gathered before.",
     [](const TenantFigures& row) { return row.cpu_percent.value_or(0) / 100; }},
    {"sandbox_processes", "Processes in sandboxes.",
     [](const TenantFigures& row) { return of(row.processes); }},
    {"sandbox_calls_refused",
     "System calls that the sandboxes that are awake refused because they need privileges.",
     [](const TenantFigures& row) { return of(row.calls_refused); }},
    {"kept_bytes", "Bytes that workspaces use.", [](const TenantFigures& row) { return of(row.kept_bytes); }},
    {"requests_per_second", "Requests, over the last five to ten seconds.",
     [](const TenantFigures& row) { return row.requests_per_s; }},
};

}  // namespace

void append_server_gauges(std::string& out, const TopSnapshot& snapshot) {
  append_one(out, "sandkeep_uptime_seconds", "Time since the start.", static_cast<double>(snapshot.uptime_s));
  append_one(out, "sandkeep_process_memory_bytes", "Resident memory of the server.",
             of(snapshot.process.memory_bytes));
  append_one(out, "sandkeep_process_threads", "Threads of the server.", of(snapshot.process.threads));
  append_one(out, "sandkeep_process_cpu_seconds", "Processor time of the server.",
             of(snapshot.process.cpu_us) / 1e6);
  append_one(out, "sandkeep_http_body_bytes_max", "Limit of sandkeep_http_body_bytes.",
             of(snapshot.http.body_bytes_max));
  append_one(out, "sandkeep_output_bytes", "Bytes of outputs that are held in memory.",
             of(snapshot.output_bytes));
  append_one(out, "sandkeep_output_bytes_max", "Limit of sandkeep_output_bytes.",
             of(snapshot.output_bytes_max));
  append_one(out, "sandkeep_disk_free_bytes", "Free space on the disk of the data folder.",
             of(snapshot.disk.free_bytes));
  append_one(out, "sandkeep_disk_total_bytes", "Size of that disk.", of(snapshot.disk.total_bytes));
  append_one(out, "sandkeep_disk_reserve_bytes", "Free space that is left to others.",
             of(snapshot.disk.reserve_bytes));
  append_one(out, "sandkeep_catalog_bytes", "Size of the catalog and its log.",
             of(snapshot.disk.catalog_bytes));
  append_one(out, "sandkeep_catalog_writes", "Running and waiting writes of the catalog.",
             of(snapshot.catalog_writes));
  append_one(out, "sandkeep_sessions_awake_max", "Limit of sandkeep_sessions_awake.",
             of(snapshot.sessions_max));
  std::vector<GaugeRow> threads, running, waiting;
  for (const auto& [name, load] : snapshot.queues) {
    threads.push_back({{{"queue", name}}, of(load.threads)});
    running.push_back({{{"queue", name}}, of(load.running)});
    waiting.push_back({{{"queue", name}}, of(load.waiting)});
  }
  append_gauges(out, "sandkeep_queue_threads", "Threads of a queue.", threads);
  append_gauges(out, "sandkeep_queue_running", "Jobs of a queue that run.", running);
  append_gauges(out, "sandkeep_queue_waiting", "Jobs of a queue that wait.", waiting);
  for (const auto& gauge : kPrincipalGauges) {
    auto name = "sandkeep_" + std::string(gauge.name);
    // The interpreter has this one already, as a metric of its own.
    if (name != "sandkeep_sessions_awake") append_one(out, name, gauge.help, gauge.value(snapshot.all));
  }
}

void append_principal_gauges(std::string& out, const TopRows& rows,
                             const std::unordered_map<Id, std::string>& names) {
  for (const auto& gauge : kPrincipalGauges) {
    std::vector<GaugeRow> values;
    for (const auto& row : rows.tenants) {
      auto name = names.find(row.principal);
      values.push_back({{{"principal", row.principal.with_prefix(prefix::principal)},
                         {"name", name == names.end() ? "" : name->second}},
                        gauge.value(row)});
    }
    values.push_back({{{"principal", "others"}, {"name", ""}}, gauge.value(rows.others)});
    append_gauges(out, "sandkeep_principal_" + std::string(gauge.name), gauge.help, values);
  }
}

}  // namespace sk::api::rest
