// POST /exec/programmatic: code that calls tools which only the client has. The execution waits in its
// session while the client runs them, so no code runs twice. The first request starts the execution and each
// further one brings results. Every answer contains the next calls or the result.
#include <map>
#include <unordered_map>

#include "api/common/await.h"
#include "api/common/need_interpreter.h"
#include "api/librechat/librechat.h"
#include "api/librechat/result.h"
#include "api/librechat/tool_names.h"
#include "api/vendor/output_text.h"
#include "base/json_reading.h"
#include "base/mutex.h"
#include "base/text.h"

namespace sk::api::librechat {

namespace {

using http::Reply;
using interpreter::Execution;
using interpreter::ExecutionEvent;
using interpreter::Outcome;
using interpreter::RunningExecution;
using interpreter::SessionInfo;
using interpreter::ToolsAsked;

constexpr size_t kToolsMax = 100;
constexpr int64_t kTimeoutDefaultMs = 300'000;

// The position in an execution: "SESSION.EXECUTION.EVENT". It is not secret, because it grants no access of
// its own.
struct Token {
  Id session, execution;
  int64_t event = 0;

  std::string text() const {
    return session.base64url21() + "." + execution.base64url21() + "." + std::to_string(event);
  }
  static std::optional<Token> parse(std::string_view text) {
    auto parts = split(text, '.');
    if (parts.size() != 3) return std::nullopt;
    auto session = Id::from_base64url21(parts[0]), execution = Id::from_base64url21(parts[1]);
    auto event = parse_unsigned(parts[2]);
    if (!session || !execution || !event || *event > INT32_MAX) return std::nullopt;
    return Token{*session, *execution, static_cast<int64_t>(*event)};
  }
};

// The file references of the requests that started executions, until these end. Any thread.
class Begun {
 public:
  void add(const Id& execution, std::shared_ptr<const Asked> asked) {
    MutexLock lock(mutex_);
    asked_[execution] = std::move(asked);
  }
  void forget(const Id& execution) {
    MutexLock lock(mutex_);
    asked_.erase(execution);
  }
  // Returns null after the execution has ended.
  std::shared_ptr<const Asked> find(const Id& execution) {
    MutexLock lock(mutex_);
    auto found = asked_.find(execution);
    return found == asked_.end() ? nullptr : found->second;
  }

