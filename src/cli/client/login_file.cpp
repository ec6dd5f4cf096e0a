#include "cli/client/login_file.h"

#include <filesystem>

#include "base/error.h"
#include "base/fd.h"
#include "base/toml_file.h"

namespace sk::cli {

namespace {

std::string* field_named(SavedLogin& login, std::string_view name) {
  if (name == "server") return &login.server;
  if (name == "key") return &login.key;
  if (name == "workspace") return &login.workspace;
  if (name == "ca_file") return &login.ca_file;
  return nullptr;
}

void append_row(std::string& out, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  out += name;
  out += " = \"";
  for (char c : value) {
    if (static_cast<unsigned char>(c) < 0x20)
      throw Error(Code::bad_request, "the " + std::string(name) + " contains a control character");
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += "\"\n";
}

}  // namespace

std::string login_file_path(const Environment& environment) {
  auto value = [&](std::string_view name) {
    auto at = environment.find(name);
    return at == environment.end() ? std::string() : at->second;
  };
  auto folder = value("XDG_CONFIG_HOME");
  if (folder.empty()) {
    auto home = value("HOME");
    if (home.empty()) return "";
    folder = home + "/.config";
  }
  return folder + "/sandkeep/config.toml";
}

std::optional<SavedLogin> read_login(const std::string& path) {
  std::error_code ignored;
  if (path.empty() || !std::filesystem::exists(path, ignored)) return std::nullopt;
  SavedLogin login;
  for (const auto& row : read_toml_file(path)) {
    auto* field = field_named(login, row.key);
    if (field == nullptr)
      throw Error(Code::bad_request, path + " line " + std::to_string(row.line) + ": unknown key '" +
                                         row.key + "'; known are server, key, workspace, ca_file");
    *field = row.text;
  }
  return login;
}

void write_login(const std::string& path, const SavedLogin& login) {
  if (path.empty())
    throw Error(Code::bad_request, "cannot save the login: neither XDG_CONFIG_HOME nor HOME is set");
  std::string text =
      "# Written by 'sandkeep login'. The key has all rights of its owner: keep this file private.\n";
  append_row(text, "server", login.server);
  append_row(text, "key", login.key);
  append_row(text, "workspace", login.workspace);
  append_row(text, "ca_file", login.ca_file);
  std::error_code failed;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), failed);
  if (failed) throw system_error("cannot make the folder of " + path, failed.value());
  write_file_durably(path, text, 0600);
}

}  // namespace sk::cli
