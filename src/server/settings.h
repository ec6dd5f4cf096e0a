// The operator's settings as one typed struct. The table in server/settings.def is the only list of settings.
// This struct, the flags, the SANDKEEP_* variables, the keys of the TOML file and docs/settings.md are
// generated from it.
//
// main loads them once; they are constant afterwards. Pass single values instead of the struct where
// possible.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/address.h"
#include "base/environment.h"
#include "base/log.h"

namespace sk::server {

enum class Tls { off, self_signed };
enum class SandboxMode { required, weak, off };
enum class LimitsMode { exact, approximate };

struct Settings {
  // All defaults; "~/" in paths is not expanded yet.
  Settings();

#define SK_GROUP(title, about)
#define SK_SETTING(type, name, rule, default_text, about) type name{};
#include "server/settings.def"
};

// One row of the table, for help texts and documents.
struct SettingInfo {
  std::string_view name;   // "lock_ttl_max_s"
  std::string_view group;  // "Workspaces"
  std::string value;       // placeholder in help texts: "DIR", "SIZE", "on|off"
  std::string expected;    // accepted values, as a phrase: "a size from 1 KiB to 1 MiB"
  std::string_view default_text;
  std::string_view about;
  bool is_flag;  // false: not allowed on the command line
  bool in_file;  // false: not allowed in the TOML file

  std::string flag() const;      // "--lock-ttl-max-s"
  std::string variable() const;  // "SANDKEEP_LOCK_TTL_MAX_S"
};

const std::vector<SettingInfo>& all_settings();

// Loads the settings. Flags override variables, variables override the file, and the file overrides defaults.
// `arguments` are those after the command's name: "--data DIR" or "--data=DIR". A list is separated by
// commas, or its flag is repeated. Names may be written with dashes or underscores.
//
// Throws Error(bad_request) with the problem and the expected value. Causes: an unknown setting (the error
// names the most similar one), a bad value, contradictory settings, an unreadable file.
Settings load_settings(std::span<const std::string> arguments, const Environment& environment);

// Variables of the command-line client. The server accepts them as known.
struct ClientVariable {
  std::string_view name, about;
};
std::span<const ClientVariable> client_variables();

}  // namespace sk::server
