// Parses and formats times and durations for users: local time on the terminal, UTC in JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace sk::cli {

// Parses "90", "90s", "15m", "2h", "3d" or "1w" into seconds; nullopt for other text.
std::optional<int64_t> parse_duration_s(std::string_view text);

// Parses ISO 8601 with or without a zone (without one it is local time), or a date; nullopt for other text.
std::optional<TimeUs> parse_local_time(std::string_view text);

// Parses a time: ISO 8601 with or without a zone (without one it is local time), a date, or a duration ago
// ("2h", "2h ago"). Error(bad_request) lists the accepted forms.
TimeUs parse_when(std::string_view text, TimeUs now_us);

// Returns local time, "2026-03-01 12:34", for an ISO 8601 text from the server; other text is returned
// unchanged.
std::string local_minute(std::string_view iso8601);
std::string local_second(std::string_view iso8601);

// Returns "9 s", "4 min 10 s", "2 h 5 min" or "3 d 4 h".
std::string human_duration(int64_t seconds);

}  // namespace sk::cli
