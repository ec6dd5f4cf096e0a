#include "api/mcp/resource_uri.h"

#include "base/error.h"
#include "base/path.h"
#include "base/text.h"
#include "workspace/types.h"

namespace sk::api::mcp {

namespace {
constexpr std::string_view kWorkspace = "sandkeep://workspace/";
constexpr std::string_view kVersion = "sandkeep://version/";
}  // namespace

std::optional<ResourceUri> parse_resource_uri(std::string_view uri) {
  ResourceUri out;
  if (uri.starts_with(kVersion)) {
    uri.remove_prefix(kVersion.size());
    out.version = Id::from_prefixed(uri.substr(0, uri.find('/')), workspace::prefix::version);
    return out.version ? std::optional(out) : std::nullopt;
  }
  if (!uri.starts_with(kWorkspace)) return std::nullopt;
  uri.remove_prefix(kWorkspace.size());
  auto slash = uri.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  auto name = percent_decode(uri.substr(0, slash));
  auto path = percent_decode(uri.substr(slash + 1));
  if (!name || name->empty() || !path) return std::nullopt;
  try {
    out.path = clean_path(*path);
  } catch (const Error&) {
    return std::nullopt;
  }
  out.workspace = *name;
  return out;
}

std::string file_uri(const Id& workspace, std::string_view path) {
  std::string uri(kWorkspace);
  uri.append(workspace.with_prefix(workspace::prefix::workspace))
      .append("/")
      .append(percent_encode_path(path));
  return uri;
}

std::string version_uri(const Id& version) {
  std::string uri(kVersion);
  uri.append(version.with_prefix(workspace::prefix::version));
  return uri;
}

}  // namespace sk::api::mcp
