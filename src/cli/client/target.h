// Which server a command talks to, with which key. Flags win over the environment, the environment over the
// saved login; a saved key goes to the server it was saved for and to no other.
#pragma once

#include <optional>
#include <string>

#include "base/environment.h"
#include "cli/client/login_file.h"
#include "cli/frame/args.h"

namespace sk::cli {

struct Target {
  std::string server;     // "http://127.0.0.1:8420", without a trailing '/'
  std::string key;        // may be empty
  std::string workspace;  // may be empty: the key's default one
  std::string ca_file;
  bool is_guess = false;  // nobody named the server: it is serve's default address
};

Target choose_target(const Arguments& arguments, const Environment& environment,
                     const std::optional<SavedLogin>& saved);

// "localhost:8420" → "http://localhost:8420"; no trailing '/'. Throws Error(bad_request) for what is no
// address.
std::string clean_server_url(std::string_view text);
// Where `sandkeep serve` listens when it is told nothing.
std::string default_server_url();

}  // namespace sk::cli
