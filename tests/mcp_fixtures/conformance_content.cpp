// Fixtures that answer with content, at once or step by step.
#include "api/mcp/hub.h"
#include "mcp_fixtures/conformance.h"

namespace sk::api::mcp {

namespace {

using Step = std::function<void(Channel&)>;

constexpr std::chrono::milliseconds kPause{50};
constexpr std::string_view kWav = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";
constexpr int kInfo = 1;

Json content(std::vector<Json> blocks) {
  Json out = Json::array();
  for (auto& block : blocks) out.push_back(std::move(block));
  return Json{{"content", std::move(out)}};
}

Json image() { return {{"type", "image"}, {"data", fixture::kPng}, {"mimeType", "image/png"}}; }

Json resource(std::string_view uri, std::string_view mime, std::string_view text) {
  return {{"type", "resource"}, {"resource", {{"uri", uri}, {"mimeType", mime}, {"text", text}}}};
}

Tool fixed(std::string name, std::string about, Json result) {
  return fixture::tool(std::move(name), std::move(about),
                       [result = std::move(result)](ToolCall&) { return fixture::raw(result); });
}

// Runs the steps with pauses between them. The last step sends the answer.
void run_steps(App& app, std::shared_ptr<Channel> channel, std::shared_ptr<std::vector<Step>> steps,
               size_t next) {
  (*steps)[next](*channel);
  if (next + 1 == steps->size()) return;
  app.background.run_after(kPause,
                           [&app, channel, steps, next] { run_steps(app, channel, steps, next + 1); });
}

void start_steps(ToolCall& call, std::vector<Step> steps, std::string text) {
  steps.push_back([envelope = call.turn.envelope, text](Channel& channel) {
    channel.finish(envelope.wrap(content({fixture::text_content(text)})));
  });
  auto channel = call.turn.open_channel([] {});
  run_steps(call.app(), channel, std::make_shared<std::vector<Step>>(std::move(steps)), 0);
}

std::optional<ToolResult> with_logging(ToolCall& call) {
  std::vector<Step> steps;
  for (auto text : {"Tool execution started", "Tool processing data", "Tool execution completed"}) {
    bool wanted = call.turn.wants_log(kInfo);
    steps.push_back([wanted, text](Channel& channel) {
      if (wanted)
        channel.notify("notifications/message", {{"level", "info"}, {"logger", "test"}, {"data", text}});
    });
  }
  start_steps(call, std::move(steps), "Tool with logging executed successfully");
  return std::nullopt;
}

std::optional<ToolResult> with_progress(ToolCall& call) {
  std::vector<Step> steps;
  for (int progress : {0, 50, 100}) {
    steps.push_back([token = call.turn.progress_token(), progress](Channel& channel) {
      if (token.is_null()) return;
      channel.notify("notifications/progress",
                     {{"progressToken", token}, {"progress", progress}, {"total", 100}});
    });
  }
  start_steps(call, std::move(steps), "Tool with progress executed successfully");
  return std::nullopt;
}

std::optional<ToolResult> reconnection(ToolCall& call) {
  std::vector<Step> steps = {[](Channel&) {}, [](Channel& channel) { channel.cut(); }, [](Channel&) {}};
  start_steps(call, std::move(steps), "Reconnection test completed");
  return std::nullopt;
}

std::optional<ToolResult> missing_capability(ToolCall& call) {
  if (!call.turn.client_can("sampling"))
    throw RpcError(rpc_code::missing_capability, "this tool needs the client's sampling",
                   {{"requiredCapabilities", {{"sampling", Json::object()}}}}, 400);
  return fixture::raw(content({fixture::text_content("The client can sample.")}));
}

Tool schema_tool() {
  auto tool = fixed("json_schema_2020_12_tool", "Tool with JSON Schema 2020-12 features",
                    content({fixture::text_content("Done.")}));
  tool.raw_input = Json::parse(R"({
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": {"$anchor": "addressDef", "type": "object",
                          "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
    "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"},
                   "contactMethod": {"type": "string", "enum": ["phone", "email"]},
                   "phone": {"type": "string"}, "email": {"type": "string"}},
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": false
  })");
  return tool;
}

Tool header_tool() {
  auto tool = fixed("test_header_parameter", "Takes an argument that a header repeats.",
                    content({fixture::text_content("Done.")}));
  tool.input = {{"region", {{"type", "string"}, {"description", "Any text."}, {"x-mcp-header", "Region"}}}};
  return tool;
}

}  // namespace

Tools content_fixtures() {
  Json failure = content({fixture::text_content("This tool intentionally returns an error for testing")});
  failure["isError"] = true;
  return {
      fixed("test_simple_text", "Answers with text.",
            content({fixture::text_content("This is a simple text response for testing.")})),
      fixed("test_image_content", "Answers with an image.", content({image()})),
      fixed("test_audio_content", "Answers with sound.",
            content({Json{{"type", "audio"}, {"data", kWav}, {"mimeType", "audio/wav"}}})),
      fixed("test_embedded_resource", "Answers with a resource.",
            content({resource("test://embedded-resource", "text/plain",
                              "This is an embedded resource content.")})),
      fixed("test_multiple_content_types", "Answers with several kinds of content.",
            content({fixture::text_content("Multiple content types test:"), image(),
                     resource("test://mixed-content-resource", "application/json",
                              R"({"test":"data","value":123})")})),
      fixed("test_error_handling", "Always fails.", failure),
      fixture::tool("test_tool_with_logging", "Logs three times.", with_logging),
      fixture::tool("test_logging_tool", "Logs three times.", with_logging),
      fixture::tool("test_tool_with_progress", "Reports progress three times.", with_progress),
      fixture::tool("test_reconnection", "Cuts its stream before it answers.", reconnection),
      fixture::tool("test_missing_capability", "Needs the client's sampling.", missing_capability),
      schema_tool(),
      header_tool(),
  };
}

}  // namespace sk::api::mcp
