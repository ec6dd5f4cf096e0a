#include "cli/commands/top_view.h"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "base/clock.h"
#include "base/text.h"
#include "cli/client/fields.h"
#include "cli/frame/columns.h"
#include "cli/frame/when.h"

namespace sk::cli {

namespace {

constexpr size_t kNameColumnsLeast = 8, kNameColumnsUsual = 24;
constexpr std::string_view kNone = "-";

std::optional<double> rate_field(const Json& object, std::string_view name) {
  auto at = object.find(name);
  return at == object.end() || !at->is_number() ? std::nullopt : std::optional(at->get<double>());
}

std::string with_one_digit(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

std::string percent_text(const Json& object) {
  auto value = rate_field(object, "cpu_percent");
  return value ? with_one_digit(*value) : std::string(kNone);
}

std::string size_field(const Json& object, std::string_view name) {
  return human_size(number_field(object, name));
}

std::string count_field(const Json& object, std::string_view name) {
  return std::to_string(number_field(object, name));
}

// "1 thread", "2 threads". Without `many`, the plural ends in "s".
std::string counted_field(const Json& object, std::string_view name, const std::string& one,
                          const std::string& many = {}) {
  auto count = static_cast<int64_t>(number_field(object, name));
  return counted(count, one, many.empty() ? one + "s" : many);
}

std::string milliseconds_text(double value) {
  if (value >= 1000) return with_one_digit(value / 1000) + " s";
  return value >= 10 ? std::to_string(static_cast<int64_t>(value + 0.5)) + " ms"
                     : with_one_digit(value) + " ms";
}

std::string used_text(const Json& object, std::string_view name) {
  const auto& used = object_field(object, name);
  return size_field(used, "used_bytes") + " of " + size_field(used, "max_bytes");
}

// The time from a moment until the snapshot; "-" for no moment.
std::string time_since(const Json& object, std::string_view name, TimeUs now_us) {
  auto time_us = parse_iso8601(optional_text(object, name));
  return time_us ? human_duration(std::max<int64_t>(0, now_us - *time_us) / kSecondUs) : std::string(kNone);
}

// The text in at most so many columns, marked where it is cut.
std::string cut_with_mark(std::string text, size_t width, bool utf8) {
  if (display_width(text) <= width) return text;
  return cut_to_width(text, width - 1) + (utf8 ? "…" : "~");
}

// A name in at most so many columns. Names are text that tenants chose.
struct NameColumn {
  size_t width;
  bool utf8;

  std::string operator()(std::string_view name) const { return cut_with_mark(printable(name), width, utf8); }
  // The name of an object, or its id if it has none.
  std::string of(const Json& object) const {
    auto name = optional_text(object, "name");
    return (*this)(name.empty() ? text_field(object, "id") : name);
  }
};

std::string requests_line(const Json& top) {
  const auto& server = object_field(top, "server");
  const auto& requests = object_field(server, "requests");
  const auto& connections = object_field(server, "connections");
  std::string out = "up " + human_duration(static_cast<int64_t>(number_field(top, "uptime_s"))) + "   " +
                    with_one_digit(rate_field(requests, "per_s").value_or(0)) + " requests/s";
  auto median = rate_field(requests, "p50_ms"), most = rate_field(requests, "p99_ms");
  if (median && most)
    out += " (half within " + milliseconds_text(*median) + ", 99% within " + milliseconds_text(*most) + ")";
  return out + "   " + counted_field(connections, "open", "connection") + ", " +
         count_field(connections, "with_request") + " with a request";
}

std::string server_line(const Json& server) {
  return "server     " + size_field(server, "memory_bytes") + ", " + percent_text(server) + "% CPU, " +
         counted_field(server, "threads", "thread") + "   bodies " + used_text(server, "body_memory") +
         "   outputs " + used_text(server, "output_memory");
}

std::string sandboxes_line(const Json& all) {
  const auto& sessions = object_field(all, "sessions");
  const auto& executions = object_field(all, "executions");
  return "sandboxes  " + size_field(all, "memory_bytes") + ", " + percent_text(all) + "% CPU, " +
         counted_field(all, "processes", "process", "processes") + "   " + count_field(sessions, "awake") +
         " of " + count_field(all, "sessions_awake_max") + " sessions awake, " +
         count_field(sessions, "asleep") + " asleep   executions: " + count_field(executions, "running") +
         " running, " + count_field(executions, "waiting") + " waiting";
}

std::string disk_line(const Json& disk) {
  return "disk       " + size_field(disk, "free_bytes") + " free of " + size_field(disk, "total_bytes") +
         ", " + size_field(disk, "reserve_bytes") + " reserved   catalog " +
         size_field(disk, "catalog_bytes") + "   kept " + size_field(disk, "kept_bytes");
}

// The queues of requests and sessions come first in the answer and are always shown, the others while they
// have work.
std::string queues_line(const Json& top) {
  constexpr size_t kAlwaysShown = 2;
  std::string out = "queues     ";
  size_t index = 0;
  for (const auto& queue : list_field(top, "queues")) {
    auto running = number_field(queue, "running"), waiting = number_field(queue, "waiting");
    if (index++ >= kAlwaysShown && running + waiting == 0) continue;
    if (index > 1) out += "   ";
    out += printable(text_field(queue, "name")) + " " + std::to_string(running) + "/" +
           count_field(queue, "threads");
    if (waiting > 0) out += " +" + std::to_string(waiting) + " waiting";
  }
  if (auto writes = number_field(object_field(top, "server"), "catalog_writes"); writes > 0)
    out += "   catalog writes " + std::to_string(writes);
  return out;
}

void add_tenant(Table& table, std::string name, const Json& row) {
  const auto& sessions = object_field(row, "sessions");
  const auto& executions = object_field(row, "executions");
  table.add({std::move(name), percent_text(row), size_field(row, "memory_bytes"),
             count_field(row, "processes"), count_field(sessions, "awake"), count_field(sessions, "asleep"),
             count_field(executions, "running"), count_field(executions, "waiting"),
             with_one_digit(rate_field(row, "requests_per_s").value_or(0)), size_field(row, "kept_bytes")});
}

// Leaves out columns, the least important first, until the table fits.
void fit(Table& table, size_t width, std::initializer_list<std::string_view> least_important) {
  if (width == 0) return;
  for (auto heading : least_important) {
    if (table.width() <= width) return;
    table.drop(heading);
  }
}

Table tenants_table(const Json& top, const NameColumn& name) {
  constexpr auto kNumber = Align::right;
  Table table({Align::left, kNumber, kNumber, kNumber, kNumber, kNumber, kNumber, kNumber, kNumber, kNumber});
  table.add({"TENANT", "CPU%", "MEMORY", "PROCESSES", "AWAKE", "ASLEEP", "RUNNING", "WAITING", "REQUESTS/S",
             "KEPT"});
  for (const auto& row : list_field(top, "tenants"))
    add_tenant(table, name.of(object_field(row, "principal")), row);
  const auto& others = object_field(top, "other_tenants");
  if (auto count = number_field(others, "count"); count > 0)
    add_tenant(table, counted(static_cast<int64_t>(count), "other", "others"), others);
  return table;
}

Table sessions_table(const Json& top, const NameColumn& name, TimeUs now_us) {
  Table table({Align::left, Align::left, Align::left, Align::left, Align::right, Align::right, Align::right,
               Align::right, Align::right, Align::right, Align::left});
  table.add({"SESSION", "TENANT", "WORKSPACE", "STATE", "SINCE", "CPU%", "MEMORY", "PROCESSES", "WAITING",
             "LAST USE", "ID"});
  for (const auto& row : list_field(top, "sessions"))
    table.add({name.of(row), name.of(object_field(row, "principal")), name.of(object_field(row, "workspace")),
               printable(text_field(row, "state")), time_since(row, "running_since", now_us),
               percent_text(row), size_field(row, "memory_bytes"), count_field(row, "processes"),
               count_field(row, "executions_waiting"), time_since(row, "active_at", now_us),
               printable(text_field(row, "id"))});
  const auto& others = object_field(top, "other_sessions");
  if (auto count = number_field(others, "count"); count > 0) {
    const auto& executions = object_field(others, "executions");
    table.add({counted(static_cast<int64_t>(count), "other", "others"), "", "",
               count_field(executions, "running") + " running", "", percent_text(others),
               size_field(others, "memory_bytes"), count_field(others, "processes"),
               count_field(executions, "waiting"), "", ""});
  }
  return table;
}

void add_table(std::vector<TopLine>& out, const Table& table) {
  out.push_back({""});
  bool is_heading = true;
  for (auto& line : table.lines([](Style, std::string_view text) { return std::string(text); }))
    out.push_back({std::move(line), std::exchange(is_heading, false) ? Style::bold : Style::plain});
}

}  // namespace

std::vector<TopLine> describe_top(const Json& top, const TopLook& look) {
  size_t for_name = look.width == 0 ? kNameColumnsUsual : look.width / 6;
  NameColumn name{std::clamp(for_name, kNameColumnsLeast, kNameColumnsUsual), look.utf8};
  auto now_us = parse_iso8601(text_field(top, "time")).value_or(0);
  std::vector<TopLine> out = {{requests_line(top)},
                              {server_line(object_field(top, "server"))},
                              {sandboxes_line(object_field(top, "all"))},
                              {disk_line(object_field(top, "disk"))},
                              {queues_line(top)}};
  auto tenants = tenants_table(top, name);
  fit(tenants, look.width, {"ASLEEP", "PROCESSES", "AWAKE", "KEPT", "WAITING", "RUNNING", "REQUESTS/S"});
  add_table(out, tenants);
  auto sessions = sessions_table(top, name, now_us);
  fit(sessions, look.width,
      {"ID", "LAST USE", "PROCESSES", "WAITING", "WORKSPACE", "SINCE", "MEMORY", "STATE"});
  add_table(out, sessions);
  if (look.width > 0)
    for (auto& line : out) line.text = cut_with_mark(std::move(line.text), look.width, look.utf8);
  return out;
}

bool has_rates(const Json& top) { return rate_field(object_field(top, "server"), "cpu_percent").has_value(); }

}  // namespace sk::cli
