#include "server/settings_table.h"

#include <algorithm>
#include <type_traits>

#include "base/error.h"
#include "server/settings_rules.h"

namespace sk::server {

namespace {

using namespace rules;

void expand(std::string& path, const std::string& home) {
  if (path.starts_with("~/")) path = home + path.substr(1);
}

void expand(std::vector<std::string>& paths, const std::string& home) {
  for (auto& path : paths) expand(path, home);
}

template <class Field, class Rule>
SettingRow make_row(Field Settings::* field, std::string_view name, const Rule& rule) {
  SettingRow row;
  row.info.name = name;
  row.info.value = rule.value();
  row.info.expected = rule.expected();
  row.is_list = std::is_same_v<Field, std::vector<std::string>>;
  row.is_switch = requires { Rule::kIsSwitch; };
  row.is_secret = requires { Rule::kIsSecret; };
  row.info.is_flag = !row.is_secret;
  row.info.in_file = name != "config";
  row.assign = [field, rule](Settings& settings, std::string_view text) {
    auto value = rule.parse(text);
    if (value) settings.*field = std::move(*value);
    return value.has_value();
  };
  if constexpr (requires { Rule::kIsPath; })
    row.expand_home = [field](Settings& settings, const std::string& home) { expand(settings.*field, home); };
  return row;
}

std::vector<SettingRow> make_rows() {
  std::vector<SettingRow> rows;
  std::string_view group;
  auto add = [&](SettingRow row, std::string_view default_text, std::string_view about) {
    row.info.group = group;
    row.info.default_text = default_text;
    row.info.about = about;
    rows.push_back(std::move(row));
  };
#define SK_GROUP(title, about) group = title;
#define SK_SETTING(type, name, rule, default_text, about) \
  add(make_row(&Settings::name, #name, rule), default_text, about);
#include "server/settings.def"
  return rows;
}

}  // namespace

const std::vector<SettingRow>& setting_rows() {
  static const std::vector<SettingRow> rows = make_rows();
  return rows;
}

const std::vector<SettingGroup>& setting_groups() {
  static const std::vector<SettingGroup> groups = {
#define SK_GROUP(title, about) {title, about},
#define SK_SETTING(type, name, rule, default_text, about)
#include "server/settings.def"
  };
  return groups;
}

const std::vector<SettingInfo>& all_settings() {
  static const std::vector<SettingInfo> infos = [] {
    std::vector<SettingInfo> out;
    for (const auto& row : setting_rows()) out.push_back(row.info);
    return out;
  }();
  return infos;
}

Settings::Settings() {
  for (const auto& row : setting_rows())
    SK_CHECK(row.assign(*this, row.info.default_text), "the default of " + std::string(row.info.name));
}

std::string SettingInfo::flag() const {
  std::string out = "--" + std::string(name);
  std::replace(out.begin(), out.end(), '_', '-');
  return out;
}

std::string SettingInfo::variable() const {
  std::string out = "SANDKEEP_" + std::string(name);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return out;
}

}  // namespace sk::server
