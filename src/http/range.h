// The Range header (RFC 9110 §14). Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sk::http {

struct ByteRange {
  uint64_t first = 0;
  uint64_t size = 0;
};

struct RangeChoice {
  enum class Kind {
    whole,    // 200: no range was asked for, or several that do not touch, or in a unit that we do not know
    partial,  // 206 with `range`
    unsatisfiable,  // 416: no byte of what was asked for exists, or the ranges make no sense
  };
  Kind kind = Kind::whole;
  ByteRange range;
};

// What to send of `size` bytes.
RangeChoice choose_range(const std::optional<std::string>& header, uint64_t size);

// "bytes 0-99/1000", and "bytes */1000" for a 416.
std::string content_range(const ByteRange& range, uint64_t size);
std::string content_range_unsatisfiable(uint64_t size);

}  // namespace sk::http
