#include "conversations/markdown_inline.h"

#include <algorithm>
#include <map>

#include "base/text.h"

namespace sk::conversations {

namespace {

constexpr size_t kNone = std::string_view::npos;
constexpr int kNestingMax = 6;  // links in emphasis in emphasis …
constexpr size_t kUrlBytesMax = 32 << 10;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n'; }
bool is_alnum(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || (c & 0x80) != 0; }
bool is_punct(char c) { return std::ispunct(static_cast<unsigned char>(c)) != 0; }

// One run of inline text. Every search that finds nothing is remembered, so that no text makes it slow.
class Inline {
 public:
  Inline(std::string& out, std::string_view text, const Surroundings& around, int depth, bool in_link)
      : out_(out), text_(text), around_(around), depth_(depth), in_link_(in_link) {
    match_brackets();
    note_backticks();
  }

  void run() {
    while (at_ < text_.size()) {
      if (step()) continue;
      // What means nothing, up to the next character that may mean something.
      size_t next = std::min(text_.find_first_of("\\`![<*_~hH\n", at_ + 1), text_.size());
      out_ += html_escape(text_.substr(at_, next - at_));
      at_ = next;
    }
  }

 private:
  bool step() {
    switch (text_[at_]) {
      case '\\':
        return escape();
      case '`':
        return code();
      case '!':
        return text_.substr(at_, 2) == "![" && link(at_ + 1, true);
      case '[':
        return link(at_, false);
      case '<':
        return angled();
      case '*':
      case '_':
      case '~':
        return emphasis();
      case 'h':
      case 'H':
        return web_address();
      case '\n':
        return line_break();
      default:
        return false;
    }
  }

  void plain(char c) { out_ += html_escape(std::string_view(&c, 1)); }

  bool escape() {
    if (at_ + 1 >= text_.size()) return false;
    if (text_[at_ + 1] == '\n') {
      out_ += "<br>\n";
    } else if (is_punct(text_[at_ + 1])) {
      plain(text_[at_ + 1]);
    } else {
      return false;
    }
    at_ += 2;
    return true;
  }

  bool line_break() {
    bool hard = at_ >= 2 && text_.substr(at_ - 2, 2) == "  ";
    out_ += hard ? "<br>\n" : "\n";
    ++at_;
    return true;
  }

  // Where runs of backticks begin, by their length.
  void note_backticks() {
    for (size_t i = 0; i < text_.size();) {
      if (text_[i] != '`') {
        ++i;
        continue;
      }
      size_t end = std::min(text_.find_first_not_of('`', i), text_.size());
      backticks_[end - i].push_back(i);
      i = end;
    }
  }

  bool code() {
    size_t end = std::min(text_.find_first_not_of('`', at_), text_.size());
    size_t count = end - at_;
    const auto& runs = backticks_[count];
    auto close = std::lower_bound(runs.begin(), runs.end(), end);
    if (close == runs.end()) {
      out_.append(text_.substr(at_, count));
      at_ = end;
      return true;
    }
    auto inside = text_.substr(end, *close - end);
    if (inside.size() > 2 && inside.front() == ' ' && inside.back() == ' ')
      inside = inside.substr(1, inside.size() - 2);
    out_ += "<code>" + html_escape(inside) + "</code>";
    at_ = *close + count;
    return true;
  }

  void match_brackets() {
    std::vector<size_t> open;
    for (size_t i = 0; i < text_.size(); ++i) {
      if (text_[i] == '\\') {
        ++i;
      } else if (text_[i] == '[') {
        open.push_back(i);
      } else if (text_[i] == ']' && !open.empty()) {
        closing_[open.back()] = i;
        open.pop_back();
      }
    }
  }

  bool link(size_t bracket, bool image) {
    auto found = closing_.find(bracket);
    if (found == closing_.end() || (in_link_ && !image) || depth_ >= kNestingMax) return false;
    size_t close = found->second;
    size_t end = kNone;
    std::string url;
    if (text_.substr(close + 1, 1) == "(") url = destination(close + 2, end);
    if (end == kNone && !by_reference(bracket, close, url, end)) return false;
    auto label = text_.substr(bracket + 1, close - bracket - 1);
    append_link(label, url, image);
    at_ = end;
    return true;
  }

