// The documents that are written from tables.
#pragma once

#include <string>

namespace sk::server {

// For `sandkeep serve --help`: one line per setting, by group.
std::string describe_settings_help();
// docs/settings.md and docs/errors.md.
std::string describe_settings_markdown();
std::string describe_errors_markdown();

}  // namespace sk::server
