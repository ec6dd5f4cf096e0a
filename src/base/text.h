// Text and byte conversions that more than one room needs. Pure functions; they return nullopt for invalid
// input.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sk {

using Bytes = std::span<const std::byte>;

inline Bytes as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}
inline std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string to_hex(Bytes bytes);
std::optional<std::string> from_hex(std::string_view text);
// base64url without padding (RFC 4648 §5), and standard base64 with padding. Decoders accept only the
// canonical form.
std::string to_base64url(Bytes bytes);
std::optional<std::string> from_base64url(std::string_view text);
std::string to_base64(Bytes bytes);
std::optional<std::string> from_base64(std::string_view text);

// Percent-encodes one path segment, or a whole path and keeps its '/'. RFC 3986 unreserved characters stay
// unencoded.
std::string percent_encode(std::string_view text);
std::string percent_encode_path(std::string_view path);
// Returns nullopt for a malformed escape. Does not decode '+' as a space.
std::optional<std::string> percent_decode(std::string_view text);

bool is_utf8(std::string_view text);
std::string ascii_lower(std::string_view text);
std::string_view trim(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);
// Parses a decimal number. Returns nullopt for a sign, a space, any other character, or overflow.
std::optional<uint64_t> parse_unsigned(std::string_view text);
// Parses "1536", "4k", "50 GiB", "1.5MB". The units k/M/G/T, with or without iB, are binary; kB/MB/GB/TB are
// decimal.
std::optional<uint64_t> parse_size(std::string_view text);
std::string human_size(uint64_t bytes);
// Returns "1 file" or "2 files".
std::string counted(int64_t count, std::string_view one, std::string_view many);
// Returns the Levenshtein distance, for "did you mean" hints.
size_t edit_distance(std::string_view a, std::string_view b);
std::string html_escape(std::string_view text);

// Returns the beginning of the text, at most `bytes_max` bytes, without splitting a UTF-8 character.
std::string cut_text(std::string_view text, size_t bytes_max);
// The same of the end of the text.
std::string last_text(std::string_view text, size_t bytes_max);

}  // namespace sk
