#include "cli/client/execution.h"

#include <iostream>

#include "base/error.h"
#include "base/text.h"
#include "cli/client/fields.h"
#include "cli/frame/columns.h"
#include "http/event_reader.h"

namespace sk::cli {

Json run_code(Remote& remote, const std::string& session, Json body, const ExecutionEvents& events) {
  body["stream"] = true;
  Json done;
  http::EventReader stream([&](const http::EventReader::Event& event) {
    auto data = parse_json(event.data, "the server's event");
    if (event.name == "done")
      done = std::move(data);
    else if (event.name == "output")
      events.on_output(data);
    else if (event.name == "started")
      events.on_start(text_field(data, "id"));
  });
  auto request = request_to("POST", "/api/v1/sessions/" + percent_encode(session) + "/executions");
  request.headers.set("Content-Type", "application/json");
  request.headers.set("Accept", "text/event-stream");
  request.body = to_text(body);
  request.body_sink = [&](std::string_view bytes) {
    stream.add(bytes);
    return true;
  };
  auto response = remote.send(std::move(request));
  if (response.status >= 400) throw to_error(response, remote.target());
  if (done.is_null())
    throw Error(
        Code::unavailable,
        "the connection to the server broke before the program ended; files written by then are kept");
  return done;
}

bool ended_well(const Json& done) { return text_field(done, "end") == "ok"; }

bool ended_by_itself(const Json& done) { return ended_well(done) || text_field(done, "end") == "error"; }

bool is_asleep(const Json& session) { return text_field(session, "status") == "asleep"; }

void show_output(Terminal& terminal, const Json& output) {
  auto type = text_field(output, "type");
  if (type == "stdout")
    terminal.out(text_field(output, "text"));
  else if (type == "stderr")
    std::cerr << text_field(output, "text") << std::flush;
  else if (type == "note")
    terminal.note(text_field(output, "text"));
  else if (type == "error")
    terminal.note(text_field(output, "traceback"));
  else if (auto data = output.find("data"); data != output.end() && data->contains("text/plain"))
    terminal.line((*data)["text/plain"].get<std::string>());
  terminal.flush();
}

namespace {

// Whether a later attempt may keep it. A link, for example, is never kept.
bool can_be_retried(const Json& item) {
  auto reason = text_field(item, "reason");
  return reason == "quota" || reason == "disk_full" || reason == "locked" || reason == "conflict";
}

void show_files(Terminal& terminal, const Json& done) {
  bool can_retry = false;
  for (const auto& item : list_field(done, "added"))
    terminal.note("added  " + printable(text_field(item, "path")));
  for (const auto& file : list_field(done, "kept")) {
    terminal.note("kept  " + printable(text_field(file, "path")) + "  " +
                  terminal.paint_err(Style::blue, text_field(file, "link")));
    if (flag_field(file, "locked"))
      terminal.note(terminal.paint_err(Style::yellow, "not the newest version") +
                    "  another client holds a lock on it");
    else if (flag_field(file, "diverged"))
      terminal.note(terminal.paint_err(Style::yellow, "diverged") +
                    "  another client changed it too; both are versions: sandkeep log " +
                    printable(text_field(file, "path")));
    can_retry = can_retry || flag_field(file, "locked");
  }
  for (const auto& item : list_field(done, "not_kept")) {
    terminal.note(terminal.paint_err(Style::yellow, "not kept") + "  " + printable(text_field(item, "path")) +
                  ": " + text_field(item, "message"));
    can_retry = can_retry || can_be_retried(item);
  }
  if (can_retry)
    terminal.note("When the reason is gone: sandkeep sessions retry " + text_field(done, "session_id"));
}

}  // namespace

void show_answer(Terminal& terminal, const Json& done) {
  if (flag_field(done, "woke")) terminal.note("the session was asleep: variables are lost, files are there");
  show_files(terminal, done);
  if (ended_by_itself(done)) return;
  auto end = text_field(done, "end"), message = text_field(done, "message");
  terminal.note(terminal.paint_err(Style::red, "ended: " + end) + (message.empty() ? "" : ": " + message));
}

}  // namespace sk::cli
