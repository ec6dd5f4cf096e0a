#include "http/range.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/text.h"

namespace sk::http {

namespace {

constexpr size_t kRangesMax = 100;

struct Spec {
  std::optional<uint64_t> first, last;  // "first-last", "first-", "-last" (counted from the end)
};

// Parses a position. A number that overflows is beyond the end, like any other position that is too large.
std::optional<uint64_t> parse_position(std::string_view digits) {
  if (auto value = parse_unsigned(digits)) return value;
  bool is_number = !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos;
  return is_number ? std::optional(std::numeric_limits<uint64_t>::max()) : std::nullopt;
}

std::optional<Spec> parse_spec(std::string_view text) {
  auto dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  Spec spec;
  auto left = trim(text.substr(0, dash));
  auto right = trim(text.substr(dash + 1));
  if (!left.empty() && !(spec.first = parse_position(left))) return std::nullopt;
  if (!right.empty() && !(spec.last = parse_position(right))) return std::nullopt;
  if (!spec.first && !spec.last) return std::nullopt;
  if (spec.first && spec.last && *spec.last < *spec.first) return std::nullopt;
  return spec;
}

// Returns the existing part of `spec`, or nullopt when there is none.
std::optional<ByteRange> resolve(const Spec& spec, uint64_t size) {
  if (!spec.first) {
    auto count = std::min(*spec.last, size);
    if (count == 0) return std::nullopt;
    return ByteRange{size - count, count};
  }
  if (*spec.first >= size) return std::nullopt;
  auto last = spec.last ? std::min(*spec.last, size - 1) : size - 1;
  return ByteRange{*spec.first, last - *spec.first + 1};
}

// Merges ranges that touch or overlap into one. Returns nullopt when there is a gap.
std::optional<ByteRange> join(std::vector<ByteRange> ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  ByteRange joined = ranges.front();
  for (const auto& range : ranges) {
    if (range.first > joined.first + joined.size) return std::nullopt;
    joined.size = std::max(joined.size, range.first + range.size - joined.first);
  }
  return joined;
}

}  // namespace

RangeChoice choose_range(const std::optional<std::string>& header, uint64_t size) {
  using Kind = RangeChoice::Kind;
  if (!header) return {Kind::whole, {}};
  auto text = trim(*header);
  auto equals = text.find('=');
  if (equals == std::string_view::npos || ascii_lower(trim(text.substr(0, equals))) != "bytes")
    return {Kind::whole, {}};
  std::vector<ByteRange> ranges;
  auto specs = split(text.substr(equals + 1), ',');
  if (specs.size() > kRangesMax) return {Kind::whole, {}};
  for (auto part : specs) {
    if (trim(part).empty()) continue;
    auto spec = parse_spec(trim(part));
    if (!spec) return {Kind::unsatisfiable, {}};
    if (auto range = resolve(*spec, size)) ranges.push_back(*range);
  }
  if (ranges.empty()) return {Kind::unsatisfiable, {}};
  auto joined = join(std::move(ranges));
  if (!joined) return {Kind::whole, {}};
  return {Kind::partial, *joined};
}

std::string content_range(const ByteRange& range, uint64_t size) {
  return "bytes " + std::to_string(range.first) + "-" + std::to_string(range.first + range.size - 1) + "/" +
         std::to_string(size);
}

std::string content_range_unsatisfiable(uint64_t size) { return "bytes */" + std::to_string(size); }

}  // namespace sk::http
