// Fixtures that ask the client: by requests on the stream until 2025-11-25, by results that require input
// from 2026-07-28 on.
#include "api/mcp/hub.h"
#include "base/hash.h"
#include "base/text.h"
#include "mcp_fixtures/conformance.h"

namespace sk::api::mcp {

namespace {

Json text_result(std::string text) {
  return Json{{"content", Json::array({fixture::text_content(std::move(text))})}};
}

// Sends a request to the client and answers with its response; `told` makes the text.
std::optional<ToolResult> ask(ToolCall& call, std::string_view capability, std::string_view method,
                              Json params, std::function<std::string(const Json& result)> told) {
  if (!call.turn.session || !call.turn.client_can(capability))
    return failed("unsupported", "the client has no " + std::string(capability));
  auto channel = call.turn.open_channel([] {});
  channel->ask(
      method, std::move(params), [channel, envelope = call.turn.envelope, told](const RpcMessage& answer) {
        auto result = text_result(answer.error.is_null() ? told(answer.result) : "The client refused.");
        channel->finish(envelope.wrap(std::move(result)));
      });
  return std::nullopt;
}

std::optional<ToolResult> sampling(ToolCall& call) {
  Json message = {{"role", "user"}, {"content", fixture::text_content(call.text("prompt").value_or(""))}};
  return ask(call, "sampling", "sampling/createMessage",
             {{"messages", Json::array({std::move(message)})}, {"maxTokens", 100}}, [](const Json& result) {
               const auto& text = field_in(field_in(result, "content"), "text");
               return "LLM response: " + (text.is_string() ? text.get<std::string>() : to_text(result));
             });
}

std::optional<ToolResult> elicit(ToolCall& call, std::string message, Json properties, Json required) {
  Json schema = {
      {"type", "object"}, {"properties", std::move(properties)}, {"required", std::move(required)}};
  return ask(call, "elicitation", "elicitation/create",
             {{"message", std::move(message)}, {"requestedSchema", std::move(schema)}},
             [](const Json& result) {
               return "Elicitation completed: action=" + to_text(field_in(result, "action")) +
                      ", content=" + to_text(field_in(result, "content"));
             });
}

std::optional<ToolResult> elicit_defaults(ToolCall& call) {
  return elicit(call, "Please check these values", Json::parse(R"({
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": true}})"),
                Json::array());
}

std::optional<ToolResult> elicit_enums(ToolCall& call) {
  return elicit(call, "Please choose", Json::parse(R"({
    "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
    "titledSingle": {"type": "string", "oneOf": [{"const": "value1", "title": "First Option"},
                     {"const": "value2", "title": "Second Option"}, {"const": "value3", "title": "Third Option"}]},
    "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"],
                   "enumNames": ["Option One", "Option Two", "Option Three"]},
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
    "titledMulti": {"type": "array", "items": {"anyOf": [{"const": "value1", "title": "First Choice"},
                    {"const": "value2", "title": "Second Choice"}, {"const": "value3", "title": "Third Choice"}]}}})"),
                Json::array());
}

// Signed state that a client sends back unchanged in each round.
class States {
 public:
  States() : key_(random_base64url(32)) {}
  std::string sign(const std::string& state) const { return state + "." + hmac_sha256(key_, state).hex(); }
  // RpcError(invalid_params) for state that was not signed here.
  std::string open(const Json& sent) const {
    auto text = sent.is_string() ? sent.get<std::string>() : std::string();
    auto state = text.substr(0, text.find('.'));
    if (!equal_constant_time(text, sign(state)))
      throw RpcError(rpc_code::invalid_params, "requestState is not what this server gave", nullptr, 400);
    return state;
  }

 private:
  const std::string key_;
};

const Json& response(ToolCall& call, std::string_view key) {
  return field_in(field_in(call.turn.params(), "inputResponses"), key);
}

Json sampling_request(std::string_view prompt) {
  Json message = {{"role", "user"}, {"content", fixture::text_content(std::string(prompt))}};
  return {{"method", "sampling/createMessage"},
          {"params", {{"messages", Json::array({std::move(message)})}, {"maxTokens", 100}}}};
}

Json roots_request() { return {{"method", "roots/list"}, {"params", Json::object()}}; }

Json name_request(std::string_view question, std::string_view field) {
  std::string name(field);
  return fixture::elicitation(std::string(question), {{name, {{"type", "string"}}}}, Json::array({name}));
}

std::optional<ToolResult> wants_name(ToolCall& call) {
  const auto& name = field_in(field_in(response(call, "user_name"), "content"), "name");
  if (name.is_string()) return fixture::raw(text_result("Hello, " + name.get<std::string>() + "!"));
  return fixture::raw(fixture::input_required({{"user_name", name_request("What is your name?", "name")}}));
}

