#include "cli/client/execution.h"

#include <iostream>

#include "base/error.h"
#include "base/text.h"
#include "cli/client/fields.h"
#include "cli/frame/columns.h"

namespace sk::cli {

namespace {

// Parses server-sent events incrementally.
class Events {
 public:
  explicit Events(std::function<void(const std::string& name, const Json& data)> take)
      : take_(std::move(take)) {}
  void feed(std::string_view bytes) {
    text_ += bytes;
    for (size_t end; (end = text_.find("\n\n")) != std::string::npos; text_.erase(0, end + 2))
      event(text_.substr(0, end));
  }

 private:
  void event(const std::string& block) {
    std::string name, data;
    for (auto line : split(block, '\n')) {
      if (line.starts_with("event:")) name = trim(line.substr(6));
      if (line.starts_with("data:")) data += line.substr(line.starts_with("data: ") ? 6 : 5);
    }
    if (!data.empty()) take_(name, Json::parse(data));
  }

  const std::function<void(const std::string&, const Json&)> take_;
  std::string text_;
};

}  // namespace

Json run_code(Remote& remote, const std::string& session, Json body, const ExecutionEvents& events) {
  body["stream"] = true;
  Json done;
  Events stream([&](const std::string& name, const Json& data) {
    if (name == "done")
      done = data;
    else if (name == "output")
      events.on_output(data);
    else if (name == "started")
      events.on_start(text_field(data, "id"));
  });
  auto request = request_to("POST", "/api/v1/sessions/" + percent_encode(session) + "/executions");
  request.headers.set("Content-Type", "application/json");
  request.headers.set("Accept", "text/event-stream");
  request.body = to_text(body);
  request.body_sink = [&](std::string_view bytes) {
    stream.feed(bytes);
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

void show_files(Terminal& terminal, const Json& done) {
  for (const auto& item : list_field(done, "added"))
    terminal.note("added  " + printable(text_field(item, "path")));
  for (const auto& file : list_field(done, "kept"))
    terminal.note("kept  " + printable(text_field(file, "path")) + "  " +
                  terminal.paint_err(Style::blue, text_field(file, "link")));
  for (const auto& item : list_field(done, "not_kept"))
    terminal.note(terminal.paint_err(Style::yellow, "not kept") + "  " + printable(text_field(item, "path")) +
                  ": " + text_field(item, "message"));
}

void show_end(Terminal& terminal, const Json& done) {
  if (ended_by_itself(done)) return;
  terminal.note(terminal.paint_err(Style::red, "ended by " + text_field(done, "end")) + ": " +
                text_field(done, "message"));
}

}  // namespace sk::cli