 private:
  Mutex mutex_;
  std::unordered_map<Id, std::shared_ptr<const Asked>> asked_ SK_GUARDED_BY(mutex_);
};

std::string call_id(int64_t event, size_t index) {
  return "call_" + std::to_string(event) + "_" + std::to_string(index + 1);
}

// Normalizes the calls to names and objects, because they come from the sandbox and can be anything.
Json calls_json(const Json& calls, int64_t event) {
  Json out = Json::array();
  for (size_t i = 0; i < calls.size(); ++i) {
    const Json& one = calls[i];
    const Json& input = field_in(one, "input");
    out.push_back({{"id", call_id(event, i)},
                   {"name", text_in(one, "name")},
                   {"input", input.is_object() ? input : Json::object()}});
  }
  return out;
}

Json waiting_json(const Token& token, const Json& calls) {
  return {{"status", "tool_call_required"},
          {"session_id", token.session.base64url21()},
          {"continuation_token", token.text()},
          {"tool_calls", calls_json(calls, token.event)}};
}

Json finished_json(const Execution& execution, const Asked& asked, const std::string& base_url) {
  Json out = {{"status", execution.outcome == Outcome::ok ? "completed" : "error"}};
  Json result = result_json(execution, asked, base_url);
  for (const auto& [name, value] : result.items())
    if (name != "status") out[name] = value;
  if (execution.outcome != Outcome::ok) {
    std::string why = reason_of_end(execution);
    if (const auto* error = interpreter::error_in(execution.outputs)) why = error->name + ": " + error->value;
    out["error"] = why.empty() ? std::string(outcome_name(execution)) : why;
  }
  return out;
}

// Waits for the next calls after `after`, or for the end, whichever comes first.
Reply wait_for_next(const AfterCall& call, const RunningExecution& running, int64_t after,
                    std::shared_ptr<const Asked> asked, const std::string& base_url) {
  auto calls = [session = asked->session.id,
                id = running.id](const ExecutionEvent& event) -> std::optional<Reply> {
    const auto* asks = std::get_if<ToolsAsked>(&event.event);
    if (asks == nullptr) return std::nullopt;
    return Reply::json(waiting_json({session, id, event.number}, asks->calls));
  };
  auto answer = [asked, base_url](const Execution& execution) {
    return Reply::json(finished_json(execution, *asked, base_url));
  };
  return await(call, running, {.answer = answer, .by_event = calls, .after = after});
}

// Returns the tools with the names of their functions. Error(bad_request) if two have the same.
Json read_tools(const Body& body, const std::string& language) {
  const Json& tools = body.objects("tools");
  if (tools.empty() || tools.size() > kToolsMax)
    throw Error(Code::bad_request, "tools must be a list of 1 to 100 tools")
        .with("field", std::string("tools"));
  Json out = Json::array();
  std::map<std::string, std::string> tool_of;
  for (const auto& tool : tools) {
    auto name = tool.find("name");
    if (name == tool.end() || !name->is_string() || name->get_ref<const std::string&>().empty())
      throw Error(Code::bad_request, "every tool must have a name").with("field", std::string("tools"));
    auto function = function_name(name->get_ref<const std::string&>(), language);
    auto [same, is_new] = tool_of.emplace(function, name->get<std::string>());
    if (!is_new)
      throw Error(Code::bad_request, "the tools '" + cut_text(same->second, 100) + "' and '" +
                                         cut_text(name->get<std::string>(), 100) +
                                         "' would both be the function " + cut_text(function, 100))
          .with("field", std::string("tools"));
    Json one = {{"name", *name}, {"function", function}};
    for (const char* field : {"description", "parameters"})
      if (tool.contains(field)) one[field] = tool[field];
    out.push_back(std::move(one));
  }
  return out;
}

Reply begin(Call& call, const std::shared_ptr<Begun>& begun) {
  auto named = call.body.text("language");
  if (!named) named = call.body.text("lang");
  auto language = language_of(named.value_or("python"));
  auto code = call.body.text("code");
  if (!code || code->empty())
    throw Error(Code::bad_request, "Missing required field: code").with("field", std::string("code"));
  interpreter::NewExecution wanted;
  wanted.base_url = call.request.base_url;
  wanted.code = *code;
  wanted.language = language;
  wanted.tools = to_text(read_tools(call.body, language));
  wanted.announced = true;
  int64_t timeout_ms =
      within(call.body.integer("timeout").value_or(kTimeoutDefaultMs), 1, INT64_MAX / 2, "timeout");
  wanted.timeout_s = std::min((timeout_ms + 999) / 1000, call.app.settings.execution_timeout_max_s);
  call.hold_connection();
  auto asked = std::make_shared<const Asked>(prepare(call, call.body));
  auto& interpreter = need_interpreter(call.app);
  auto queued = interpreter.execute(session_authority(call.app, call.actor, asked->session.id),
                                    asked->session.id, std::move(wanted));
  return when_known<RunningExecution>(
      call, queued,
      [after = AfterCall(call), begun, asked,
       base_url = call.request.base_url](const RunningExecution& running) {
        begun->add(running.id, asked);
        running.feed->on_finish([begun, id = running.id](const Execution&) { begun->forget(id); });
        return wait_for_next(after, running, 0, asked, base_url);
      });
}

// The calls that an event asks for. The feed forgets them once it has later ones.
struct AskedCalls {
  Json calls;                 // null: not known
  bool are_answered = false;  // the code has asked for others since
};

// Returns the calls of the token's event.
AskedCalls calls_of(const RunningExecution& running, int64_t event) {
  AskedCalls found;
  auto follower = running.feed->follow(event - 1, [&](const ExecutionEvent& one) {
    const auto* asks = std::get_if<ToolsAsked>(&one.event);
    if (asks == nullptr) return;
    if (one.number == event) found.calls = asks->calls;
    if (one.number > event) found.are_answered = true;
  });
  running.feed->unfollow(follower);
  return found;
}

// Returns the results in the order of the calls. A missing result becomes an error in the code that waits for
// it.
Json results_json(const Json& calls, int64_t event, const Json& given) {
  Json out = Json::array();
  for (size_t i = 0; i < calls.size(); ++i) {
    Json result = {{"ok", false}, {"error", "the client sent no result for this call"}};
    for (const auto& one : given) {
      auto id = one.find("call_id");
      if (id == one.end() || *id != call_id(event, i)) continue;
      auto failed = one.find("is_error"), why = one.find("error_message"), value = one.find("result");
      if (failed != one.end() && failed->is_boolean() && failed->get<bool>())
        result["error"] = why != one.end() && why->is_string() ? *why : Json("tool execution failed");
      else
        result = {{"ok", true}, {"value", value == one.end() ? Json() : *value}};
    }
    out.push_back(std::move(result));
  }
  return out;
}

Asked only_session(SessionInfo session) {
  Asked asked;
  asked.session = std::move(session);
  return asked;
}

Reply go_on(Call& call, const std::string& text, Begun& begun) {
  auto& interpreter = need_interpreter(call.app);
  auto token = Token::parse(text);
  if (!token)
    throw Error(Code::bad_request, "Invalid continuation token")
        .with("field", std::string("continuation_token"));
  auto authority = session_authority(call.app, call.actor, token->session);
  auto running = interpreter.find_running(authority, token->session, token->execution);
  if (!running)
    throw Error(Code::not_found, "this execution is no longer running")
        .hint("Start it again with code and tools.");
  auto asked = begun.find(token->execution);
  if (!asked)
    asked = std::make_shared<const Asked>(only_session(interpreter.get(call.actor, token->session)));
  auto found = calls_of(*running, token->event);
  if (!found.calls.is_array() && !found.are_answered)
    throw Error(Code::bad_request, "Invalid continuation token")
        .with("field", std::string("continuation_token"));
  call.hold_connection();
  auto results = results_json(found.calls, token->event, call.body.objects("tool_results"));
  bool taken = !found.are_answered && interpreter.answer_tools(authority, token->session, token->execution,
                                                               token->event, std::move(results));
  // An execution that has already ended, for example by its timeout, is answered with its result.
  if (!taken && !running->feed->finished())
    throw Error(Code::conflict, "these calls have already been answered")
        .hint("Use the newest continuation token.");
  return wait_for_next(AfterCall(call), *running, token->event, asked, call.request.base_url);
}

Reply programmatic(Call& call, const std::shared_ptr<Begun>& begun) {
  auto token = call.body.text("continuation_token");
  return token && !token->empty() ? go_on(call, *token, *begun) : begin(call, begun);
}

}  // namespace

void add_programmatic_routes(Mounts& mounts) {
  auto begun = std::make_shared<Begun>();
  mounts.add(
      {.method = "POST",
       .pattern = "/exec/programmatic",
       .id = "librechat_programmatic",
       .tag = "librechat",
       .summary = "Runs code that calls the client's tools",
       .body_kind = BodyKind::json,
       .body = {{.name = "code", .about = "The code. Tools are async functions, or shell functions."},
                {.name = "lang", .about = "python or bash. Default: python."},
                {.name = "language", .about = "The same."},
                {.name = "tools", .type = FieldType::object_list, .about = "Their names and parameters."},
                {.name = "timeout", .type = FieldType::integer, .about = "Milliseconds."},
                {.name = "session_id", .about = "The session to run it in."},
                {.name = "runtime_session_hint", .about = "A name for the session."},
                {.name = "user_id", .about = "LibreChat's user."},
                {.name = "files", .type = FieldType::object_list, .about = "Files to copy into the session."},
                {.name = "continuation_token", .about = "The token from the answer that requested tools."},
                {.name = "tool_results",
                 .type = FieldType::object_list,
                 .about = "The results of the tools."}}},
      [begun](Call& call) { return programmatic(call, begun); });
}

}  // namespace sk::api::librechat
