// Running code: /code/execute (family A) and /executions (family B, Python or shell, waiting or not).
#include "api/azure/azure.h"
#include "api/azure/session.h"
#include "api/common/await.h"
#include "api/common/need_interpreter.h"
#include "api/common/shapes.h"
#include "api/vendor/output_text.h"
#include "base/text.h"
#include "workspace/links.h"

namespace sk::api::azure {

namespace {

using http::Reply;
using interpreter::Execution;
using interpreter::ExecutionStatus;
using interpreter::Outcome;
using interpreter::RunningExecution;
using interpreter::SessionInfo;

constexpr size_t kKeptInAnswerMax = 1'000;

const Fields& input_fields() {
  static const Fields fields = {
      {.name = "codeInputType", .about = "Inline, InlineText or InlineBase64. Default: Inline."},
      {.name = "executionType", .about = "Synchronous or Asynchronous. Default: Synchronous."},
      {.name = "code", .about = "Python."},
      {.name = "pythonCode", .about = "The same, under the name that early clients use."},
      {.name = "shellCommand", .about = "A shell command instead."},
      {.name = "timeoutInSeconds", .type = FieldType::integer, .about = "Timeout in seconds."},
      {.name = "outputStreamsMaxLength", .type = FieldType::integer, .about = "Limit on stdout and stderr."},
      {.name = "identifier", .about = "The session, if the query does not name it."}};
  return fields;
}

// The request of a client, from the fields that both families share.
struct Input {
  interpreter::NewExecution run;
  bool waits = true;
  std::optional<std::string> identifier;
};

[[noreturn]] void throw_field(const Body& body, std::string_view name, const std::string& expected) {
  throw Error(Code::bad_request, "'" + body.label(name) + "' must be " + expected)
      .with("field", body.label(name));
}

// Python clients send enums in lower case; .NET clients do not.
std::string lower_text(const Body& body, std::string_view name) {
  return ascii_lower(body.text(name).value_or(""));
}

std::string read_code(const Body& body) {
  auto given = body.text("code");
  if (!given) given = body.text("pythonCode");
  if (!given) throw_field(body, "code", "given");
  auto type = lower_text(body, "codeInputType");
  if (type.empty() || type == "inline" || type == "inlinetext") return *given;
  if (type != "inlinebase64") throw_field(body, "codeInputType", "Inline, InlineText or InlineBase64");
  auto decoded = from_base64(trim(*given));
  if (!decoded) throw_field(body, "code", "base64, as codeInputType says");
  return *decoded;
}

Input read_input(const Call& call, const Body& body) {
  Input input;
  input.run.base_url = call.request.base_url;
  input.identifier = body.text("identifier");
  if (auto command = body.text("shellCommand")) {
    input.run.code = *command;
    input.run.language = "bash";
  } else {
    input.run.code = read_code(body);
  }
  auto type = lower_text(body, "executionType");
  if (!type.empty() && type != "synchronous" && type != "asynchronous")
    throw_field(body, "executionType", "Synchronous or Asynchronous");
  input.waits = type != "asynchronous";
  input.run.accepted = !input.waits;
  if (auto seconds = body.integer("timeoutInSeconds"))
    input.run.timeout_s =
        within(*seconds, 1, call.app.settings.execution_timeout_max_s, body.label("timeoutInSeconds"));
  return input;
}

// Lists the files that an execution kept, with permanent links. Azure's own answers have no such list.
Json kept_json(const Execution& execution, const SessionInfo& session, const std::string& base_url) {
  Json out = Json::array();
  const size_t shown = execution.files.kept_to_show(kKeptInAnswerMax);
  for (size_t i = 0; i < shown; ++i) {
    const auto& file = execution.files.kept[i];
    out.push_back({{"filename", session_path(session, file.path)},
                   {"size", file.size},
                   {"contentType", file.mime},
                   {"link", base_url + workspace::Links::path_of(file.version, file.path)}});
  }
  return out;
}

int64_t run_ms(const Execution& execution) { return execution.timings.value("run_us", int64_t{0}) / 1000; }

void add_headers(Reply& reply, const Execution& execution) {
  reply.headers.set("operation-id", execution.id.hex());
  reply.headers.set("x-ms-session-guid", execution.session.hex());
  reply.headers.set("x-ms-execution-request-time", to_iso8601(execution.created_us));
  if (execution.status != ExecutionStatus::done) return;
  reply.headers.set("x-ms-container-execution-duration", std::to_string(run_ms(execution)));
  reply.headers.set("x-ms-overall-execution-time",
                    std::to_string((execution.ended_us - execution.created_us) / kMillisecondUs));
}

// ---- Family A

// Converts the repr of a number, a truth value or a text to JSON, as the hosted service does: "42" is 42,
// "'text'" is text. Anything else stays a repr.
Json plain_value(const std::string& text) {
  if (text == "True" || text == "False") return text == "True";
  if (text.size() >= 2 && text.front() == '\'' && text.back() == '\'' && text.find('\\') == std::string::npos)
    return text.substr(1, text.size() - 2);
  Json value = Json::parse(text, nullptr, false);
  // Keeps Python's spelling when JSON would write the number differently: 1e3, a huge integer.
  return value.is_number() && value.dump() == text ? value : Json(text);
}

Json result_value(const OutputText& shown) {
  if (shown.image)
    return {{"type", "image"},
            {"format", shown.image->mime.substr(shown.image->mime.find('/') + 1)},
            {"base64_data", shown.image->base64}};
  return shown.value ? plain_value(*shown.value) : Json("");
}

Json family_a_json(const Execution& execution, const SessionInfo& session, const std::string& base_url) {
  auto shown = output_text(execution, session);
  Json result = result_value(shown);
  return {{"$id", "1"},
          {"properties",
           {{"$id", "2"},
            {"status", execution.outcome == Outcome::ok ? "Success" : "Failure"},
            {"stdout", shown.printed},
            {"stderr", shown.errors},
            {"result", result},
            {"executionResult", result},
            {"executionTimeInMilliseconds", run_ms(execution)},
            {"operationId", execution.id.hex()},
            {"woke", execution.woke},
            {"files", kept_json(execution, session, base_url)}}}};
}

// ---- Family B

std::string status_of(const Execution& execution) {
  if (execution.status == ExecutionStatus::queued) return "NotStarted";
  if (execution.status != ExecutionStatus::done) return "Running";
  if (execution.outcome == Outcome::ok) return "Succeeded";
  bool stopped = execution.outcome == Outcome::interrupted || execution.outcome == Outcome::revoked;
  return stopped ? "Canceled" : "Failed";
}

// Shell pools return the exit code in place of the status.
std::string exit_status_of(const Execution& execution) {
  constexpr int kTimedOut = 124, kKilled = 137;  // as timeout(1) and the shell report them
  if (execution.status != ExecutionStatus::done) return status_of(execution);
  if (execution.exit_code) return std::to_string(*execution.exit_code);
  if (execution.outcome == Outcome::ok) return "0";
  if (execution.outcome == Outcome::error) return "1";
  return std::to_string(execution.outcome == Outcome::timeout ? kTimedOut : kKilled);
}

Json result_json(const Execution& execution, const SessionInfo& session, const OutputText& shown) {
  Json out = {{"stdout", shown.printed}, {"stderr", shown.errors}};
  if (execution.language == "bash") return out;
  // Always text: the .NET client reads a string here.
  std::string value = shown.value.value_or("");
  if (!shown.value && shown.image) value = "/mnt/data/" + session_path(session, shown.image->path);
  out["executionResult"] = value;
  out["executionTimeInMilliseconds"] = run_ms(execution);
  return out;
}

struct BodyOptions {
  std::string identifier;
  bool waits = true;
  std::optional<size_t> output_max;
};

Json family_b_json(const Execution& execution, const SessionInfo& session, const std::string& base_url,
                   const BodyOptions& options) {
  bool shell = execution.language == "bash";
  Json out = {{"id", execution.id.hex()},
              {"identifier", options.identifier},
              {"sessionId", session.id.hex()},
              {"executionType", options.waits ? "Synchronous" : "Asynchronous"},
              {"status", shell ? exit_status_of(execution) : status_of(execution)}};
  if (execution.status != ExecutionStatus::done) return out;
  auto shown = output_text(execution, session);
  if (options.output_max) {
    shown.printed = cut_text(shown.printed, *options.output_max);
    shown.errors = cut_text(shown.errors, *options.output_max);
  }
  out["result"] = result_json(execution, session, shown);
  if (!shell && execution.outcome != Outcome::ok) {
    // For a stopped program, the reason of the stop says more than the exception that ended it.
    auto reason = execution.outcome == Outcome::error ? shown.error_value : reason_of_end(execution);
    out["error"] = {
        {"code", shown.error_name.empty() ? std::string(outcome_name(execution)) : shown.error_name},
        {"message", shown.error_name.empty() ? reason_of_end(execution) : reason}};
  }
  out["woke"] = execution.woke;
  out["files"] = kept_json(execution, session, base_url);
  return out;
}

Reply wait_for(const AfterCall& call, const RunningExecution& running,
               std::function<Reply(const Execution&)> answer) {
  auto with_headers = [answer = std::move(answer)](const Execution& execution) {
    Reply reply = answer(execution);
    add_headers(reply, execution);
    return reply;
  };
  return await(call, running, {.answer = with_headers});
}

Reply execute_a(Call& call) {
  Body properties(input_fields(), call.body.object("properties"), "properties.", &call.ignored);
  Input input = read_input(call, properties);
  call.hold_connection();
  SessionInfo session = use_session(call, identifier_of(call, input.identifier));
  auto& interpreter = need_interpreter(call.app);
  auto queued = interpreter.execute(session_authority(call.app, call.actor, session.id), session.id,
                                    std::move(input.run));
  auto answer = [session, base_url = call.request.base_url](const Execution& execution) {
    return Reply::json(family_a_json(execution, session, base_url));
  };
  return when_known<RunningExecution>(call, queued,
                                      [after = AfterCall(call), answer](const RunningExecution& running) {
                                        return wait_for(after, running, answer);
                                      });
}

// Returns the addresses of executions: what comes before the id, and after it.
std::pair<std::string, std::string> operation_location(const Call& call, const std::string& identifier) {
  std::string after = "?identifier=" + percent_encode(identifier);
  if (auto version = call.query.text("api-version")) after += "&api-version=" + percent_encode(*version);
  return {pool_url(call) + "/executions/", std::move(after)};
}

Reply execute_b(Call& call) {
  Input input = read_input(call, call.body);
  BodyOptions options{identifier_of(call, input.identifier), input.waits, std::nullopt};
  if (auto most = call.body.integer("outputStreamsMaxLength"))
    options.output_max = static_cast<size_t>(within(*most, 0, INT64_MAX, "outputStreamsMaxLength"));
  call.hold_connection();
  SessionInfo session = use_session(call, options.identifier);
  auto& interpreter = need_interpreter(call.app);
  auto answer = [session, base_url = call.request.base_url, options,
                 location = operation_location(call, options.identifier)](const Execution& execution) {
    Reply reply = Reply::json(family_b_json(execution, session, base_url, options));
    reply.headers.set("Operation-Location", location.first + execution.id.hex() + location.second);
    return reply;
  };
  auto queued = interpreter.execute(session_authority(call.app, call.actor, session.id), session.id,
                                    std::move(input.run));
  return when_known<RunningExecution>(
      call, queued, [after = AfterCall(call), answer, waits = input.waits](const RunningExecution& running) {
        if (waits) return wait_for(after, running, answer);
        Reply reply = answer(running.asked);
        reply.status = 202;
        add_headers(reply, running.asked);
        return reply;
      });
}

// Returns the current state: from memory while the execution runs, otherwise from the record.
Execution need_execution(const Call& call, const SessionInfo& session) {
  auto& interpreter = call.app.interpreter;
  auto id = Id::from_hex(call.request.param("execution"));
  if (id) {
    auto authority = session_authority(call.app, call.actor, session.id);
    if (auto running = interpreter.find_running(authority, session.id, *id);
        running && !running->feed->finished()) {
      Execution execution = running->asked;
      execution.status = ExecutionStatus::running;
      return execution;
    }
    if (auto found = interpreter.find_execution(authority, session.id, *id)) return *found;
  }
  throw Error(Code::not_found, "the session has no execution '" + call.request.param("execution") + "'");
}

Reply get_execution(Call& call) {
  SessionInfo session = need_session(call);
  Execution execution = need_execution(call, session);
  BodyOptions options{identifier_of(call), false, std::nullopt};
  Reply reply = Reply::json(family_b_json(execution, session, call.request.base_url, options));
  add_headers(reply, execution);
  return reply;
}

}  // namespace

void add_execution_routes(Pools& pools) {
  pools.add({.method = "POST",
             .pattern = "/code/execute",
             .id = "azure_code_execute",
             .tag = "azure",
             .summary = "Runs Python and waits for the result",
             .body_kind = BodyKind::json,
             .body = {{.name = "properties",
                       .type = FieldType::object,
                       .about = "The code to run.",
                       .required = true}}},
            execute_a);
  pools.add({.method = "POST",
             .pattern = "/executions",
             .id = "azure_execute",
             .tag = "azure",
             .summary = "Runs Python or a shell command",
             .body_kind = BodyKind::json,
             .body = input_fields()},
            execute_b);
  pools.add({.method = "GET",
             .pattern = "/executions/{execution}",
             .id = "azure_get_execution",
             .tag = "azure",
             .summary = "One execution and its current state"},
            get_execution);
}

}  // namespace sk::api::azure
