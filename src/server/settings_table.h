// The table of server/settings.def at run time: the description of each setting and a function that assigns
// it. Private to server/settings*.cpp.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "server/settings.h"

namespace sk::server {

struct SettingRow {
  SettingInfo info;
  bool is_list = false;    // its flag may be repeated
  bool is_switch = false;  // its flag may have no value
  bool is_secret = false;  // never shown in messages
  // Returns false and leaves the field unchanged if the rule does not accept the text.
  std::function<bool(Settings&, std::string_view text)> assign;
  // Expands "~/" at the start of paths; empty if the setting is not a path.
  std::function<void(Settings&, const std::string& home)> expand_home;
};

const std::vector<SettingRow>& setting_rows();

struct SettingGroup {
  std::string_view title, about;
};
const std::vector<SettingGroup>& setting_groups();

}  // namespace sk::server