std::optional<ToolResult> wants_sampling(ToolCall& call) {
  if (const auto& answer = response(call, "capital_question"); answer.is_object())
    return fixture::raw(text_result(to_text(field_in(answer, "content"))));
  return fixture::raw(
      fixture::input_required({{"capital_question", sampling_request("What is the capital of France?")}}));
}

std::optional<ToolResult> wants_roots(ToolCall& call) {
  if (const auto& answer = response(call, "client_roots"); answer.is_object())
    return fixture::raw(text_result("Roots: " + to_text(field_in(answer, "roots"))));
  return fixture::raw(fixture::input_required({{"client_roots", roots_request()}}));
}

std::optional<ToolResult> wants_confirmation(ToolCall& call, const States& states) {
  const auto& state = field_in(call.turn.params(), "requestState");
  if (!state.is_null()) {
    states.open(state);
    if (response(call, "confirm").is_object()) return fixture::raw(text_result("state-ok"));
  }
  Json request = fixture::elicitation("Please confirm", {{"ok", {{"type", "boolean"}}}}, Json::array({"ok"}));
  auto result = fixture::input_required({{"confirm", std::move(request)}});
  result["requestState"] = states.sign("confirm");
  return fixture::raw(std::move(result));
}

std::optional<ToolResult> wants_several(ToolCall& call, const States& states) {
  bool complete = true;
  for (auto key : {"user_name", "greeting", "client_roots"})
    complete = complete && response(call, key).is_object();
  if (complete) {
    states.open(field_in(call.turn.params(), "requestState"));
    return fixture::raw(text_result("All there."));
  }
  auto result = fixture::input_required({{"user_name", name_request("What is your name?", "name")},
                                         {"greeting", sampling_request("Generate a greeting")},
                                         {"client_roots", roots_request()}});
  result["requestState"] = states.sign("several");
  return fixture::raw(std::move(result));
}

std::optional<ToolResult> wants_rounds(ToolCall& call, const States& states) {
  const auto& sent = field_in(call.turn.params(), "requestState");
  auto round = sent.is_null() ? std::string("none") : states.open(sent);
  if (round == "round-2" && response(call, "step2").is_object())
    return fixture::raw(text_result("All rounds done."));
  bool second = round == "round-1" && response(call, "step1").is_object();
  auto result =
      second ? fixture::input_required(
                   {{"step2", name_request("Step 2: What is your favorite color?", "color")}})
             : fixture::input_required({{"step1", name_request("Step 1: What is your name?", "name")}});
  result["requestState"] = states.sign(second ? "round-2" : "round-1");
  return fixture::raw(std::move(result));
}

std::optional<ToolResult> wants_what_client_can(ToolCall& call) {
  Json requests = Json::object();
  if (call.turn.client_can("sampling")) requests["sampled"] = sampling_request("Say anything");
  if (call.turn.client_can("elicitation")) requests["elicited"] = name_request("What is your name?", "name");
  if (requests.empty()) return fixture::raw(text_result("The client can do nothing."));
  return fixture::raw(fixture::input_required(std::move(requests)));
}

}  // namespace

Tools client_request_fixtures() {
  auto sample = fixture::tool("test_sampling", "Asks the client's model.", sampling);
  sample.input = {{"prompt", field::text("What to ask.")}};
  auto elicitation = fixture::tool("test_elicitation", "Asks the client's user.", [](ToolCall& call) {
    return elicit(
        call, call.text("message").value_or("Please answer"),
        {{"username", field::text("User's response")}, {"email", field::text("User's email address")}},
        Json::array({"username", "email"}));
  });
  elicitation.input = {{"message", field::text("What to ask.")}};
  return {sample, elicitation,
          fixture::tool("test_elicitation_sep1034_defaults", "Asks with default values.", elicit_defaults),
          fixture::tool("test_elicitation_sep1330_enums", "Asks with choices.", elicit_enums)};
}

Tools input_required_fixtures() {
  auto states = std::make_shared<const States>();
  auto with_states = [states](auto run) {
    return [states, run](ToolCall& call) { return run(call, *states); };
  };
  const std::string stem = "test_input_required_result_";
  return {fixture::tool("test_streaming_elicitation", "Asks for a name.", wants_name),
          fixture::tool(stem + "elicitation", "Asks for a name.", wants_name),
          fixture::tool(stem + "sampling", "Asks the client's model.", wants_sampling),
          fixture::tool(stem + "list_roots", "Asks for the client's roots.", wants_roots),
          fixture::tool(stem + "request_state", "Asks for confirmation.", with_states(wants_confirmation)),
          fixture::tool(stem + "tampered_state", "Asks for confirmation.", with_states(wants_confirmation)),
          fixture::tool(stem + "multiple_inputs", "Asks for several things.", with_states(wants_several)),
          fixture::tool(stem + "multi_round", "Asks twice.", with_states(wants_rounds)),
          fixture::tool(stem + "capabilities", "Asks for what the client can do.", wants_what_client_can)};
}

}  // namespace sk::api::mcp
