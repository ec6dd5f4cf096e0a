#include "mcp_fixtures/conformance.h"

#include "api/mcp/hub.h"
#include "base/text.h"

namespace sk::api::mcp {

namespace fixture {

const std::string_view kPng =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

Json text_content(std::string text) { return {{"type", "text"}, {"text", std::move(text)}}; }

Tool tool(std::string name, std::string about, std::function<std::optional<ToolResult>(ToolCall&)> run) {
  return {.name = std::move(name),
          .title = {},
          .about = std::move(about),
          .input = Json::object(),
          .output = nullptr,
          .reads_only = true,
          .run = std::move(run)};
}

ToolResult raw(Json result) {
  ToolResult out;
  out.raw = std::move(result);
  return out;
}

Json input_required(Json requests) {
  return {{"resultType", "input_required"}, {"inputRequests", std::move(requests)}};
}

Json elicitation(std::string message, Json properties, Json required) {
  return {
      {"method", "elicitation/create"},
      {"params",
       {{"mode", "form"},
        {"message", std::move(message)},
        {"requestedSchema",
         {{"type", "object"}, {"properties", std::move(properties)}, {"required", std::move(required)}}}}}};
}

}  // namespace fixture

namespace {

constexpr std::string_view kTemplateStart = "test://template/", kTemplateEnd = "/data";

Json prompt_json(std::string_view name, std::string_view about, std::vector<std::string> arguments = {}) {
  Json out = {{"name", name}, {"description", about}};
  for (const auto& argument : arguments)
    out["arguments"].push_back({{"name", argument}, {"description", "A value."}, {"required", true}});
  return out;
}

Json messages(std::vector<Json> contents) {
  Json out = Json::array();
  for (auto& content : contents) out.push_back({{"role", "user"}, {"content", std::move(content)}});
  return Json{{"messages", std::move(out)}};
}

}  // namespace

Conformance::Conformance() {
  for (auto group : {content_fixtures, client_request_fixtures, input_required_fixtures})
    for (auto& tool : group()) tools_.push_back(std::move(tool));
}

Json Conformance::resources() const {
  Json out = Json::array();
  out.push_back({{"uri", "test://static-text"},
                 {"name", "static-text"},
                 {"description", "A text."},
                 {"mimeType", "text/plain"}});
  out.push_back({{"uri", "test://static-binary"},
                 {"name", "static-binary"},
                 {"description", "A pixel."},
                 {"mimeType", "image/png"}});
  out.push_back({{"uri", "test://watched-resource"},
                 {"name", "watched"},
                 {"description", "To subscribe to."},
                 {"mimeType", "text/plain"}});
  return out;
}

Json Conformance::templates() const {
  Json one = {{"uriTemplate", "test://template/{id}/data"},
              {"name", "template"},
              {"description", "Data by id."},
              {"mimeType", "application/json"}};
  return Json::array({std::move(one)});
}

std::optional<Json> Conformance::read(const std::string& uri) const {
  auto text = [&](std::string_view mime, std::string content) {
    return Json{{"uri", uri}, {"mimeType", mime}, {"text", std::move(content)}};
  };
  if (uri == "test://static-text")
    return text("text/plain", "This is the content of the static text resource.");
  if (uri == "test://watched-resource") return text("text/plain", "Watched.");
  if (uri == "test://static-binary")
    return Json{{"uri", uri}, {"mimeType", "image/png"}, {"blob", fixture::kPng}};
  if (!uri.starts_with(kTemplateStart) || !uri.ends_with(kTemplateEnd)) return std::nullopt;
  if (uri.size() <= kTemplateStart.size() + kTemplateEnd.size()) return std::nullopt;
  auto id = uri.substr(kTemplateStart.size(), uri.size() - kTemplateStart.size() - kTemplateEnd.size());
  return text("application/json",
              to_text({{"id", id}, {"templateTest", true}, {"data", "Data for ID: " + id}}));
}

Json Conformance::prompts() const {
  return Json::array(
      {prompt_json("test_simple_prompt", "A prompt without arguments."),
       prompt_json("test_prompt_with_arguments", "A prompt with arguments.", {"arg1", "arg2"}),
       prompt_json("test_prompt_with_embedded_resource", "A prompt with a resource.", {"resourceUri"}),
       prompt_json("test_prompt_with_image", "A prompt with an image."),
       prompt_json("test_input_required_result_prompt", "A prompt that asks for more.")});
}

std::optional<Json> Conformance::get_prompt(Turn& turn, const std::string& name, const Json& given) const {
  if (name == "test_simple_prompt")
    return messages({fixture::text_content("This is a simple prompt for testing.")});
  if (name == "test_prompt_with_arguments")
    return messages({fixture::text_content("Prompt with arguments: arg1='" + text_in(given, "arg1") +
                                           "', arg2='" + text_in(given, "arg2") + "'")});
  if (name == "test_prompt_with_embedded_resource") {
    Json resource = {{"uri", text_in(given, "resourceUri")},
                     {"mimeType", "text/plain"},
                     {"text", "Embedded resource content for testing."}};
    return messages({Json{{"type", "resource"}, {"resource", std::move(resource)}},
                     fixture::text_content("Please process the embedded resource above.")});
  }
  if (name == "test_prompt_with_image")
    return messages({Json{{"type", "image"}, {"data", fixture::kPng}, {"mimeType", "image/png"}},
                     fixture::text_content("Please analyze the image above.")});
  if (name != "test_input_required_result_prompt") return std::nullopt;
  const auto& context =
      field_in(field_in(field_in(turn.params(), "inputResponses"), "user_context"), "content");
  if (!text_in(context, "context").empty())
    return messages({fixture::text_content("Context: " + text_in(context, "context"))});
  Json request = fixture::elicitation("What context should the prompt use?",
                                      {{"context", {{"type", "string"}}}}, Json::array({"context"}));
  return fixture::input_required({{"user_context", std::move(request)}});
}

}  // namespace sk::api::mcp
