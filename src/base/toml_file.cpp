#include "base/toml_file.h"

#include <toml++/toml.h>

#include "base/error.h"
#include "base/fd.h"

namespace sk {

namespace {

std::string at_line(const std::string& path, const toml::source_region& where) {
  return path + " line " + std::to_string(where.begin.line) + ": ";
}

std::string text_of(const std::string& path, std::string_view key, const toml::node& node) {
  if (auto text = node.as_string()) {
    if (text->get().find('\0') == std::string::npos) return text->get();
    throw Error(Code::bad_request, at_line(path, node.source()) + std::string(key) + " contains a zero byte");
  }
  if (auto number = node.as_integer()) return std::to_string(number->get());
  if (auto boolean = node.as_boolean()) return boolean->get() ? "true" : "false";
  if (auto array = node.as_array()) {
    std::string out;
    for (const auto& item : *array) {
      if (!item.is_string())
        throw Error(Code::bad_request,
                    at_line(path, item.source()) + std::string(key) + " must be a list of strings");
      out += (out.empty() ? "" : ",") + item.as_string()->get();
    }
    return out;
  }
  if (node.is_table())
    throw Error(Code::bad_request, at_line(path, node.source()) +
                                       "settings do not stand in tables: remove [" + std::string(key) +
                                       "] and write each as 'name = value'");
  throw Error(Code::bad_request,
              at_line(path, node.source()) + std::string(key) +
                  " must be a string, a whole number, true or false, or a list of strings");
}

}  // namespace

std::vector<TomlEntry> read_toml_file(const std::string& path) {
  constexpr size_t kFileBytesMax = 1 << 20;
  std::string content;
  try {
    content = read_file(path, kFileBytesMax);
  } catch (const Error& e) {
    throw Error(Code::bad_request, e.message()).advise(Advice::check_settings_file);
  }
  toml::table table;
  try {
    table = toml::parse(content, path);
  } catch (const toml::parse_error& e) {
    throw Error(Code::bad_request, at_line(path, e.source()) + std::string(e.description()));
  }
  std::vector<TomlEntry> entries;
  for (const auto& [key, node] : table)
    entries.push_back({std::string(key.str()), text_of(path, key.str(), node), node.source().begin.line});
  return entries;
}

}  // namespace sk
