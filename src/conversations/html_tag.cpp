#include "conversations/html_tag.h"

#include <algorithm>

#include "base/text.h"

namespace sk::conversations {

namespace {

constexpr std::string_view kSpaces = " \t\n";

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Reads the parts of a tag from its inside, which is the text between "<" and ">".
class TagReader {
 public:
  explicit TagReader(std::string_view inside) : rest_(inside) {}

  std::string name() {
    std::string out;
    if (rest_.starts_with('/')) out += take(1);
    size_t end = 0;
    while (end < rest_.size() && (is_letter(rest_[end]) || (end > 0 && is_digit(rest_[end])))) ++end;
    return out.append(ascii_lower(take(end)));
  }

  bool skip_spaces() {
    size_t end = std::min(rest_.find_first_not_of(kSpaces), rest_.size());
    return !take(end).empty();
  }
  bool at_end() const { return rest_.empty() || rest_ == "/"; }

  // Returns an empty name where no attribute is.
  std::pair<std::string, std::string_view> attribute() {
    size_t end = 0;
    while (end < rest_.size() && (is_letter(rest_[end]) || is_digit(rest_[end]) || rest_[end] == '-')) ++end;
    auto name = ascii_lower(take(end));
    auto behind = rest_.find_first_not_of(kSpaces);
    if (name.empty() || behind == std::string_view::npos || rest_[behind] != '=') return {name, {}};
    take(behind + 1);
    skip_spaces();
    return {name, value()};
  }

 private:
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  std::string_view take(size_t count) {
    auto out = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return out;
  }

  std::string_view value() {
    bool quoted = rest_.starts_with('"') || rest_.starts_with('\'');
    if (!quoted) return take(std::min(rest_.find_first_of(" \t\n\"'"), rest_.size()));
    auto close = rest_.find(rest_.front(), 1);
    if (close == std::string_view::npos) return take(0);
    auto out = take(close + 1);
    return out.substr(1, out.size() - 2);
  }

  std::string_view rest_;
};

}  // namespace

std::optional<HtmlTag> html_tag_at(std::string_view text) {
  if (!text.starts_with('<')) return std::nullopt;
  auto end = text.find_first_of("<>", 1);
  if (end == std::string_view::npos || text[end] == '<') return std::nullopt;
  TagReader reader(text.substr(1, end - 1));
  HtmlTag tag{.name = reader.name(), .address = {}, .alt = {}, .length = end + 1};
  if (tag.name.empty() || tag.name == "/") return std::nullopt;
  while (reader.skip_spaces() && !reader.at_end()) {
    auto [name, value] = reader.attribute();
    if (name.empty()) break;
    if (name == (tag.name == "img" ? "src" : "href") && tag.address.empty()) tag.address = value;
    if (name == "alt") tag.alt = value;
  }
  // An unreadable rest, such as an open quote: shown as text.
  if (!reader.at_end()) tag.address.clear();
  return tag;
}

}  // namespace sk::conversations
