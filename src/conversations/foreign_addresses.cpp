#include "conversations/foreign_addresses.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace sk::conversations {

namespace {

constexpr std::string_view kHtmlSpaces = " \t\n\f\r";

bool is_ascii_alnum(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }
bool is_ascii_alpha(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_html_space(char c) { return kHtmlSpaces.find(c) != std::string_view::npos; }

size_t behind_spaces(std::string_view text, size_t at) {
  return std::min(text.find_first_not_of(kHtmlSpaces, at), text.size());
}
size_t find_any(std::string_view text, std::string_view stops, size_t from) {
  return std::min(text.find_first_of(stops, from), text.size());
}

enum class Target { link, definition };

// Returns the end of a Markdown target: "<…>" on one line, or text without spaces. The target of a link also
// ends at a ")" that closes nothing.
size_t end_of_target(std::string_view text, size_t start, Target target) {
  if (start < text.size() && text[start] == '<') return find_any(text, ">\n\r", start);
  int depth = 0;
  for (size_t i = start; i < text.size(); ++i) {
    if (static_cast<unsigned char>(text[i]) <= ' ' || text[i] == 0x7f) return i;
    if (text[i] == '\\' && i + 1 < text.size() && std::ispunct(static_cast<unsigned char>(text[i + 1]))) {
      ++i;
    } else if (target == Target::link && text[i] == '(') {
      ++depth;
    } else if (target == Target::link && text[i] == ')' && depth-- == 0) {
      return i;
    }
  }
  return text.size();
}

// Returns the targets that are not inside an earlier target of the same kind.
std::vector<TextRange> targets_in(std::string_view text, Target target) {
  const std::string_view mark = target == Target::link ? "](" : "]:";
  std::vector<TextRange> out;
  for (size_t at = text.find(mark); at != std::string_view::npos;) {
    size_t start = behind_spaces(text, at + mark.size());
    size_t end = end_of_target(text, start, target);
    // The mark of "<…>" is not part of the address.
    if (start < text.size() && text[start] == '<') ++start;
    if (start < end) out.push_back({start, end});
    at = text.find(mark, std::max(end, at + mark.size()));
  }
  return out;
}

// Returns the values that `quote` opens and closes. A quote opens one if "=" precedes it. In whichever way a
// reader divides the text into tags, the last quote before a position is the one that opens its value.
std::vector<TextRange> values_in(std::string_view text, char quote) {
  std::vector<TextRange> out;
  for (size_t at = text.find(quote); at != std::string_view::npos;) {
    size_t end = text.find(quote, at + 1);
    if (end == std::string_view::npos) break;
    size_t before = at;
    while (before > 0 && is_html_space(text[before - 1])) --before;
    size_t start = behind_spaces(text, at + 1);
    if (before > 0 && text[before - 1] == '=' && start < end) out.push_back({start, end});
    at = end;
  }
  return out;
}

// Whether the "=" at `at` follows the name of an attribute.
bool ends_attribute_name(std::string_view text, size_t at) {
  while (at > 0 && is_html_space(text[at - 1])) --at;
  size_t start = at;
  while (start > 0 && (is_ascii_alnum(text[start - 1]) || text[start - 1] == '-')) --start;
  return start < at && start > 0 &&
         (is_html_space(text[start - 1]) ||
          std::string_view("\"'/").find(text[start - 1]) != std::string_view::npos);
}

std::vector<TextRange> values_without_quotes(std::string_view text) {
  std::vector<TextRange> out;
  for (size_t at = text.find('='); at != std::string_view::npos;) {
    size_t start = behind_spaces(text, at + 1), next = at + 1;
    bool has_value = start < text.size() && text[start] != '"' && text[start] != '\'' && text[start] != '>';
    if (has_value && ends_attribute_name(text, at)) {
      next = find_any(text, " \t\n\f\r>", start);
      out.push_back({start, next});
    }
    at = text.find('=', next);
  }
  return out;
}

// Whether readers turn an address with this scheme into a link. `behind` follows its colon.
bool is_linked_scheme(std::string_view scheme, std::string_view behind) {
  if (scheme == "mailto" || scheme == "xmpp") return true;
  bool is_web = scheme == "http" || scheme == "https" || scheme == "ftp";
  return is_web && (behind.starts_with('/') || behind.starts_with('\\'));
}

// Whether the "." at `at` is in a host with a path behind it, as in "example.org/" and "example.org:80/".
bool is_in_host(std::string_view text, size_t at) {
  if (at == 0 || !(is_ascii_alnum(text[at - 1]) || (text[at - 1] & 0x80) != 0)) return false;
  size_t end = at + 1;
  while (end < text.size() && is_ascii_alpha(text[end])) ++end;
  if (end - at < 3 || end == text.size()) return false;
  bool has_port = text[end] == ':' && end + 1 < text.size() &&
                  std::isdigit(static_cast<unsigned char>(text[end + 1])) != 0;
  return has_port || std::string_view("/?#").find(text[end]) != std::string_view::npos;
}

// Returns the start of the scheme that ends at `colon`.
size_t start_of_scheme(std::string_view text, size_t colon) {
  size_t start = colon;
  while (start > 0 && (is_ascii_alnum(text[start - 1]) ||
                       std::string_view("+-.").find(text[start - 1]) != std::string_view::npos))
    --start;
  return start;
}

// Finds web addresses in running text, which go up to a space or "<", and those in "<…>". Each position is
// searched once for the end, so that the time stays linear.
class WebAddresses {
 public:
  WebAddresses(std::string_view text, std::span<const TextRange> destinations)
      : text_(text), destinations_(destinations) {}

  std::vector<TextRange> find() {
    for (size_t at = find_any(text_, ":.", 0); at < text_.size(); at = find_any(text_, ":.", at + 1)) {
      if (text_[at] == '.' && is_in_host(text_, at)) add(at - 1, end_of_piece(at));
      if (text_[at] == ':') add_scheme(at);
    }
    return std::move(found_);
  }

 private:
  void add_scheme(size_t colon) {
    size_t start = start_of_scheme(text_, colon);
    auto scheme = ascii_lower(text_.substr(start, colon - start));
    // Readers also find the address in "see-https://…".
    auto letters = std::find_if_not(scheme.rbegin(), scheme.rend(), is_ascii_alpha).base();
    if (start > 0 && start < colon && text_[start - 1] == '<' && scheme != "sandbox")
      add(start, end_of_angles(colon));
    else if (is_linked_scheme({letters, scheme.end()}, text_.substr(colon + 1)))
      add(start, end_of_piece(colon));
  }

  // An address that is the target of a link ends with it.
  void add(size_t start, size_t end) {
    while (!destinations_.empty() && destinations_.front().end <= start)
      destinations_ = destinations_.subspan(1);
    if (!destinations_.empty() && destinations_.front().start <= start)
      end = std::min(end, destinations_.front().end);
    if (found_.empty() || end >= found_.back().end) found_.push_back({start, end});
  }

  size_t end_of_piece(size_t at) {
    if (piece_end_ <= at) piece_end_ = find_any(text_, " \t\n\f\r<", at);
    return piece_end_;
  }
  size_t end_of_angles(size_t at) {
    if (angles_end_ <= at) angles_end_ = find_any(text_, " \t\n\f\r>", at);
    return angles_end_;
  }

  const std::string_view text_;
  std::span<const TextRange> destinations_;  // those that do not end before the current address
  size_t piece_end_ = 0, angles_end_ = 0;    // behind the position that was searched last
  std::vector<TextRange> found_;
};

}  // namespace

ForeignAddresses::ForeignAddresses(std::string_view text, std::span<const TextRange> destinations)
    : markdown_{targets_in(text, Target::link), targets_in(text, Target::definition)},
      other_{Ranges(destinations.begin(), destinations.end()), values_in(text, '"'), values_in(text, '\''),
             values_without_quotes(text), WebAddresses(text, destinations).find()} {}

bool ForeignAddresses::contain(size_t at, size_t from, Scope scope) const {
  auto covers = [&](const Ranges& ranges) {
    auto before = [](const TextRange& range, size_t position) { return range.start < position; };
    auto next = std::lower_bound(ranges.begin(), ranges.end(), at, before);
    if (next == ranges.begin()) return false;
    auto last = std::prev(next);
    return last->start >= from && last->end > at;
  };
  return std::any_of(other_.begin(), other_.end(), covers) ||
         (scope == Scope::everything && std::any_of(markdown_.begin(), markdown_.end(), covers));
}

}  // namespace sk::conversations
