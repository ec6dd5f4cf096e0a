#include "cli/client/remote_path.h"

#include "base/path.h"

namespace sk::cli {

RemotePath parse_remote_path(std::string_view text) {
  RemotePath out;
  auto colon = text.find(':');
  if (colon != std::string_view::npos && colon < text.find('/')) {
    out.workspace = text.substr(0, colon);
    text.remove_prefix(colon + 1);
  }
  out.path = clean_path(text);
  out.as_folder = out.path.empty() || text.ends_with('/');
  return out;
}

std::string join_remote(std::string_view folder, std::string_view name) {
  return folder.empty() ? std::string(name) : std::string(folder) + "/" + std::string(name);
}

std::string_view last_name(std::string_view path) {
  auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

Glob split_glob(std::string_view path) {
  auto wildcard = path.find_first_of("*?[");
  if (wildcard == std::string_view::npos) return {.folder = std::string(path), .pattern = ""};
  auto slash = path.rfind('/', wildcard);
  bool has_folder = slash != std::string_view::npos;
  auto pattern = has_folder ? path.substr(slash + 1) : path;
  bool across = pattern.find('/') != std::string_view::npos || pattern.find("**") != std::string_view::npos;
  return {std::string(has_folder ? path.substr(0, slash) : ""), std::string(pattern), across};
}

}  // namespace sk::cli
