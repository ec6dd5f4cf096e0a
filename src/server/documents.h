// Generates documents from the tables of settings and errors. Pure functions; any thread.
#pragma once

#include <string>

namespace sk::server {

// Returns the text for `sandkeep serve --help`: one line per setting, by group.
std::string describe_settings_help();
// Return docs/settings.md and docs/errors.md.
std::string describe_settings_markdown();
std::string describe_errors_markdown();

}  // namespace sk::server
