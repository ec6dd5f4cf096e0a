// The saved login: a server, a key and a workspace, in the user's TOML file with mode 0600.
#pragma once

#include <optional>
#include <string>

#include "base/environment.h"

namespace sk::cli {

struct SavedLogin {
  std::string server;
  std::string key;
  std::string workspace;  // empty: the server's default
  std::string ca_file;    // empty: only the system's authorities
};

// Returns $XDG_CONFIG_HOME/sandkeep/config.toml, else ~/.config/sandkeep/config.toml; "" if there is no home
// directory.
std::string login_file_path(const Environment& environment);

// Returns nullopt if the file does not exist. Error(bad_request) with the line if it cannot be parsed.
std::optional<SavedLogin> read_login(const std::string& path);
// Creates missing folders. The file is created with mode 0600.
void write_login(const std::string& path, const SavedLogin& login);

}  // namespace sk::cli
