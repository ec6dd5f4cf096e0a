// The addresses of files as MCP's resources: sandkeep://workspace/{ws}/{path} for what is there now,
// sandkeep://version/{version} for exact bytes that stay.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/id.h"

namespace sk::api::mcp {

struct ResourceUri {
  std::string workspace;  // id or name; empty for a version
  std::string path;       // clean
  std::optional<Id> version;
};

// nullopt for what is not such an address.
std::optional<ResourceUri> parse_resource_uri(std::string_view uri);

std::string file_uri(const Id& workspace, std::string_view path);
std::string version_uri(const Id& version);

}  // namespace sk::api::mcp
