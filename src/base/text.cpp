#include "base/text.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>

namespace sk {

namespace {

constexpr std::string_view kHex = "0123456789abcdef";
constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kBase64Url = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string encode64(Bytes bytes, std::string_view alphabet) {
  std::string out;
  out.reserve((bytes.size() * 4 + 2) / 3);
  uint32_t bits = 0;
  int count = 0;
  for (std::byte b : bytes) {
    bits = (bits << 8) | static_cast<uint8_t>(b);
    count += 8;
    while (count >= 6) {
      count -= 6;
      out += alphabet[(bits >> count) & 63];
    }
  }
  if (count > 0) out += alphabet[(bits << (6 - count)) & 63];
  return out;
}

std::optional<std::string> decode64(std::string_view text, std::string_view alphabet) {
  std::array<int8_t, 256> values;
  values.fill(-1);
  for (size_t i = 0; i < alphabet.size(); ++i)
    values[static_cast<uint8_t>(alphabet[i])] = static_cast<int8_t>(i);
  if (text.size() % 4 == 1) return std::nullopt;
  std::string out;
  out.reserve(text.size() * 3 / 4);
  uint32_t bits = 0;
  int count = 0;
  for (char c : text) {
    int value = values[static_cast<uint8_t>(c)];
    if (value < 0) return std::nullopt;
    bits = (bits << 6) | static_cast<uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      out += static_cast<char>((bits >> count) & 255);
    }
  }
  if (count > 0 && (bits & ((1u << count) - 1)) != 0) return std::nullopt;
  return out;
}

std::string encode_percent(std::string_view text, bool keep_slash) {
  std::string out;
  out.reserve(text.size());
  for (char c : text) {
    bool unreserved = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '-' || c == '.' || c == '_' || c == '~' || (keep_slash && c == '/');
    if (unreserved) {
      out += c;
    } else {
      auto b = static_cast<uint8_t>(c);
      out += '%';
      out += "0123456789ABCDEF"[b >> 4];
      out += "0123456789ABCDEF"[b & 15];
    }
  }
  return out;
}

}  // namespace

std::string to_hex(Bytes bytes) {
  std::string out;
  out.reserve(bytes.size() * 2);
  for (std::byte b : bytes) {
    out += kHex[static_cast<uint8_t>(b) >> 4];
    out += kHex[static_cast<uint8_t>(b) & 15];
  }
  return out;
}

std::optional<std::string> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::string out;
  out.reserve(text.size() / 2);
  for (size_t i = 0; i < text.size(); i += 2) {
    int high = hex_value(text[i]);
    int low = hex_value(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
  }
  return out;
}

std::string to_base64url(Bytes bytes) { return encode64(bytes, kBase64Url); }
std::optional<std::string> from_base64url(std::string_view text) { return decode64(text, kBase64Url); }

std::string to_base64(Bytes bytes) {
  std::string out = encode64(bytes, kBase64);
  out.append((4 - out.size() % 4) % 4, '=');
  return out;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  for (int padding = 0; padding < 2 && !text.empty() && text.back() == '='; ++padding) text.remove_suffix(1);
  return decode64(text, kBase64);
}

std::string percent_encode(std::string_view text) { return encode_percent(text, false); }
std::string percent_encode_path(std::string_view path) { return encode_percent(path, true); }

std::optional<std::string> percent_decode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    int high = hex_value(text[i + 1]);
    int low = hex_value(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

bool is_utf8(std::string_view text) {
  size_t i = 0;
  while (i < text.size()) {
    auto c = static_cast<uint8_t>(text[i]);
    size_t length = c < 0x80 ? 1 : (c >> 5) == 6 ? 2 : (c >> 4) == 14 ? 3 : (c >> 3) == 30 ? 4 : 0;
    if (length == 0 || i + length > text.size()) return false;
    uint32_t point = length == 1 ? c : c & (0xFFu >> (length + 1));
    for (size_t k = 1; k < length; ++k) {
      auto next = static_cast<uint8_t>(text[i + k]);
      if ((next & 0xC0) != 0x80) return false;
      point = (point << 6) | (next & 0x3Fu);
    }
    constexpr std::array<uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
    if (point < kLeast[length] || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) return false;
    i += length;
  }
  return true;
}

std::string ascii_lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  return out;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    auto at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::optional<uint64_t> parse_unsigned(std::string_view text) {
  if (text.empty() || text.size() > 20) return std::nullopt;
  uint64_t value = 0;
  for (char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    auto digit = static_cast<uint64_t>(c - '0');
    if (value > (std::numeric_limits<uint64_t>::max() - digit) / 10) return std::nullopt;
    value = value * 10 + digit;
  }
  return value;
}

std::optional<uint64_t> parse_size(std::string_view text) {
  text = trim(text);
  size_t digits = 0;
  while (digits < text.size() && ((text[digits] >= '0' && text[digits] <= '9') || text[digits] == '.'))
    ++digits;
  auto number_text = text.substr(0, digits);
  std::string unit = ascii_lower(trim(text.substr(digits)));
  if (number_text.find_first_not_of('.') == std::string_view::npos) return std::nullopt;
  constexpr std::string_view kUnits = "kmgtp";
  double scale = 1;
  if (!unit.empty() && unit != "b") {
    auto power = kUnits.find(unit[0]);
    if (power == std::string_view::npos) return std::nullopt;
    auto rest = std::string_view(unit).substr(1);
    if (!rest.empty() && rest != "b" && rest != "ib") return std::nullopt;
    for (size_t i = 0; i <= power; ++i) scale *= rest == "b" ? 1000 : 1024;
  }
  if (number_text.find('.') == std::string_view::npos) {
    auto whole = parse_unsigned(number_text);
    if (!whole || static_cast<double>(*whole) * scale > 9e18) return std::nullopt;
    return *whole * static_cast<uint64_t>(scale);
  }
  if (std::count(number_text.begin(), number_text.end(), '.') != 1 || number_text.size() > 18)
    return std::nullopt;
  double value = std::stod("0" + std::string(number_text) + "0") * scale;
  if (value > 9e18) return std::nullopt;
  return static_cast<uint64_t>(value);
}

std::string counted(int64_t count, std::string_view one, std::string_view many) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : many);
}

std::string human_size(uint64_t bytes) {
  constexpr std::array kNames = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < kNames.size()) {
    value /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 || value >= 100 ? "%.0f %s" : "%.1f %s", value, kNames[unit]);
  return text;
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string html_escape(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 8);
  for (char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

static bool is_inside_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

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

}  // namespace sk
