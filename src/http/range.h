// Parses the Range header (RFC 9110 §14). Pure functions.
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
    whole,          // 200: no range requested, several disjoint ranges, or an unknown unit
    partial,        // 206 with `range`
    unsatisfiable,  // 416: no requested byte exists, or the ranges are invalid
  };
  Kind kind = Kind::whole;
  ByteRange range;
};

// Chooses which of the `size` bytes to send.
RangeChoice choose_range(const std::optional<std::string>& header, uint64_t size);

// Formats Content-Range: "bytes 0-99/1000", and "bytes */1000" for a 416.
std::string content_range(const ByteRange& range, uint64_t size);
std::string content_range_unsatisfiable(uint64_t size);

}  // namespace sk::http
