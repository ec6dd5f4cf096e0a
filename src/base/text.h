// Small conversions of text and bytes that more than one room needs.
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
// base64url without padding (RFC 4648 §5), and ordinary base64 with it. Decoding accepts exactly the
// canonical form.
std::string to_base64url(Bytes bytes);
std::optional<std::string> from_base64url(std::string_view text);
std::string to_base64(Bytes bytes);
std::optional<std::string> from_base64(std::string_view text);

// Percent-encoding of one path segment (RFC 3986 unreserved characters stay) or of a path, in which '/' stays
// too.
std::string percent_encode(std::string_view text);
std::string percent_encode_path(std::string_view path);
// nullopt on a malformed escape. '+' is not a space.
std::optional<std::string> percent_decode(std::string_view text);

bool is_utf8(std::string_view text);
std::string ascii_lower(std::string_view text);
std::string_view trim(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);
// A whole decimal number and nothing else; nullopt on sign, space, overflow.
std::optional<uint64_t> parse_unsigned(std::string_view text);
// "1536" "4k" "50 GiB" "1.5MB": binary for k/M/G/T with or without iB, decimal for kB/MB/GB/TB.
std::optional<uint64_t> parse_size(std::string_view text);
std::string human_size(uint64_t bytes);
// Levenshtein distance, for "did you mean".
size_t edit_distance(std::string_view a, std::string_view b);
std::string html_escape(std::string_view text);

}  // namespace sk
