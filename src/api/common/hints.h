// An error's hint in the words of whoever reads it: the domain speaks of the command line and of headers,
// which clients of other dialects do not have. Pure functions; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace sk::api {

// For a hint that has `phrase` in it.
struct HintWords {
  std::string_view phrase;
  std::string_view instead;  // empty: no hint is better than one that cannot be followed
};

// The first that fits counts; a hint that none fits stays as it is.
inline std::string hint_in(std::span<const HintWords> words, const Error& error) {
  std::string hint(error.hint());
  for (const auto& one : words)
    if (hint.find(one.phrase) != std::string::npos) return std::string(one.instead);
  return hint;
}

// For the dialects of other vendors, whose clients send headers but have neither command line nor our paths.
inline constexpr HintWords kVendorHints[] = {
    {"'sandkeep key create'", "Use another key."},
    {"'sandkeep trash restore", "It is in the trash, and can be restored from there."},
    {"'sandkeep ", ""},
};

}  // namespace sk::api
