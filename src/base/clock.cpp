#include "base/clock.h"

#include <cctype>
#include <chrono>
#include <cstdio>

namespace sk {

TimeUs SystemClock::now_us() const {
  using namespace std::chrono;
  return duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
}

std::string to_iso8601(TimeUs time_us) {
  using namespace std::chrono;
  sys_time<microseconds> time{microseconds(time_us)};
  auto day = floor<days>(time);
  year_month_day date{day};
  auto in_day = (time - day).count();
  char text[40];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d.%06dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(in_day / 3'600'000'000), static_cast<int>(in_day / 60'000'000 % 60),
                static_cast<int>(in_day / 1'000'000 % 60), static_cast<int>(in_day % 1'000'000));
  return text;
}

std::optional<TimeUs> parse_iso8601(std::string_view text) {
  auto number = [&](size_t count) -> std::optional<int> {
    if (text.size() < count) return std::nullopt;
    int value = 0;
    for (size_t i = 0; i < count; ++i) {
      if (text[i] < '0' || text[i] > '9') return std::nullopt;
      value = value * 10 + (text[i] - '0');
    }
    text.remove_prefix(count);
    return value;
  };
  auto skip = [&](std::string_view any) {
    if (text.empty() || any.find(text[0]) == std::string_view::npos) return false;
    text.remove_prefix(1);
    return true;
  };
  using namespace std::chrono;
  auto y = number(4);
  if (!y || !skip("-")) return std::nullopt;
  auto mo = number(2);
  if (!mo || !skip("-")) return std::nullopt;
  auto d = number(2);
  if (!d) return std::nullopt;
  year_month_day date{year(*y), month(static_cast<unsigned>(*mo)), day(static_cast<unsigned>(*d))};
  if (!date.ok()) return std::nullopt;
  int64_t us = duration_cast<microseconds>(sys_days(date).time_since_epoch()).count();
  if (text.empty()) return us;
  if (!skip("Tt ")) return std::nullopt;
  auto h = number(2);
  if (!h || *h > 23 || !skip(":")) return std::nullopt;
  auto mi = number(2);
  if (!mi || *mi > 59) return std::nullopt;
  int seconds_part = 0;
  if (skip(":")) {
    auto s = number(2);
    if (!s || *s > 60) return std::nullopt;
    seconds_part = *s;
  }
  us += (*h * 3600LL + *mi * 60LL + seconds_part) * kSecondUs;
  if (skip(".")) {
    int64_t scale = 100'000;
    size_t digits = 0;
    while (!text.empty() && text[0] >= '0' && text[0] <= '9') {
      us += (text[0] - '0') * scale;
      scale /= 10;
      ++digits;
      text.remove_prefix(1);
    }
    if (digits == 0) return std::nullopt;
  }
  if (text.empty() || text == "Z" || text == "z") return us;
  int sign = text[0] == '+' ? 1 : text[0] == '-' ? -1 : 0;
  if (sign == 0) return std::nullopt;
  text.remove_prefix(1);
  auto oh = number(2);
  if (!oh || *oh > 23) return std::nullopt;
  skip(":");
  auto om = number(2);
  if (!om || *om > 59 || !text.empty()) return std::nullopt;
  return us - sign * (*oh * 3600LL + *om * 60LL) * kSecondUs;
}

}  // namespace sk
