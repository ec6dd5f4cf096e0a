// Fixtures for the protocol's official conformance suite: tools, resources and prompts with fixed answers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/mcp/extension.h"

namespace sk::api::mcp {

// Constant after construction; any thread.
class Conformance final : public Extension {
 public:
  Conformance();

  const Tools& tools() const override { return tools_; }
  Json resources() const override;
  Json templates() const override;
  Json prompts() const override;
  std::optional<Json> read(const std::string& uri) const override;
  std::optional<Json> get_prompt(Turn& turn, const std::string& name, const Json& given) const override;

 private:
  Tools tools_;
};

// The fixtures by kind.
Tools content_fixtures();         // text, images, logs, progress, errors
Tools client_request_fixtures();  // sampling and elicitation of the older protocol
Tools input_required_fixtures();  // the same in the newer protocol

namespace fixture {
extern const std::string_view kPng;  // one pixel, in base64
Json text_content(std::string text);
Tool tool(std::string name, std::string about, std::function<std::optional<ToolResult>(ToolCall&)> run);
ToolResult raw(Json result);
// Returns a result that asks the client for input.
Json input_required(Json requests);
Json elicitation(std::string message, Json properties, Json required);
}  // namespace fixture

}  // namespace sk::api::mcp
