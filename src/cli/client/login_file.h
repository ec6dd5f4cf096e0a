// The saved login: which server, with which key. One small TOML file of the user, mode 0600.
#pragma once

#include <optional>
#include <string>

#include "base/environment.h"

namespace sk::cli {

struct SavedLogin {
  std::string server;
  std::string key;
  std::string workspace;  // empty: the server's default
  std::string ca_file;    // empty: the system's authorities only
};

// $XDG_CONFIG_HOME/sandkeep/config.toml, else ~/.config/sandkeep/config.toml; "" when there is no home.
std::string login_file_path(const Environment& environment);

// nullopt when there is no such file. Throws Error(bad_request), naming the line, when it cannot be
// understood.
std::optional<SavedLogin> read_login(const std::string& path);
// Makes the folders; the file has mode 0600 from its first byte on.
void write_login(const std::string& path, const SavedLogin& login);

}  // namespace sk::cli