  // "[label][name]", "[name][]" or "[name]", where a definition says what the name means.
  bool by_reference(size_t bracket, size_t close, std::string& url, size_t& end) const {
    if (around_.definitions.empty()) return false;
    auto name = text_.substr(bracket + 1, close - bracket - 1);
    size_t behind = close + 1;
    auto second = closing_.find(close + 1);
    if (second != closing_.end()) {
      behind = second->second + 1;
      auto named = text_.substr(close + 2, second->second - close - 2);
      if (!named.empty()) name = named;
    }
    auto found = around_.definitions.find(reference_name(name));
    if (found == around_.definitions.end()) return false;
    url = found->second;
    end = behind;
    return true;
  }

  // "(url)" or "(<url> "title")"; `end` is behind the parenthesis. No link of ours has spaces or line ends.
  std::string destination(size_t start, size_t& end) {
    while (start < text_.size() && is_space(text_[start])) ++start;
    bool angled = start < text_.size() && text_[start] == '<';
    if (angled) ++start;
    std::string url;
    size_t i = start;
    int depth = 0;
    for (; i < text_.size() && i - start < kUrlBytesMax; ++i) {
      char c = text_[i];
      // Another link's beginning ends the search, so that unfinished links do not make it slow.
      if (c == '\n' || (c == ']' && text_.substr(i, 2) == "](")) break;
      if (angled ? c == '>' : is_space(c) || c == '<') break;
      if (!angled && c == '(') ++depth;
      if (!angled && c == ')' && depth-- == 0) break;
      if (c == '\\' && i + 1 < text_.size() && is_punct(text_[i + 1])) c = text_[++i];
      url += c;
    }
    if (angled && (i >= text_.size() || text_[i++] != '>')) return {};
    while (i < text_.size() && is_space(text_[i])) ++i;
    if (i < text_.size() && (text_[i] == '"' || text_[i] == '\'')) i = behind_title(i);
    while (i < text_.size() && is_space(text_[i])) ++i;
    if (i < text_.size() && text_[i] == ')') end = i + 1;
    return url;
  }

  size_t behind_title(size_t quote) const {
    constexpr size_t kTitleBytesMax = 1024;
    for (size_t i = quote + 1; i < text_.size() && i - quote < kTitleBytesMax; ++i) {
      if (text_[i] == ']' && text_.substr(i, 2) == "](") break;
      if (text_[i] == '\\') {
        ++i;
      } else if (text_[i] == text_[quote]) {
        return i + 1;
      }
    }
    return quote;
  }

  void append_link(std::string_view label, const std::string& url, bool image) {
    if (!is_safe_link(url)) {
      // Shown without the link: where it leads to is nobody's business.
      Inline(out_, label, around_, depth_ + 1, in_link_).run();
      return;
    }
    bool shown = image && std::any_of(around_.html.image_prefixes.begin(), around_.html.image_prefixes.end(),
                                      [&](const std::string& prefix) { return url.starts_with(prefix); });
    if (shown) {
      out_ += "<img src=\"" + html_escape(url) + "\" alt=\"" + html_escape(label) + "\" loading=\"lazy\">";
      return;
    }
    if (in_link_) return Inline(out_, label, around_, depth_ + 1, true).run();
    open_link(url);
    if (label.empty()) out_ += html_escape(url);
    Inline(out_, label, around_, depth_ + 1, true).run();
    out_ += "</a>";
  }

  void open_link(std::string_view url) {
    out_ += "<a href=\"" + html_escape(url) + "\" rel=\"noopener noreferrer nofollow\">";
  }

  // <https://…>; any other tag is text.
  bool angled() {
    size_t end = at_ + 1;
    while (end < text_.size() && !is_space(text_[end]) && text_[end] != '<' && text_[end] != '>') ++end;
    auto url = text_.substr(at_ + 1, end - at_ - 1);
    if (end >= text_.size() || text_[end] != '>' || url.find(':') == kNone || !is_safe_link(url))
      return false;
    append_address(url);
    at_ = end + 1;
    return true;
  }

