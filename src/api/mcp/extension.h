// An addition to the MCP server at /mcp. The program for users has none; the one that runs the protocol's
// conformance suite adds its fixtures.
#pragma once

#include <optional>
#include <string>

#include "api/mcp/tool.h"

namespace sk::api::mcp {

// Any thread. Tools and resources of the server's own come first.
class Extension {
 public:
  virtual ~Extension() = default;

  virtual const Tools& tools() const = 0;
  // Entries of the three lists.
  virtual Json resources() const = 0;
  virtual Json templates() const = 0;
  virtual Json prompts() const = 0;
  // Returns one content; nullopt when the URI is not of this extension.
  virtual std::optional<Json> read(const std::string& uri) const = 0;
  // Returns the result; nullopt when the name is not of this extension.
  virtual std::optional<Json> get_prompt(Turn& turn, const std::string& name, const Json& given) const = 0;
};

}  // namespace sk::api::mcp
