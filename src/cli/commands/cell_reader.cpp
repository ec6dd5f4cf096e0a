#include "cli/commands/cell_reader.h"

#include "base/text.h"

namespace sk::cli {

namespace {

// Finds constructs left open at the end of a text: brackets and a triple-quoted string.
class Openings {
 public:
  explicit Openings(std::string_view text) : text_(text) {
    while (at_ < text_.size()) step();
  }
  bool any() const { return depth_ > 0 || open_string_; }

 private:
  void step() {
    char c = text_[at_];
    if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == '\'' || c == '"') {
      skip_string(c);
    } else {
      if (c == '(' || c == '[' || c == '{') ++depth_;
      if ((c == ')' || c == ']' || c == '}') && depth_ > 0) --depth_;
      ++at_;
    }
  }

  void skip_string(char quote) {
    const std::string three(3, quote);
    bool is_long = text_.substr(at_).starts_with(three);
    at_ += is_long ? 3 : 1;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\\') {
        ++at_;
      } else if (!is_long && (text_[at_] == quote || text_[at_] == '\n')) {
        ++at_;
        return;
      } else if (is_long && text_.substr(at_).starts_with(three)) {
        at_ += 3;
        return;
      }
    }
    open_string_ = is_long;
  }

  const std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  bool open_string_ = false;
};

}  // namespace

bool is_whole_cell(std::string_view text) {
  auto lines = split(text, '\n');
  std::string_view first = trim(lines.front()), last = lines.back();
  if (first.starts_with("%%")) return lines.size() > 1 && trim(last).empty();
  if (first.starts_with('!') || first.starts_with('%')) return true;
  if (Openings(text).any() || last.ends_with('\\')) return false;
  bool is_block = first.starts_with('@');
  for (auto line : lines) is_block = is_block || trim(line.substr(0, line.find(" #"))).ends_with(':');
  return !is_block || trim(last).empty();
}

}  // namespace sk::cli
