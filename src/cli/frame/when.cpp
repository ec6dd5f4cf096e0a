#include "cli/frame/when.h"

#include <cstdio>
#include <ctime>

#include "base/error.h"
#include "base/text.h"

namespace sk::cli {

namespace {

std::string local_format(std::string_view iso8601, const char* format) {
  auto time_us = parse_iso8601(iso8601);
  if (!time_us) return std::string(iso8601);
  auto seconds = static_cast<time_t>(*time_us / kSecondUs);
  tm parts{};
  if (localtime_r(&seconds, &parts) == nullptr) return std::string(iso8601);
  char text[40];
  return std::string(text, std::strftime(text, sizeof text, format, &parts));
}

// Whether the time of day in an ISO 8601 text is followed by Z or an offset.
bool has_zone(std::string_view text) {
  constexpr size_t kDateSize = 10;  // "2026-03-01": skips its dashes, which are no offset
  return text.size() > kDateSize && text.find_first_of("Zz+-", kDateSize) != std::string_view::npos;
}

// Converts local time that parse_iso8601 read as UTC.
TimeUs as_local(TimeUs wall_us) {
  auto seconds = static_cast<time_t>(wall_us / kSecondUs);
  tm parts{};
  gmtime_r(&seconds, &parts);
  parts.tm_isdst = -1;
  return static_cast<TimeUs>(mktime(&parts)) * kSecondUs + wall_us % kSecondUs;
}

}  // namespace

std::optional<int64_t> parse_duration_s(std::string_view text) {
  constexpr uint64_t kMost = 1'000'000'000;
  text = trim(text);
  if (text.empty()) return std::nullopt;
  uint64_t scale = 1;
  switch (text.back()) {
    case 's':
      scale = 1;
      break;
    case 'm':
      scale = 60;
      break;
    case 'h':
      scale = 3600;
      break;
    case 'd':
      scale = 86'400;
      break;
    case 'w':
      scale = 7 * 86'400;
      break;
    default:
      scale = 0;
  }
  if (scale != 0) text.remove_suffix(1);
  auto count = parse_unsigned(trim(text));
  if (!count || *count > kMost) return std::nullopt;
  return static_cast<int64_t>(*count * (scale == 0 ? 1 : scale));
}

std::optional<TimeUs> parse_local_time(std::string_view text) {
  auto wanted = trim(text);
  auto wall_us = parse_iso8601(wanted);
  return wall_us && !has_zone(wanted) ? as_local(*wall_us) : wall_us;
}

TimeUs parse_when(std::string_view text, TimeUs now_us) {
  if (auto time_us = parse_local_time(text)) return *time_us;
  auto ago = trim(text);
  if (ago.ends_with(" ago")) ago.remove_suffix(4);
  // A number without a unit is ambiguous here, so a duration needs its unit.
  bool has_unit = !ago.empty() && (ago.back() < '0' || ago.back() > '9');
  if (auto seconds = parse_duration_s(ago); seconds && has_unit) return now_us - *seconds * kSecondUs;
  throw Error(Code::bad_request,
              "'" + std::string(text) +
                  "' is not a time; write 2026-03-01T12:30:00Z, '2026-03-01 12:30' (local), "
                  "2026-03-01, or how long ago: 15m, 2h, 3d");
}

std::string local_minute(std::string_view iso8601) { return local_format(iso8601, "%Y-%m-%d %H:%M"); }
std::string local_second(std::string_view iso8601) { return local_format(iso8601, "%Y-%m-%d %H:%M:%S"); }

std::string human_duration(int64_t seconds) {
  auto two = [](int64_t large, const char* large_unit, int64_t small, const char* small_unit) {
    auto out = std::to_string(large) + " " + large_unit;
    if (small > 0) out += " " + std::to_string(small) + " " + small_unit;
    return out;
  };
  if (seconds < 60) return std::to_string(seconds) + " s";
  if (seconds < 3600) return two(seconds / 60, "min", seconds % 60, "s");
  if (seconds < 86'400) return two(seconds / 3600, "h", seconds % 3600 / 60, "min");
  return two(seconds / 86'400, "d", seconds % 86'400 / 3600, "h");
}

}  // namespace sk::cli
