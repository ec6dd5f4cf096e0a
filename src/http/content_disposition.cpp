#include "http/content_disposition.h"

#include <array>

#include "base/text.h"

namespace sk::http {

namespace {

bool is_plain(char c) {
  auto b = static_cast<unsigned char>(c);
  return b >= 0x20 && b < 0x7f && c != '"' && c != '\\' && c != '%' && c != '/';
}

// Reverts the escapes that browsers and curl apply in forms to characters that would end the quoted string.
std::string undo_form_escapes(std::string text) {
  constexpr std::array<std::pair<std::string_view, char>, 3> kEscapes = {
      {{"%22", '"'}, {"%0D", '\r'}, {"%0A", '\n'}}};
  for (const auto& [escape, character] : kEscapes) {
    for (size_t at = text.find(escape); at != std::string::npos; at = text.find(escape, at + 1))
      text.replace(at, escape.size(), 1, character);
  }
  return text;
}

// Returns the string after the opening quote and advances `text` past the closing one. A backslash escapes
// only a quote or itself, because old browsers send Windows paths.
std::optional<std::string> take_quoted(std::string_view& text) {
  std::string value;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      text.remove_prefix(i + 1);
      return undo_form_escapes(std::move(value));
    }
    bool escape = text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == '"' || text[i + 1] == '\\');
    value += text[escape ? ++i : i];
  }
  return std::nullopt;
}

std::string latin1_to_utf8(std::string_view text) {
  std::string out;
  for (char c : text) {
    auto b = static_cast<unsigned char>(c);
    if (b < 0x80) {
      out += c;
    } else {
      out += static_cast<char>(0xc0 | (b >> 6));
      out += static_cast<char>(0x80 | (b & 0x3f));
    }
  }
  return out;
}

// Decodes charset'language'percent-encoded (RFC 5987).
std::optional<std::string> decode_extended(std::string_view text) {
  auto first = text.find('\'');
  auto second = first == std::string_view::npos ? first : text.find('\'', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  auto decoded = percent_decode(text.substr(second + 1));
  if (!decoded) return std::nullopt;
  auto charset = ascii_lower(text.substr(0, first));
  if (charset == "utf-8") return is_utf8(*decoded) ? decoded : std::nullopt;
  if (charset == "iso-8859-1") return latin1_to_utf8(*decoded);
  return std::nullopt;
}

}  // namespace

std::string content_disposition(Disposition disposition, std::string_view filename) {
  std::string out = disposition == Disposition::show ? "inline" : "attachment";
  if (filename.empty()) return out;
  std::string plain;
  bool changed = false;
  for (char c : filename) {
    bool continuation = (static_cast<unsigned char>(c) & 0xc0) == 0x80;
    changed = changed || !is_plain(c);
    if (!continuation) plain += is_plain(c) ? c : '_';
  }
  out += "; filename=\"" + plain + "\"";
  if (changed && is_utf8(filename)) out += "; filename*=UTF-8''" + percent_encode(filename);
  return out;
}

std::optional<ParsedDisposition> parse_content_disposition(std::string_view text) {
  ParsedDisposition parsed;
  auto semicolon = text.find(';');
  parsed.type = ascii_lower(trim(text.substr(0, semicolon)));
  if (parsed.type.empty() || parsed.type.find_first_of(" \t\"=") != std::string::npos) return std::nullopt;
  std::optional<std::string> extended;
  while (semicolon != std::string_view::npos) {
    text.remove_prefix(semicolon + 1);
    auto equals = text.find_first_of("=;");
    auto name = ascii_lower(trim(text.substr(0, equals)));
    if (equals == std::string_view::npos || text[equals] == ';') {
      if (!name.empty()) return std::nullopt;  // "; ;" and a last ";" are harmless
      semicolon = equals;
      continue;
    }
    text.remove_prefix(equals + 1);
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    std::string value;
    if (text.starts_with('"')) {
      text.remove_prefix(1);
      auto quoted = take_quoted(text);
      if (!quoted) return std::nullopt;
      value = std::move(*quoted);
      semicolon = text.find(';');
      if (!trim(text.substr(0, semicolon)).empty()) return std::nullopt;
    } else {
      semicolon = text.find(';');
      value = trim(text.substr(0, semicolon));
    }
    if (name == "filename*")
      extended = decode_extended(value);
    else if (!name.empty())
      parsed.params.emplace(std::move(name), std::move(value));
  }
  if (extended) parsed.params.insert_or_assign("filename", std::move(*extended));
  return parsed;
}

}  // namespace sk::http
