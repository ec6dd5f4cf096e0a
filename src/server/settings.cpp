#include "server/settings.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/fd.h"
#include "base/text.h"
#include "base/toml_file.h"
#include "server/settings_table.h"

namespace sk::server {

namespace {

constexpr std::string_view kPrefix = "SANDKEEP_";

constexpr auto kClientVariables = std::to_array<ClientVariable>({
    {"SANDKEEP_SERVER", "Address of the server that commands such as `put` and `ls` talk to."},
    {"SANDKEEP_KEY", "The key that they send."},
    {"SANDKEEP_WORKSPACE", "The workspace that they use when none is named."},
    {"SANDKEEP_LOCK", "Token of a lock that they write under; `sandkeep lock run` sets it."},
    {"SANDKEEP_LOCK_WORKSPACE",
     "Id of the workspace of that lock: the token is sent there only; `sandkeep lock run` sets it."},
    {"SANDKEEP_CA_FILE",
     "Certificate authority (PEM) to trust in addition to the system's, for `--tls self-signed`."},
});

// One value from one source. Sources are applied in order of precedence.
struct Assignment {
  const SettingRow* row;
  std::string text;
  std::string source;  // as written by the operator: "--data", "SANDKEEP_DATA", "sandkeep.toml line 3: data"
};

std::string normalized(std::string_view name) {
  std::string out = ascii_lower(name);
  std::replace(out.begin(), out.end(), '-', '_');
  return out;
}

const SettingRow* find_row(std::string_view name) {
  for (const auto& row : setting_rows())
    if (row.info.name == name) return &row;
  return nullptr;
}

// Prefers a name that contains the other ("quota" for "quota_default_bytes") over names with a small edit
// distance.
const SettingRow& nearest_row(std::string_view name) {
  auto distance = [&](const SettingRow& row) {
    auto known = row.info.name;
    bool is_part = name.size() >= 3 &&
                   (known.find(name) != std::string_view::npos || name.find(known) != std::string_view::npos);
    return std::pair(is_part ? 0 : 1, edit_distance(name, known));
  };
  const auto& rows = setting_rows();
  return *std::min_element(rows.begin(), rows.end(),
                           [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
}

[[noreturn]] void throw_unknown(const std::string& written, const std::string& nearest) {
  throw Error(Code::bad_request, "unknown setting " + written + "; did you mean " + nearest + "?")
      .hint("docs/settings.md lists all settings, 'sandkeep serve --help' too.");
}

std::vector<Assignment> from_arguments(std::span<const std::string> arguments) {
  std::vector<Assignment> out;
  std::set<std::string_view> seen;
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string_view argument = arguments[i];
    if (!argument.starts_with("--") || argument.size() == 2)
      throw Error(Code::bad_request, "unexpected argument '" + std::string(argument) + "'")
          .hint("Flags are written '--name value'.");
    auto equals = argument.find('=');
    auto written = std::string(argument.substr(0, equals));
    auto name = normalized(std::string_view(written).substr(2));
    const auto* row = find_row(name);
    if (row == nullptr) throw_unknown(written, nearest_row(name).info.flag());
    if (!row->info.is_flag)
      throw Error(Code::bad_request,
                  written + " is not a flag, because other users of the machine can read flags")
          .hint("Set " + row->info.variable() + ", or " + std::string(row->info.name) + " in the TOML file.");
    std::string text;
    if (equals != std::string_view::npos)
      text = argument.substr(equals + 1);
    else if (row->is_switch)  // the value is optional: '--log-requests' and '--log-requests off' are both
                              // valid
      text = i + 1 < arguments.size() && !arguments[i + 1].starts_with("--") ? arguments[++i] : "on";
    else if (++i < arguments.size())
      text = arguments[i];
    else
      throw Error(Code::bad_request, written + " needs a value: " + row->info.expected);
    bool repeated = !seen.insert(row->info.name).second;
    if (repeated && !row->is_list) throw Error(Code::bad_request, written + " is given twice");
    auto earlier = std::find_if(out.begin(), out.end(), [&](const auto& a) { return a.row == row; });
    if (repeated)
      earlier->text += "," + text;
    else
      out.push_back({row, text, written});
  }
  return out;
}

// Kubernetes sets these variables in every container if a service is named "sandkeep".
bool is_from_kubernetes(std::string_view name, std::string_view value) {
  return name.starts_with("SANDKEEP_SERVICE_") ||
         (name.starts_with("SANDKEEP_PORT_") && name.find("_TCP") != std::string_view::npos) ||
         (name == "SANDKEEP_PORT" && value.starts_with("tcp://"));
}

std::vector<Assignment> from_environment(const Environment& environment) {
  std::vector<Assignment> out;
  for (auto it = environment.lower_bound(kPrefix); it != environment.end() && it->first.starts_with(kPrefix);
       ++it) {
    const auto& [variable, value] = *it;
    bool is_client = std::any_of(kClientVariables.begin(), kClientVariables.end(),
                                 [&](const auto& v) { return v.name == variable; });
    if (is_client || is_from_kubernetes(variable, value)) continue;
    auto name = normalized(std::string_view(variable).substr(kPrefix.size()));
    const auto* row = find_row(name);
    if (row == nullptr || variable != row->info.variable())
      throw_unknown(variable, nearest_row(name).info.variable());
    // Compose files pass unset variables as empty ones.
    if (!value.empty()) out.push_back({row, value, variable});
  }
  return out;
}

void check_secret_file(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) == 0 && (info.st_mode & 077) != 0)
    throw Error(Code::bad_request, path + " holds root_key, but other users may read it")
        .hint("Run: chmod 600 '" + path + "'");
}

std::vector<Assignment> from_file(const std::string& path, bool in_data_folder) {
  std::vector<Assignment> out;
  for (const auto& setting : read_toml_file(path)) {
    auto source = path + " line " + std::to_string(setting.line) + ": " + setting.key;
    auto name = normalized(setting.key);
    const auto* row = find_row(name);
    if (row == nullptr) throw_unknown(source, std::string(nearest_row(name).info.name));
    if (!row->info.in_file) throw Error(Code::bad_request, source + " can only be a flag or a variable");
    if (in_data_folder && name == "data")
      throw Error(Code::bad_request, source + " cannot be set by a file in the data folder")
          .hint("Set it with --data or SANDKEEP_DATA, or keep the file elsewhere and name it with --config.");
    if (row->is_secret) check_secret_file(path);
    out.push_back({row, setting.text, source});
  }
  return out;
}

void assign_all(Settings& settings, const std::vector<Assignment>& assignments) {
  for (const auto& [row, text, source] : assignments) {
    if (row->assign(settings, text)) continue;
    auto shown = row->is_secret ? "the value" : "'" + text + "'";
    throw Error(Code::bad_request, source + ": " + shown + " is not " + row->info.expected);
  }
}

void expand_home(Settings& settings, const Environment& environment) {
  auto home = environment.find("HOME");
  if (home == environment.end() || home->second.empty()) {
    if (settings.data.starts_with("~/"))
      throw Error(Code::bad_request, "HOME is not set, so there is no default data folder")
          .hint("Name one with --data DIR.");
    return;
  }
  for (const auto& row : setting_rows())
    if (row.expand_home) row.expand_home(settings, home->second);
}

void require(bool holds, const std::string& message) {
  if (!holds) throw Error(Code::bad_request, message);
}

void check_together(const Settings& s) {
  require(!s.data.empty(), "data: the path is empty");
  require(s.tls_cert.empty() == s.tls_key.empty(), "tls_cert and tls_key must be set together");
  require(s.tls == Tls::off || s.tls_cert.empty(), "tls = self-signed and tls_cert exclude each other");
  require(s.root_key.empty() || s.root_key_file.empty(), "root_key and root_key_file exclude each other");
  require(s.lock_ttl_min_s <= s.lock_ttl_max_s, "lock_ttl_min_s is larger than lock_ttl_max_s");
  require(s.session_memory_default_bytes <= s.session_memory_max_bytes,
          "session_memory_default_bytes is larger than session_memory_max_bytes");
  require(s.execution_timeout_default_s <= s.execution_timeout_max_s,
          "execution_timeout_default_s is larger than execution_timeout_max_s");
}

void read_root_key(Settings& settings) {
  if (settings.root_key_file.empty()) return;
  constexpr size_t kFileBytesMax = 4096;
  auto content = read_file(settings.root_key_file, kFileBytesMax);
  auto line = trim(std::string_view(content).substr(0, content.find('\n')));
  if (line.empty() || !find_row("root_key")->assign(settings, line))
    throw Error(Code::bad_request, "the first line of " + settings.root_key_file + " is not " +
                                       find_row("root_key")->info.expected);
}

}  // namespace

std::span<const ClientVariable> client_variables() { return kClientVariables; }

Settings load_settings(std::span<const std::string> arguments, const Environment& environment) {
  auto flags = from_arguments(arguments);
  auto variables = from_environment(environment);

  // Flags and variables give the path of the file. Then all sources are applied again in order, the file
  // first.
  Settings settings;
  assign_all(settings, variables);
  assign_all(settings, flags);
  expand_home(settings, environment);
  std::vector<Assignment> file;
  if (!settings.config.empty()) {
    file = from_file(settings.config, false);
  } else if (auto path = settings.data + "/sandkeep.toml"; std::filesystem::exists(path)) {
    file = from_file(path, true);
  }

  settings = Settings();
  assign_all(settings, file);
  assign_all(settings, variables);
  assign_all(settings, flags);
  expand_home(settings, environment);
  check_together(settings);
  read_root_key(settings);
  return settings;
}

}  // namespace sk::server
