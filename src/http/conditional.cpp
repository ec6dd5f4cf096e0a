#include "http/conditional.h"

#include <array>
#include <cstdio>
#include <ctime>

#include "base/text.h"

namespace sk::http {

namespace {

constexpr size_t kTagsMax = 256;
constexpr std::array<const char*, 7> kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr std::array<const char*, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                 "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

bool is_tag_char(char c) {
  auto b = static_cast<unsigned char>(c);
  return b == 0x21 || (b >= 0x23 && b != 0x7f);
}

// Removes and returns the first tag of `text`.
EtagList::Tag take_tag(std::string_view& text) {
  EtagList::Tag tag;
  if (text.starts_with("W/")) {
    tag.weak = true;
    text.remove_prefix(2);
  }
  if (text.starts_with('"')) {
    auto end = text.find('"', 1);
    if (end == std::string_view::npos)
      throw Error(Code::bad_request, "An entity tag lacks its closing quote.");
    tag.value = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
  } else {
    auto end = text.find_first_of(", \t");
    tag.value = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end);
    if (tag.value.empty()) throw Error(Code::bad_request, "An entity tag is empty.");
  }
  for (char c : tag.value)
    if (!is_tag_char(c)) throw Error(Code::bad_request, "An entity tag contains an invalid character.");
  return tag;
}

std::optional<int> month_of(std::string_view name) {
  for (size_t i = 0; i < kMonths.size(); ++i)
    if (name == kMonths[i]) return static_cast<int>(i);
  return std::nullopt;
}

// Splits a date into words and treats all separators alike: "06 Nov 1994 08 49 37".
std::vector<std::string> date_words(std::string_view text) {
  std::vector<std::string> words(1);
  for (char c : text) {
    bool separator = c == ' ' || c == ',' || c == '-' || c == ':';
    if (!separator)
      words.back() += c;
    else if (!words.back().empty())
      words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

std::optional<TimeUs> from_fields(const std::array<std::string_view, 6>& day_month_year_hms) {
  std::tm tm{};
  auto month = month_of(day_month_year_hms[1]);
  std::array<uint64_t, 6> numbers{};
  for (size_t i = 0; i < 6; ++i) {
    if (i == 1) continue;
    auto number = parse_unsigned(day_month_year_hms[i]);
    if (!number || *number > 9999) return std::nullopt;
    numbers[i] = *number;
  }
  if (!month || numbers[0] < 1 || numbers[0] > 31 || numbers[3] > 23 || numbers[4] > 59 || numbers[5] > 60)
    return std::nullopt;
  int year = static_cast<int>(numbers[2]);
  if (day_month_year_hms[2].size() == 2) year += year < 70 ? 2000 : 1900;  // two-digit years of RFC 850
  tm.tm_mday = static_cast<int>(numbers[0]);
  tm.tm_mon = *month;
  tm.tm_year = year - 1900;
  tm.tm_hour = static_cast<int>(numbers[3]);
  tm.tm_min = static_cast<int>(numbers[4]);
  tm.tm_sec = static_cast<int>(numbers[5]);
  return static_cast<TimeUs>(::timegm(&tm)) * kSecondUs;
}

// Truncates to whole seconds, the resolution of HTTP dates.
TimeUs floor_second(TimeUs time_us) { return time_us - ((time_us % kSecondUs) + kSecondUs) % kSecondUs; }

}  // namespace

EtagList EtagList::parse(std::string_view text) {
  EtagList list;
  text = trim(text);
  if (text == "*") {
    list.any_ = true;
    return list;
  }
  for (;;) {
    while (!text.empty() && (text.front() == ',' || text.front() == ' ' || text.front() == '\t'))
      text.remove_prefix(1);
    if (text.empty()) break;
    list.tags_.push_back(take_tag(text));
    text = trim(text);
    if (!text.empty() && text.front() != ',')
      throw Error(Code::bad_request, "Entity tags are separated by commas.");
    if (list.tags_.size() > kTagsMax) throw Error(Code::bad_request, "There are too many entity tags.");
  }
  if (list.tags_.empty()) throw Error(Code::bad_request, "A condition names no entity tag.");
  return list;
}

bool EtagList::matches_strongly(std::string_view etag) const {
  if (etag.empty()) return false;
  if (any_) return true;
  for (const auto& tag : tags_)
    if (!tag.weak && tag.value == etag) return true;
  return false;
}

bool EtagList::matches_weakly(std::string_view etag) const {
  if (etag.empty()) return false;
  if (any_) return true;
  for (const auto& tag : tags_)
    if (tag.value == etag) return true;
  return false;
}

std::string quote_etag(std::string_view value) { return "\"" + std::string(value) + "\""; }

std::string to_http_date(TimeUs time_us) {
  auto seconds = static_cast<std::time_t>(floor_second(time_us) / kSecondUs);
  std::tm tm{};
  ::gmtime_r(&seconds, &tm);
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%s, %02d %s %04d %02d:%02d:%02d GMT",
                kDays[static_cast<size_t>(tm.tm_wday)], tm.tm_mday, kMonths[static_cast<size_t>(tm.tm_mon)],
                tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
  return text.data();
}

std::optional<TimeUs> parse_http_date(std::string_view text) {
  if (text.size() > 64) return std::nullopt;
  auto w = date_words(text);
  // "Sun, 06 Nov 1994 08:49:37 GMT" and "Sunday, 06-Nov-94 08:49:37 GMT"
  if (w.size() == 8 && w[7] == "GMT") return from_fields({w[1], w[2], w[3], w[4], w[5], w[6]});
  // "Sun Nov  6 08:49:37 1994"
  if (w.size() == 7) return from_fields({w[2], w[1], w[6], w[3], w[4], w[5]});
  return std::nullopt;
}

Verdict evaluate_conditions(const Request& request, const Validators& validators) {
  const auto& headers = request.headers;
  bool reading = request.method == "GET" || request.method == "HEAD";
  auto modified = validators.modified_us;
  if (auto if_match = headers.get_list("If-Match")) {
    if (!EtagList::parse(*if_match).matches_strongly(validators.etag)) return Verdict::precondition_failed;
  } else if (auto since = headers.get("If-Unmodified-Since")) {
    auto limit = parse_http_date(*since);
    if (limit && modified && floor_second(*modified) > *limit) return Verdict::precondition_failed;
  }
  if (auto if_none_match = headers.get_list("If-None-Match")) {
    if (EtagList::parse(*if_none_match).matches_weakly(validators.etag))
      return reading ? Verdict::not_modified : Verdict::precondition_failed;
  } else if (auto since = headers.get("If-Modified-Since"); since && reading) {
    auto limit = parse_http_date(*since);
    if (limit && modified && floor_second(*modified) <= *limit) return Verdict::not_modified;
  }
  return Verdict::proceed;
}

bool if_range_holds(const Headers& headers, const Validators& validators) {
  auto if_range = headers.get("If-Range");
  if (!if_range) return true;
  if (auto date = parse_http_date(*if_range))
    return validators.modified_us && floor_second(*validators.modified_us) == *date;
  auto text = trim(*if_range);
  return !validators.etag.empty() && text == quote_etag(validators.etag);
}

}  // namespace sk::http
