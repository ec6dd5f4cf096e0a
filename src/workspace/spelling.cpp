#include "workspace/spelling.h"

#include <utf8proc.h>

#include <cstdlib>

namespace sk::workspace {

namespace {

std::optional<std::string> mapped(std::string_view text, int form) {
  utf8proc_uint8_t* bytes = nullptr;
  auto length = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                             static_cast<utf8proc_ssize_t>(text.size()), &bytes,
                             static_cast<utf8proc_option_t>(UTF8PROC_STABLE | form));
  if (length < 0) return std::nullopt;
  std::string result(reinterpret_cast<char*>(bytes), static_cast<size_t>(length));
  std::free(bytes);
  return result;
}

bool is_ascii(std::string_view text) {
  for (char c : text) {
    if (static_cast<unsigned char>(c) >= 0x80) return false;
  }
  return true;
}

}  // namespace

std::optional<std::string> composed(std::string_view text) { return mapped(text, UTF8PROC_COMPOSE); }
std::optional<std::string> decomposed(std::string_view text) { return mapped(text, UTF8PROC_DECOMPOSE); }

std::optional<std::string> other_spelling(std::string_view text) {
  if (is_ascii(text)) return std::nullopt;
  auto result = composed(text);
  if (result && *result == text) result = decomposed(text);
  return result && *result != text ? result : std::nullopt;
}

}  // namespace sk::workspace
