// What an operator can set, as one typed struct. The table in server/settings.def is the only list of
// settings: it makes this struct, the flags, the SANDKEEP_* variables, the keys of the TOML file and
// docs/settings.md, so that they cannot disagree.
//
// Loaded once by main, then constant; whoever needs a setting gets the value, not the struct, wherever that
// is short enough.
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

struct Settings {
  // All defaults, as if nothing had been set; "~/" in paths is not expanded yet.
  Settings();

#define SK_GROUP(title, about)
#define SK_SETTING(type, name, rule, default_text, about) type name{};
#include "server/settings.def"
};

// One row of the table, for help texts and documents.
struct SettingInfo {
  std::string_view name;   // "lock_ttl_max_s"
  std::string_view group;  // "Workspaces"
  std::string value;       // what stands for a value in help: "DIR", "SIZE", "on|off"
  std::string expected;    // what is accepted, as a phrase: "a size from 1 KiB to 1 MiB"
  std::string_view default_text;
  std::string_view about;
  bool is_flag;  // false: must not stand on the command line
  bool in_file;  // false: must not stand in the TOML file

  std::string flag() const;      // "--lock-ttl-max-s"
  std::string variable() const;  // "SANDKEEP_LOCK_TTL_MAX_S"
};

const std::vector<SettingInfo>& all_settings();

// Flags win over variables, variables over the file, the file over defaults. `arguments` are those after the
// command's name: "--data DIR",
// "--data=DIR"; a list is separated by commas, or its flag repeated. Names may be written with dashes or
// underscores.
//
// Throws Error(bad_request) that says what is wrong and what is expected: for an unknown setting in any of
// the three (naming the nearest known one), for a bad value, for settings that contradict each other, for a
// file that cannot be read.
Settings load_settings(std::span<const std::string> arguments, const Environment& environment);

// Variables of the command-line client, which are therefore not unknown to the server.
struct ClientVariable {
  std::string_view name, about;
};
std::span<const ClientVariable> client_variables();

}  // namespace sk::server
