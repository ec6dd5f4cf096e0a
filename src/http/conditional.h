// Conditional requests (RFC 9110 §13): entity tags, dates, and what If-Match and its kin decide. Pure
// functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.h"

namespace sk::http {

// A list of entity tags as If-Match and If-None-Match carry it. Tags are compared without their quotes.
class EtagList {
 public:
  // Throws Error(bad_request) when the text is neither "*" nor a list of quoted tags. A bare word is taken as
  // a tag, because version ids are often sent without quotes.
  static EtagList parse(std::string_view text);

  bool any() const { return any_; }
  // With `etag` unquoted; empty for a thing that does not exist. "*" matches whatever exists.
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

// "\"value\"".
std::string quote_etag(std::string_view value);

// "Sun, 06 Nov 1994 08:49:37 GMT"; back also from the two obsolete forms.
std::string to_http_date(TimeUs time_us);
std::optional<TimeUs> parse_http_date(std::string_view text);

// What the server has. `etag` is strong and unquoted; empty when there is nothing at that place.
struct Validators {
  std::string etag;
  std::optional<TimeUs> modified_us;
};

enum class Verdict { proceed, not_modified, precondition_failed };

// In the order of RFC 9110 §13.2.2. `not_modified` only for GET and HEAD.
Verdict evaluate_conditions(const Request& request, const Validators& validators);

// Whether a Range header counts: there is no If-Range, or it names what the server has.
bool if_range_holds(const Headers& headers, const Validators& validators);

}  // namespace sk::http
