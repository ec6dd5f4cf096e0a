// The server and the key of a command. Flags override the environment, and the environment overrides the
// saved login. A saved key is sent only to the server it was saved for.
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
  std::string workspace;  // empty: the key's default workspace
  std::string ca_file;
  bool is_guess = false;  // no server was named; this is the default address of serve
};

Target choose_target(const Arguments& arguments, const Environment& environment,
                     const std::optional<SavedLogin>& saved);

// Returns "http://localhost:8420" for "localhost:8420", without a trailing '/'. Error(bad_request) if the
// text is not an address.
std::string clean_server_url(std::string_view text);
// Returns the address on which `sandkeep serve` listens by default.
std::string default_server_url();

}  // namespace sk::cli
