// Reads a flat TOML file (settings, a saved login) into plain strings. Only this room uses toml++.
#pragma once

#include <string>
#include <vector>

namespace sk {

struct TomlEntry {
  std::string key;
  std::string text;  // number or boolean in TOML syntax; array items joined by commas
  unsigned line = 0;
};

// Throws Error(bad_request), naming the file and line, when the file cannot be read or is not TOML. Does the
// same for values that no setting can have: tables, dates, fractions, arrays of anything but strings.
std::vector<TomlEntry> read_toml_file(const std::string& path);

}  // namespace sk
