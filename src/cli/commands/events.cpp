// events: shows past changes in a workspace, and follows new ones.
#include <chrono>
#include <thread>

#include "cli/client/fields.h"
#include "cli/commands/commands.h"
#include "cli/frame/columns.h"
#include "cli/frame/when.h"

namespace sk::cli {

namespace {

// Returns "path=data/a.csv size=12": the scalar values of an event, paths and names first.
std::string details_of(const Json& event) {
  std::string out;
  for (auto part : {"personal", "facts"}) {
    auto at = event.find(part);
    if (at == event.end() || !at->is_object()) continue;
    for (const auto& [name, value] : at->items()) {
      if (value.is_null() || value.is_structured()) continue;
      auto text = value.is_string() ? value.get<std::string>() : to_text(value);
      if (!text.empty()) out += (out.empty() ? "" : "  ") + name + "=" + printable(text);
    }
  }
  return out;
}

void print_event(const Invocation& call, const Json& event) {
  if (call.json()) {
    call.terminal.line(to_text(event));
    return;
  }
  auto number = std::to_string(number_field(event, "seq"));
  constexpr size_t kNumberWidth = 6, kKindWidth = 16;
  auto kind = printable(text_field(event, "kind"));
  auto padded = [](std::string text, size_t width) {
    return text + std::string(width - std::min(width, text.size()), ' ');
  };
  call.terminal.line(std::string(kNumberWidth - std::min(kNumberWidth, number.size()), ' ') + number + "  " +
                     call.terminal.paint_out(Style::dim, local_second(text_field(event, "time"))) + "  " +
                     call.terminal.paint_out(Style::bold, padded(kind, kKindWidth)) + "  " +
                     details_of(event));
}

Query query_of(const Invocation& call, const RemotePath& where) {
  Query query;
  if (!where.is_root()) query.emplace_back("path", where.path);
  if (auto kinds = call.arguments.value("kinds")) query.emplace_back("kinds", *kinds);
  if (auto actor = call.arguments.value("actor")) query.emplace_back("actor", *actor);
  return query;
}

// Prints one page after `after` and advances it. Returns whether there is more.
bool print_page(const Invocation& call, Remote& remote, const std::string& url, Query query,
                std::string& after) {
  query.emplace_back("after", after);
  auto page = remote.call("GET", url, query);
  for (const auto& event : list_field(page, "items")) print_event(call, event);
  call.terminal.flush();
  after = std::to_string(number_field(page, "cursor"));
  return flag_field(page, "has_more");
}

// Long polls forever; waits for a server that restarts.
[[noreturn]] void follow(const Invocation& call, Remote& remote, const std::string& url, Query query,
                         std::string after) {
  constexpr int64_t kWaitMostS = 30;
  constexpr auto kPauseFirst = std::chrono::milliseconds(500);
  constexpr auto kPauseMost = std::chrono::milliseconds(15'000);
  bool asked = false;
  auto pause = kPauseFirst;
  bool lost = false;
  for (;;) {
    try {
      // The server may be unreachable before it has reported its wait limit.
      if (!asked) query.emplace_back("wait", std::to_string(remote.limit("events_wait_max_s", kWaitMostS)));
      asked = true;
      print_page(call, remote, url, query, after);
      if (lost) call.terminal.note("sandkeep: the server is back");
      lost = false;
      pause = kPauseFirst;
    } catch (const Error& error) {
      if (exit_code_of(error.code()) != ExitCode::unreachable) throw;
      if (!lost) call.terminal.note("sandkeep: " + printable(error.message()) + "; waiting for it");
      lost = true;
      std::this_thread::sleep_for(pause);
      pause = std::min(pause * 2, kPauseMost);
    }
  }
}

ExitCode run_events(Invocation& call) {
  auto remote = connect(call);
  bool of_server = call.arguments.has("of-server");
  if (of_server && !call.arguments.positional.empty())
    throw Error(Code::bad_request, "the server's own journal has no paths");
  auto where = call.arguments.positional.empty() ? RemotePath{} : parse_remote_path(call.positional(0));
  auto url = of_server ? "/api/v1/events" : remote.url(where, "events");
  auto query = query_of(call, where);
  auto after = call.arguments.value_or("after", "0");
  while (print_page(call, remote, url, query, after)) {
  }
  if (call.arguments.has("follow")) follow(call, remote, url, query, after);
  return ExitCode::ok;
}

}  // namespace

Command events_command() {
  return {
      .name = "events",
      .arguments = "[PATH]",
      .summary = "shows the events of a workspace, and follows new ones",
      .about =
          "Shows the journal of a workspace, oldest first: number, time (local), kind and path. With a PATH, "
          "only events at or below it.",
      .options = {{"follow", 'f', "", "continue with new events, until Ctrl-C"},
                  {"after", 0, "N", "only events after this number; 'now' for new ones only"},
                  {"kinds", 0, "LIST", "only these kinds: file.write,lock.*"},
                  {"actor", 0, "PRINCIPAL_ID", "only events caused by this principal"},
                  {"of-server", 0, "", "the server's own journal: principals and keys; for administrators"}},
      .positional_max = 1,
      .examples = {"sandkeep events", "sandkeep events --follow --after now data",
                   "sandkeep events --kinds 'lock.*' --json"},
      .run = run_events,
  };
}

}  // namespace sk::cli
