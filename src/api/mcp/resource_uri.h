// URIs of files as MCP resources. sandkeep://workspace/{ws}/{path} names the current content;
// sandkeep://version/{version} names permanent bytes. Pure functions; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/id.h"

namespace sk::api::mcp {

struct ResourceUri {
  std::string workspace;  // id or name; empty for a version
  std::string path;       // normalized
  std::optional<Id> version;
};

// Returns nullopt for any other URI.
std::optional<ResourceUri> parse_resource_uri(std::string_view uri);

std::string file_uri(const Id& workspace, std::string_view path);
std::string version_uri(const Id& version);

}  // namespace sk::api::mcp
