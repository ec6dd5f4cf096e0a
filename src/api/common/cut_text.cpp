#include "api/common/cut_text.h"

namespace sk::api {

namespace {

bool is_inside_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace

std::string cut_text(std::string_view text, size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  while (bytes_max > 0 && is_inside_character(text[bytes_max])) --bytes_max;
  return std::string(text.substr(0, bytes_max));
}

std::string last_text(std::string_view text, size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  size_t from = text.size() - bytes_max;
  while (from < text.size() && is_inside_character(text[from])) ++from;
  return std::string(text.substr(from));
}

}  // namespace sk::api
