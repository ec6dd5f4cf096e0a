// Rewords an error's hint for the clients of a dialect. The domain's hints mention the command line and
// headers, which other dialects' clients do not have. Pure functions; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace sk::api {

// Replaces a hint that contains `phrase`.
struct HintWords {
  std::string_view phrase;
  std::string_view instead;  // empty: removes a hint that the client cannot follow
};

// The first match wins. A hint without a match stays unchanged.
inline std::string hint_in(std::span<const HintWords> words, const Error& error) {
  std::string hint(error.hint());
  for (const auto& one : words)
    if (hint.find(one.phrase) != std::string::npos) return std::string(one.instead);
  return hint;
}

// For dialects of other vendors. Their clients send headers, but have neither a command line nor Sandkeep's
// paths.
inline constexpr HintWords kVendorHints[] = {
    {"'sandkeep key create'", "Use another key."},
    {"'sandkeep trash restore", "It is in the trash, and can be restored from there."},
    {"'sandkeep ", ""},
};

}  // namespace sk::api
