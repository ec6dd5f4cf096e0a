#include "api/librechat/tool_names.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace sk::api::librechat {

namespace {

constexpr std::array<std::string_view, 35> kPythonWords = {
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};

// LibreChat's list, then builtins without which neither a script nor the session's own shell could go on.
constexpr std::array<std::string_view, 40> kBashWords = {
    "if",       "then",   "else",  "elif",     "fi",     "case",  "esac",     "for",     "while",   "until",
    "do",       "done",   "in",    "function", "select", "time",  "coproc",   "declare", "typeset", "local",
    "readonly", "export", "unset", "return",   "exit",   "break", "continue", "builtin", "command", "source",
    "eval",     "exec",   "set",   "shift",    "trap",   "wait",  "alias",    "unalias", "enable",  "shopt"};

template <size_t N>
bool contains(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

std::string function_name(std::string_view tool, std::string_view language) {
  const bool is_bash = language == "bash";
  std::string name;
  for (char c : tool) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '-' || std::isspace(byte) != 0 || (is_bash && c == '.'))
      name += '_';
    else if (c == '_' || (byte < 0x80 && std::isalnum(byte) != 0))
      name += c;
  }
  if (is_bash && name.empty()) name = "tool";
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0) name.insert(0, 1, '_');
  bool is_reserved =
      is_bash ? contains(kBashWords, name) || name.starts_with("__sandkeep") : contains(kPythonWords, name);
  return is_reserved ? name + "_tool" : name;
}

}  // namespace sk::api::librechat