  bool web_address() {
    bool begins = at_ == 0 || !is_alnum(text_[at_ - 1]);
    auto rest = text_.substr(at_);
    auto lower = ascii_lower(rest.substr(0, 8));
    if (!begins || !(lower.starts_with("http://") || lower.starts_with("https://"))) return false;
    size_t end = at_;
    int depth = 0;
    for (; end < text_.size() && end - at_ < kUrlBytesMax; ++end) {
      char c = text_[end];
      if (is_space(c) || std::string_view("<>\"`*|[]\\\x7f").find(c) != kNone) break;
      if (c == '(') ++depth;
      if (c == ')' && depth-- == 0) break;
    }
    while (end > at_ && std::string_view(".,;:!?'_~").find(text_[end - 1]) != kNone) --end;
    auto url = text_.substr(at_, end - at_);
    if (url.size() <= 8 || !is_safe_link(url)) return false;
    append_address(url);
    at_ = end;
    return true;
  }

  void append_address(std::string_view url) {
    if (in_link_) {
      out_ += html_escape(url);
      return;
    }
    open_link(url);
    out_ += html_escape(url) + "</a>";
  }

  // **strong**, *em*, __strong__, _em_, ~~del~~.
  bool emphasis() {
    char mark = text_[at_];
    size_t end = std::min(text_.find_first_not_of(mark, at_), text_.size());
    size_t count = end - at_;
    size_t wide = count >= 2 ? 2 : 1;
    bool inside_word = at_ > 0 && is_alnum(text_[at_ - 1]);
    bool opens = end < text_.size() && !is_space(text_[end]) && !(mark == '_' && inside_word);
    if (count > 3 || !opens || depth_ >= kNestingMax || (mark == '~' && count != 2)) return literally(count);
    size_t close = close_of(mark, wide, end);
    if (close == kNone) return literally(count);
    auto tag = mark == '~' ? "del" : wide == 2 ? "strong" : "em";
    size_t inside = at_ + wide;
    out_ += "<" + std::string(tag) + ">";
    Inline(out_, text_.substr(inside, close - inside), around_, depth_ + 1, in_link_).run();
    out_ += "</" + std::string(tag) + ">";
    at_ = close + wide;
    return true;
  }

  bool literally(size_t count) {
    out_ += html_escape(text_.substr(at_, count));
    at_ += count;
    return true;
  }

  size_t close_of(char mark, size_t wide, size_t from) {
    auto& none_from = no_close_[{mark, wide}];
    if (none_from != 0 && from >= none_from) return kNone;
    for (size_t i = from + 1; i < text_.size(); ++i) {
      if (text_[i] == '\\') {
        ++i;
        continue;
      }
      if (text_[i] != mark) continue;
      size_t end = std::min(text_.find_first_not_of(mark, i), text_.size());
      bool joined = mark == '_' && end < text_.size() && is_alnum(text_[end]);
      if (end - i >= wide && (wide == 2 || end - i != 2) && !is_space(text_[i - 1]) && !joined)
        return wide == 1 ? end - 1 : end - wide;
      i = end - 1;
    }
    none_from = from;
    return kNone;
  }

  std::string& out_;
  const std::string_view text_;
  const Surroundings& around_;
  const int depth_;
  const bool in_link_;
  size_t at_ = 0;
  std::map<size_t, size_t> closing_;                    // '[' → its ']'
  std::map<size_t, std::vector<size_t>> backticks_;     // length → where such runs begin
  std::map<std::pair<char, size_t>, size_t> no_close_;  // from where on nothing closes
};

}  // namespace

bool is_safe_link(std::string_view url) {
  if (url.empty() || url.size() > kUrlBytesMax) return false;
  for (char c : url) {
    auto byte = static_cast<unsigned char>(c);
    if (byte <= ' ' || byte == 0x7f || c == '\\') return false;
  }
  auto lower = ascii_lower(url.substr(0, 8));
  if (lower.starts_with("http://") || lower.starts_with("https://") || lower.starts_with("mailto:"))
    return true;
  // Our own pages; "//host" would be somebody else's.
  return url.front() == '#' || (url.front() == '/' && !url.starts_with("//"));
}

std::string reference_name(std::string_view text) {
  constexpr size_t kReferenceBytesMax = 999;
  if (text.size() > kReferenceBytesMax) return {};
  std::string out;
  for (char c : trim(text)) {
    if (is_space(c) && out.ends_with(' ')) continue;
    out += is_space(c) ? ' ' : c;
  }
  return ascii_lower(out);
}

void append_inline_html(std::string& out, std::string_view text, const Surroundings& around) {
  Inline(out, text, around, 0, false).run();
}

}  // namespace sk::conversations
