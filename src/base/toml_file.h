// Reads a flat TOML file (settings, a saved login) into plain texts. The only place that knows toml++.
#pragma once

#include <string>
#include <vector>

namespace sk {

struct TomlEntry {
  std::string key;
  std::string text;  // a number or boolean as TOML writes it; an array's items joined by commas
  unsigned line = 0;
};

// Throws Error(bad_request), naming file and line, when the file cannot be read, is not TOML, or holds what
// no setting can be: tables, dates, fractions, arrays of anything but strings.
std::vector<TomlEntry> read_toml_file(const std::string& path);

}  // namespace sk
