#include "blobs/location.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace sk::blobs {

namespace {

constexpr size_t kNameStart = 2;  // after the place and a slash
constexpr size_t kHashDigits = 64;
constexpr size_t kRandomBytes = 6;
constexpr size_t kRandomCharacters = 8;

bool is_hex_digit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }
bool is_base64url(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
}

}  // namespace

std::string place_name(size_t place) { return std::string(1, "0123456789abcdef"[place]); }

std::string random_place() {
  std::byte byte;
  fill_random({&byte, 1});
  return place_name(std::to_integer<size_t>(byte) % kPlaces);
}

std::string unique_file_name(const Sha256& hash) { return hash.hex() + "-" + random_base64url(kRandomBytes); }

bool is_file_name(std::string_view text) {
  if (text.size() != kHashDigits + 1 + kRandomCharacters || text[kHashDigits] != '-') return false;
  const auto hash = text.substr(0, kHashDigits);
  const auto unique = text.substr(kHashDigits + 1);
  return std::all_of(hash.begin(), hash.end(), is_hex_digit) &&
         std::all_of(unique.begin(), unique.end(), is_base64url);
}

bool is_location(std::string_view text) {
  return text.size() > kNameStart && is_hex_digit(text[0]) && text[1] == '/' &&
         is_file_name(text.substr(kNameStart));
}

Sha256 hash_in(std::string_view location) {
  SK_CHECK(is_location(location), location);
  return *Sha256::from_hex(location.substr(kNameStart, kHashDigits));
}

FileKey file_key(std::string_view location) {
  const Sha256 hash = hash_in(location);
  FileKey key;
  static_assert(sizeof key.unique == kRandomCharacters);
  std::memcpy(&key.hash_start, hash.bytes.data(), sizeof key.hash_start);
  std::memcpy(&key.unique, location.data() + location.size() - kRandomCharacters, kRandomCharacters);
  return key;
}

}  // namespace sk::blobs
