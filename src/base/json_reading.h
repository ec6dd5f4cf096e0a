// Lenient access to untrusted JSON. A field that is missing or has the wrong type reads as empty. Nothing
// here throws.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/json.h"

namespace sk {

// Returns null when `object` is not an object or has no such field.
inline const Json& field_in(const Json& object, std::string_view name) {
  static const Json nothing;
  if (!object.is_object()) return nothing;
  auto found = object.find(name);
  return found == object.end() ? nothing : *found;
}

inline std::string text_in(const Json& object, std::string_view name) {
  const auto& value = field_in(object, name);
  return value.is_string() ? value.get<std::string>() : std::string();
}

// Returns an empty list when the field is missing or is not a list.
inline const Json& list_in(const Json& object, std::string_view name) {
  static const Json empty = Json::array();
  const auto& value = field_in(object, name);
  return value.is_array() ? value : empty;
}

inline std::optional<int64_t> integer_in(const Json& object, std::string_view name) {
  const auto& value = field_in(object, name);
  if (value.is_number_unsigned()) {
    auto number = value.get<uint64_t>();
    return number > INT64_MAX ? std::nullopt : std::optional(static_cast<int64_t>(number));
  }
  return value.is_number_integer() ? std::optional(value.get<int64_t>()) : std::nullopt;
}

// Reads seconds since 1970, with an optional fraction. Whole seconds mean the end of that second, so events
// within that second are included.
inline std::optional<TimeUs> unix_time_in(const Json& object, std::string_view name) {
  constexpr double kYear9999 = 253'402'300'799.0;
  const auto& value = field_in(object, name);
  if (!value.is_number()) return std::nullopt;
  auto seconds = value.get<double>();
  if (!(seconds >= 0 && seconds <= kYear9999)) return std::nullopt;
  double whole = std::floor(seconds);
  auto us = static_cast<TimeUs>(whole) * kSecondUs;
  return seconds == whole ? us + kSecondUs - 1 : us + static_cast<TimeUs>((seconds - whole) * 1e6);
}

}  // namespace sk
