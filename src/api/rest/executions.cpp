// Executions: runs code in a session. Clients wait for the result, follow the output as it arrives, or ask
// later.
#include "api/common/await.h"
#include "api/common/conditions.h"
#include "api/common/need_interpreter.h"
#include "api/common/repeats.h"
#include "api/common/shapes.h"
#include "api/rest/rest.h"
#include "api/rest/session_json.h"
#include "base/text.h"

namespace sk::api::rest {

namespace {

using http::Reply;
using interpreter::Event;
using interpreter::Execution;
using interpreter::ExecutionEvent;
using interpreter::RunningExecution;

// The name of the last event of a stream, which is also its id.
constexpr std::string_view kLastEvent = "done";

Json started_json(const Id& execution, bool woke, TimeUs started_us) {
  return {{"id", execution.with_prefix(workspace::prefix::execution)},
          {"woke", woke},
          {"started_at", to_iso8601(started_us)}};
}

// The name and data of a server-sent event. nullopt for the end, which carries the whole execution.
struct NamedEvent {
  std::string_view name;
  Json data;
};
std::optional<NamedEvent> named_event(const Event& event, const Id& execution, const std::string& base_url) {
  using Named = std::optional<NamedEvent>;
  return std::visit(
      interpreter::Visit{
          [&](const interpreter::Started& started) -> Named {
            return {{"started", started_json(execution, started.woke, started.started_us)}};
          },
          [](const interpreter::OutputAdded& added) -> Named {
            return {{"output", interpreter::to_json(added.output)}};
          },
          [](const interpreter::OutputsCleared&) -> Named { return {{"clear", Json::object()}}; },
          [&](const interpreter::FileKept& kept) -> Named {
            return {{"kept", kept_json(kept.file, base_url)}};
          },
          [](const interpreter::ToolsAsked& asked) -> Named { return {{"tools", asked.calls}}; },
          [](const interpreter::Ended&) -> Named { return std::nullopt; }},
      event);
}

void say_if_joined(Reply& reply, bool joined) {
  if (joined) reply.headers.set(std::string(kReplayedHeader), "true");
}

Reply wait_for(const AfterCall& call, const RunningExecution& running, const std::string& base_url) {
  auto answer = [base_url, joined = running.joined](const Execution& execution) {
    auto reply = Reply::json(execution_json(execution, base_url));
    say_if_joined(reply, joined);
    return reply;
  };
  return await(call, running, {.answer = answer});
}

Reply follow(const RunningExecution& running, const std::string& base_url, int64_t after) {
  auto follower = std::make_shared<std::atomic<uint64_t>>(0);
  std::weak_ptr<interpreter::ExecutionFeed> weak = running.feed;
  auto stream = std::make_shared<http::EventStream>([weak, follower] {
    if (auto feed = weak.lock(); feed && *follower != 0) feed->unfollow(*follower);
  });
  auto send = [stream, base_url, id = running.id](const ExecutionEvent& event) {
    if (auto named = named_event(event.event, id, base_url))
      stream->send({std::to_string(event.number), std::string(named->name), to_text(named->data)});
  };
  *follower = running.feed->follow(after, send);
  running.feed->on_finish([stream, base_url](const Execution& execution) {
    // An execution that is still queued has no last event yet. The client reconnects for it.
    if (execution.status == interpreter::ExecutionStatus::done)
      stream->send(
          {std::string(kLastEvent), std::string(kLastEvent), to_text(execution_json(execution, base_url))});
    stream->close();
  });
  auto reply = Reply::events(stream);
  say_if_joined(reply, running.joined);
  return reply;
}

Reply accepted(const RunningExecution& running, const Id& session, const std::string& base_url) {
  Reply reply = Reply::json(execution_json(running.feed->so_far(running.asked), base_url), 202);
  reply.headers.set("Location", kRoot + "/sessions/" + session.with_prefix(workspace::prefix::session) +
                                    "/executions/" + running.id.with_prefix(workspace::prefix::execution));
  say_if_joined(reply, running.joined);
  return reply;
}

Reply execute(Call& call) {
  interpreter::NewExecution wanted;
  wanted.base_url = call.request.base_url;
  wanted.code = call.body.need_text("code");
  wanted.language = call.body.text("language").value_or("python");
  wanted.timeout_s = call.body.integer("timeout_s");
  wanted.files = added_files(call.body, lock_tokens_from_headers(call.request.headers));
  Id session = session_id(call);
  bool streams = call.body.boolean("stream").value_or(call.wants_stream());
  bool waits = call.body.boolean("wait").value_or(true);
  wanted.accepted = !waits && !streams;
  wanted.announced = streams;
  read_idempotency_key(call.request.headers, wanted);
  auto& interpreter = need_interpreter(call.app);
  call.hold_connection();
  auto queued =
      interpreter.execute(session_authority(call.app, call.actor, session), session, std::move(wanted));
  return when_known<RunningExecution>(call, queued,
                                      [after = AfterCall(call), session, streams, waits,
                                       base_url = call.request.base_url](const RunningExecution& running) {
                                        if (streams) return follow(running, base_url, 0);
                                        if (!waits) return accepted(running, session, base_url);
                                        return wait_for(after, running, base_url);
                                      });
}

// Replays a finished execution from its record, because its events are no longer in memory. A client that
// already has some events only gets the last one, which holds the complete execution: the record has no event
// numbers from which to resume.
Reply told_at_once(const Execution& execution, const std::string& base_url, bool from_the_beginning) {
  auto stream = std::make_shared<http::EventStream>();
  if (from_the_beginning) {
    stream->send({"", "started", to_text(started_json(execution.id, execution.woke, execution.started_us))});
    for (const auto& output : execution.outputs)
      stream->send({"", "output", to_text(interpreter::to_json(output))});
    for (const auto& file : execution.files.kept)
      stream->send({"", "kept", to_text(kept_json(file, base_url))});
  }
  stream->send(
      {std::string(kLastEvent), std::string(kLastEvent), to_text(execution_json(execution, base_url))});
  stream->close();
  return Reply::events(stream);
}

Reply get_execution(Call& call) {
  Id session = session_id(call), id = execution_id(call);
  auto& interpreter = call.app.interpreter;
  auto authority = session_authority(call.app, call.actor, session);
  auto running = interpreter.find_running(authority, session, id);
  auto last = call.request.headers.get("Last-Event-ID");
  if (call.wants_stream() && last && *last == kLastEvent)
    return Reply::empty();  // tells an event stream client not to reconnect
  if (running && call.wants_stream()) {
    call.hold_connection();
    int64_t after = 0;
    if (last) after = static_cast<int64_t>(parse_unsigned(*last).value_or(0));
    return follow(*running, call.request.base_url, after);
  }
  if (running && !running->feed->finished()) {
    if (call.query.flag("wait")) {
      call.hold_connection();
      return wait_for(AfterCall(call), *running, call.request.base_url);
    }
    return Reply::json(execution_json(running->feed->so_far(running->asked), call.request.base_url));
  }
  auto execution = interpreter.find_execution(authority, session, id);
  if (!execution)
    throw Error(Code::not_found,
                "the session has no execution " + id.with_prefix(workspace::prefix::execution));
  if (call.wants_stream()) return told_at_once(*execution, call.request.base_url, !last);
  return Reply::json(execution_json(*execution, call.request.base_url));
}

Reply list_executions(Call& call) {
  size_t limit = call.limit(100);
  int64_t before = 0;
  if (auto cursor = call.query.text("cursor")) {
    auto number = parse_unsigned(*cursor);
    if (!number) throw Error(Code::bad_request, "the cursor is not valid");
    before = static_cast<int64_t>(*number);
  }
  Id session = session_id(call);
  auto page = call.app.interpreter.executions(session_authority(call.app, call.actor, session), session,
                                              before, limit);
  return Reply::json(page_json(
      page, [&](const Execution& execution) { return execution_json(execution, call.request.base_url); }));
}

Reply list_kept(Call& call) {
  size_t limit = call.limit(call.app.settings.list_page_max);
  int64_t after = 0;
  if (auto cursor = call.query.text("cursor"))
    after = static_cast<int64_t>(parse_unsigned(*cursor).value_or(0));
  workspace::Page<interpreter::KeptFile> page;
  auto& interpreter = call.app.interpreter;
  Id session = session_id(call);
  page.items = interpreter.kept_files(session_authority(call.app, call.actor, session), session,
                                      execution_id(call), after, limit + 1);
  if (page.items.size() > limit) {
    page.items.resize(limit);
    page.has_more = true;
    page.next_cursor = std::to_string(after + static_cast<int64_t>(limit));
  }
  return Reply::json(page_json(
      page, [&](const interpreter::KeptFile& file) { return kept_json(file, call.request.base_url); }));
}

Reply delete_executions(Call& call) {
  interpreter::RecordFilter filter{.ended_before_us = call.app.clock.now_us()};
  if (auto text = call.query.text("before")) filter.ended_before_us = parse_time(*text, "before");
  if (auto text = call.query.text("session"))
    filter.session = parse_id(*text, workspace::prefix::session, "session");
  auto done = session_directory(call.app).delete_records(call.open_workspace(workspace::Right::own), filter);
  return Reply::json({{"executions", done.executions},
                      {"sessions", done.sessions},
                      {"bytes", done.bytes},
                      {"has_more", done.has_more}});
}

}  // namespace

void add_execution_routes(Routes& routes) {
  const std::string executions = kRoot + "/sessions/{session}/executions";
  routes.add(
      {.method = "POST",
       .pattern = executions,
       .id = "execute",
       .tag = "sessions",
       .summary = "Runs code, and answers when it is done and its files are stored",
       .details = "With `stream` (or `Accept: text/event-stream`) output is sent as server-sent events while "
                  "the code runs; the last event, `done`, is the answer. A sleeping session is woken first, "
                  "and the answer says `woke`. With `Idempotency-Key`, a repeated request gets the execution "
                  "of the first one, and `Idempotent-Replayed: true`.",
       .body_kind = BodyKind::json,
       .body = {{.name = "code", .about = "A cell, as in a notebook.", .required = true},
                {.name = "language", .about = "Default: `python`.", .choices = {"python", "bash"}},
                {.name = "timeout_s",
                 .type = FieldType::integer,
                 .about = "Timeout in seconds. Default: the session's."},
                added_files_field(),
                {.name = "wait",
                 .type = FieldType::boolean,
                 .about = "false: answer at once; request the result later."},
                {.name = "stream", .type = FieldType::boolean, .about = "true: server-sent events."}},
       .answers = {{200, "It is done; `end` is the outcome.", "Execution"},
                   {202, "It is queued or running.", "Execution"}},
       .errors = {Code::forbidden, Code::not_found, Code::conflict, Code::gone, Code::precondition_failed,
                  Code::too_large, Code::locked, Code::too_many_requests, Code::unavailable,
                  Code::quota_exceeded},
       .opens_locks = true,
       .takes_idempotency_key = true},
      execute);
  routes.add(
      {.method = "GET",
       .pattern = executions,
       .id = "list_executions",
       .tag = "sessions",
       .summary =
           "Lists the executions of a session, newest first; the files are listed with each single execution",
       .query = page_fields(),
       .answers = {{200, "Executions.", "ExecutionPage"}},
       .errors = {Code::not_found, Code::unavailable}},
      list_executions);
  routes.add(
      {.method = "GET",
       .pattern = executions + "/{execution}",
       .id = "get_execution",
       .tag = "sessions",
       .summary = "Returns one execution; with `Accept: text/event-stream`, its output after `Last-Event-ID`",
       .query = {{.name = "wait", .type = FieldType::boolean, .about = "true: answer when it is done."}},
       .answers = {{200, "The execution and its current state.", "Execution"}},
       .errors = {Code::not_found, Code::too_many_requests, Code::unavailable}},
      get_execution);
  routes.add({.method = "GET",
              .pattern = executions + "/{execution}/kept",
              .id = "list_kept_files",
              .tag = "sessions",
              .summary = "Lists all files that an execution wrote",
              .query = page_fields(),
              .answers = {{200, "Files, in the order in which they were stored.", "KeptFilePage"}},
              .errors = {Code::not_found, Code::unavailable}},
             list_kept);
  routes.add(
      {.method = "POST",
       .pattern = executions + "/{execution}/cancel",
       .id = "cancel_execution",
       .tag = "sessions",
       .summary = "Interrupts an execution; variables are kept",
       .query = {{.name = "wait", .type = FieldType::boolean, .about = "true: answer when it has ended."}},
       .answers = {{200, "The execution, which ends soon.", "Execution"}},
       .errors = {Code::not_found, Code::forbidden, Code::too_many_requests, Code::unavailable}},
      [](Call& call) {
        auto& interpreter = need_interpreter(call.app);
        Id session = session_id(call);
        if (call.query.flag("wait") || call.wants_stream()) call.hold_connection();
        interpreter.cancel(session_authority(call.app, call.actor, session), session, execution_id(call));
        return get_execution(call);
      });
  routes.add({.method = "DELETE",
              .pattern = kWorkspace + "/executions",
              .id = "delete_executions",
              .tag = "sessions",
              .summary = "Deletes the records of finished executions for ever: code, outputs, lists of files",
              .details = "They count for the quota, also those of deleted sessions. The files that they "
                         "wrote stay; their versions still name the execution. Deleted sessions of which no "
                         "execution is left are forgotten as well. For the workspace's owner. A request "
                         "deletes at most some thousand records; `has_more` asks for another one.",
              .query = {{.name = "before", .about = "Only executions that ended before that time."},
                        {.name = "session", .about = "Only executions of this session."}},
              .answers = {{200, "How much was deleted.", "DeletedExecutions"}},
              .errors = {Code::not_found, Code::forbidden}},
             delete_executions);
}

}  // namespace sk::api::rest
