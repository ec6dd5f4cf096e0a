// The table of server/settings.def at run time: for each setting its description and how to set it. Private
// to server/settings*.cpp.
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
  bool is_switch = false;  // its flag may stand alone
  bool is_secret = false;  // never repeated in messages
  // False, leaving the field alone, when the text is not what the rule expects.
  std::function<bool(Settings&, std::string_view text)> assign;
  // Replaces "~/" at the start of paths; empty for what is not a path.
  std::function<void(Settings&, const std::string& home)> expand_home;
};

const std::vector<SettingRow>& setting_rows();

struct SettingGroup {
  std::string_view title, about;
};
const std::vector<SettingGroup>& setting_groups();

}  // namespace sk::server
