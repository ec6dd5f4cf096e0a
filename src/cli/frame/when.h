// Times and durations as people type and read them: local time on the terminal, UTC in JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace sk::cli {

// "90", "90s", "15m", "2h", "3d", "1w" in seconds; nullopt for anything else.
std::optional<int64_t> parse_duration_s(std::string_view text);

// A moment: ISO 8601 with or without a zone (without one it is local time), a day, or a duration ago ("2h",
// "2h ago"). Throws Error(bad_request) that shows the forms.
TimeUs parse_when(std::string_view text, TimeUs now_us);

// "2026-03-01 12:34", local, from an ISO 8601 text of the server; the text itself when it is not one.
std::string local_minute(std::string_view iso8601);
std::string local_second(std::string_view iso8601);

// "9 s", "4 min 10 s", "2 h 5 min", "3 d 4 h".
std::string human_duration(int64_t seconds);

}  // namespace sk::cli
