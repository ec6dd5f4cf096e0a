// Conditional requests (RFC 9110 §13): entity tags, dates, and the evaluation of If-Match and related
// headers. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.h"

namespace sk::http {

// List of entity tags from If-Match or If-None-Match. Tags are compared without their quotes.
class EtagList {
 public:
  // Throws Error(bad_request) when the text is neither "*" nor a list of quoted tags. Accepts a bare word as
  // a tag, because clients often send version ids without quotes.
  static EtagList parse(std::string_view text);

  bool any() const { return any_; }
  // `etag` is unquoted, and empty when the resource does not exist. "*" matches any existing resource.
  bool matches_strongly(std::string_view etag) const;
  bool matches_weakly(std::string_view etag) const;

  struct Tag {
    std::string value;
    bool weak = false;
  };
  const std::vector<Tag>& tags() const { return tags_; }

 private:
  bool any_ = false;
  std::vector<Tag> tags_;
};

// Returns the value in double quotes.
std::string quote_etag(std::string_view value);

// Formats a date as "Sun, 06 Nov 1994 08:49:37 GMT". The parser also accepts the two obsolete forms.
std::string to_http_date(TimeUs time_us);
std::optional<TimeUs> parse_http_date(std::string_view text);

// The current state of a resource. `etag` is strong and unquoted, and empty when the resource does not exist.
struct Validators {
  std::string etag;
  std::optional<TimeUs> modified_us;
};

enum class Verdict { proceed, not_modified, precondition_failed };

// Evaluates the conditions in the order of RFC 9110 §13.2.2. Returns `not_modified` only for GET and HEAD.
Verdict evaluate_conditions(const Request& request, const Validators& validators);

// Returns whether to honour a Range header: there is no If-Range, or it matches the current state.
bool if_range_holds(const Headers& headers, const Validators& validators);

}  // namespace sk::http
