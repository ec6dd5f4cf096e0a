// Removes keys and tokens from text that is about to be logged. They are recognized by their own form
// wherever they are in the text, also when they are percent-encoded, however many times. Pure functions.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sk {

// The beginning of every key that the server makes.
inline constexpr std::string_view kKeySecretPrefix = "skey_";

// A text without percent-encoding, and the place in the source that each of its characters comes from.
struct DecodedText {
  std::string text;
  // text[i] comes from the bytes of the source from begins[i] up to begins[i + 1].
  std::vector<size_t> begins;
};

// Decodes as often as the text is encoded: "%2573" and "%25%37%33" become "s". Malformed escapes stay as they
// are.
DecodedText decode_fully(std::string_view source);

// Returns the text with "{key}" in the place of each key, each signed token (JWT) and each of `others`, which
// are secrets that have no form of their own.
std::string without_secrets(std::string_view text, std::span<const std::string_view> others = {});

}  // namespace sk
