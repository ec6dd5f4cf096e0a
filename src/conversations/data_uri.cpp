#include "conversations/data_uri.h"

#include <array>
#include <utility>

#include "base/text.h"

namespace sk::conversations {

namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kExtensions = {{
    {"image/png", ".png"},
    {"image/jpeg", ".jpg"},
    {"image/gif", ".gif"},
    {"image/webp", ".webp"},
    {"image/svg+xml", ".svg"},
    {"image/bmp", ".bmp"},
    {"image/tiff", ".tiff"},
    {"application/pdf", ".pdf"},
    {"application/json", ".json"},
    {"text/csv", ".csv"},
    {"text/html", ".html"},
    {"text/plain", ".txt"},
}};

bool is_mime(std::string_view text) {
  auto slash = text.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == text.size()) return false;
  for (char c : text) {
    bool known = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                 std::string_view("/+-._!#$&^").find(c) != std::string_view::npos;
    if (!known) return false;
  }
  return text.find('/', slash + 1) == std::string_view::npos && text.size() <= 127;
}

// Accepts base64 and base64url, with or without padding and line breaks.
std::optional<std::string> decode_loosely(std::string_view text) {
  std::string packed;
  packed.reserve(text.size());
  for (char c : text) {
    if (c == '=' || std::isspace(static_cast<unsigned char>(c)) != 0) continue;
    packed += c == '+' ? '-' : c == '/' ? '_' : c;
  }
  return from_base64url(packed);
}

}  // namespace

std::optional<DataUri> parse_data_uri(std::string_view text) {
  if (text.size() < 5 || ascii_lower(text.substr(0, 5)) != "data:") return std::nullopt;
  text.remove_prefix(5);
  auto comma = text.find(',');
  if (comma == std::string_view::npos) return std::nullopt;
  auto head = ascii_lower(text.substr(0, comma));
  auto body = text.substr(comma + 1);
  DataUri out;
  out.mime = std::string(trim(std::string_view(head).substr(0, head.find(';'))));
  if (out.mime.empty()) out.mime = "text/plain";
  if (!is_mime(out.mime)) return std::nullopt;
  auto bytes = head.ends_with(";base64") ? decode_loosely(body) : percent_decode(body);
  if (!bytes) return std::nullopt;
  out.bytes = std::move(*bytes);
  return out;
}

std::string extension_of(std::string_view mime) {
  for (const auto& [known, extension] : kExtensions) {
    if (known == mime) return std::string(extension);
  }
  return ".bin";
}

}  // namespace sk::conversations
