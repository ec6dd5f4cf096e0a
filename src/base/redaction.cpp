#include "base/redaction.h"

#include <algorithm>
#include <functional>

#include "base/text.h"

namespace sk {

namespace {

// A shorter rest reveals little, and names such as "skey_notes" stay readable.
constexpr size_t kSecretRestMin = 8;
constexpr std::string_view kTokenStart = "eyJ";  // the base64 of '{"', with which the head of a token begins

struct SecretRange {
  size_t begin, end;
};

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_base64url(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

size_t end_of_base64url(std::string_view text, size_t at) {
  while (at < text.size() && is_base64url(text[at])) ++at;
  return at;
}

// Finds keys. The prefix may have other letters' case, because the rest is the secret.
void find_keys(std::string_view text, std::vector<SecretRange>& found) {
  for (size_t at = text.find('_'); at != std::string_view::npos; at = text.find('_', at + 1)) {
    size_t size = kKeySecretPrefix.size();
    if (at + 1 < size || ascii_lower(text.substr(at + 1 - size, size)) != kKeySecretPrefix) continue;
    size_t end = end_of_base64url(text, at + 1);
    if (end - (at + 1) >= kSecretRestMin) found.push_back({at + 1 - size, end});
  }
}

// Finds tokens: two or three parts of base64url, with dots in between.
void find_tokens(std::string_view text, std::vector<SecretRange>& found) {
  for (size_t at = text.find(kTokenStart); at != std::string_view::npos;
       at = text.find(kTokenStart, at + 1)) {
    size_t head_end = end_of_base64url(text, at);
    if (head_end - at < kSecretRestMin || head_end >= text.size() || text[head_end] != '.') continue;
    size_t end = end_of_base64url(text, head_end + 1);
    if (end - (head_end + 1) < kSecretRestMin) continue;
    if (end < text.size() && text[end] == '.') end = end_of_base64url(text, end + 1);
    found.push_back({at, end});
    at = end - 1;
  }
}

std::vector<SecretRange> find_secrets(std::string_view text, std::span<const std::string_view> others) {
  std::vector<SecretRange> found;
  find_keys(text, found);
  find_tokens(text, found);
  for (auto other : others) {
    if (other.empty()) continue;
    for (size_t at = text.find(other); at != std::string_view::npos; at = text.find(other, at + 1))
      found.push_back({at, at + other.size()});
  }
  return found;
}

}  // namespace

// Reads from left to right and decodes an escape as soon as it is complete. What it decodes to may complete
// another one, so one pass decodes all levels.
DecodedText decode_fully(std::string_view source) {
  DecodedText out;
  out.text.reserve(source.size());
  out.begins.reserve(source.size() + 1);
  for (size_t at = 0; at < source.size(); ++at) {
    out.text.push_back(source[at]);
    out.begins.push_back(at);
    for (size_t size = out.text.size(); size >= 3 && out.text[size - 3] == '%'; size = out.text.size()) {
      int high = hex_digit(out.text[size - 2]), low = hex_digit(out.text[size - 1]);
      if (high < 0 || low < 0) break;
      out.text.resize(size - 2);
      out.begins.resize(size - 2);
      out.text.back() = static_cast<char>(high * 16 + low);
    }
  }
  out.begins.push_back(source.size());
  return out;
}

std::string without_secrets(std::string_view text, std::span<const std::string_view> others) {
  auto ranges = find_secrets(text, others);
  if (text.find('%') != std::string_view::npos) {
    auto decoded = decode_fully(text);
    for (const auto& range : find_secrets(decoded.text, others))
      ranges.push_back({decoded.begins[range.begin], decoded.begins[range.end]});
  }
  if (ranges.empty()) return std::string(text);
  std::ranges::sort(ranges, std::less<>(), &SecretRange::begin);
  std::string out;
  size_t done = 0;
  for (const auto& range : ranges) {
    // A range that begins inside of the last one, or right behind it, is a part of the same secret.
    if (range.begin > done || done == 0) {
      out += text.substr(done, range.begin - done);
      out += "{key}";
    }
    done = std::max(done, range.end);
  }
  return out.append(text.substr(done));
}

}  // namespace sk
