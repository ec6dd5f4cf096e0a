#include "conversations/sandbox_links.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "base/error.h"
#include "base/path.h"
#include "base/text.h"
#include "conversations/foreign_addresses.h"
#include "conversations/markdown_parts.h"
#include "workspace/spelling.h"

namespace sk::conversations {

namespace {

using Form = SandboxLink::Form;

constexpr std::string_view kScheme = "sandbox:";
constexpr std::string_view kFolder = "mnt/data/";
// A path has at most 8,192 bytes, each of which may take three characters.
constexpr size_t kAddressBytesMax = 3 * kPathBytesMax + 64;
constexpr size_t kLabelBytesMax = 2048;

bool starts_without_case(std::string_view text, std::string_view lower) {
  return text.size() >= lower.size() && ascii_lower(text.substr(0, lower.size())) == lower;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// CJK punctuation and closing quotes that end an address in text without spaces.
constexpr std::array<std::string_view, 12> kWideStops = {"，", "。", "；", "！", "？", "、",
                                                         "”",  "’",  "」", "』", "】", "》"};

size_t wide_stop_at(std::string_view rest) {
  for (auto stop : kWideStops) {
    if (rest.starts_with(stop)) return stop.size();
  }
  return 0;
}

// Characters at the end of a bare address that belong to the sentence.
constexpr std::string_view kTrailing = ".,;:!?'*~";

class Finder {
 public:
  Finder(std::string_view text, const MarkdownParts& parts)
      : text_(text),
        code_(parts.code),
        destinations_(parts.destinations),
        foreign_(text, parts.destinations) {}

  std::vector<SandboxLink> find() {
    while (at_ < text_.size()) {
      while (!code_.empty() && code_.front().end <= at_) code_ = code_.subspan(1);
      in_code_ = !code_.empty() && code_.front().start <= at_;
      if (!in_code_ && text_[at_] == ']' && text_.substr(at_, 2) == "](" && markdown()) continue;
      if ((text_[at_] == 's' || text_[at_] == 'S') && bare()) continue;
      ++at_;
    }
    return std::move(found_);
  }

 private:
  static bool is_wanted(std::string_view rest) {
    return starts_without_case(rest, kScheme) || starts_without_case(rest, "/mnt/data/") ||
           starts_without_case(rest, "data:image/");
  }

  // Called at "](". Consumes the whole link if its address is a sandbox address.
  bool markdown() {
    size_t start = text_.find_first_not_of(" \t\r\n", at_ + 2);
    if (start == std::string_view::npos) return false;
    bool angled = text_[start] == '<';
    if (angled) ++start;
    if (!is_wanted(text_.substr(start))) return false;
    auto close = close_of_parsed(start, angled);
    bool same_line = text_.substr(at_, start - at_).find('\n') == std::string_view::npos;
    if (!close && same_line) close = angled ? close_of_angled(start) : close_of_plain(start);
    if (!close || has_parsed(start + 1, close->outer_end)) return false;
    SandboxLink link;
    link.start = start;
    link.end = close->address_end;
    link.outer_end = close->outer_end;
    link.form = Form::markdown;
    set_label(link);
    if (is_in_foreign(link)) return false;
    return add(std::move(link));
  }

  // Whether the link is part of the address of another place. A replacement would hand it to that place.
  bool is_in_foreign(const SandboxLink& link) const {
    using Scope = ForeignAddresses::Scope;
    size_t from = end_before(link.outer_start);
    if (parsed_end(link.start)) return foreign_.contain(link.outer_start, from, Scope::outside_markdown);
    // The parser may read what looks like the end of a label as a part of an address: <https://…](…)>.
    return is_inside_parsed(link.start) || foreign_.contain(link.outer_start, from, Scope::everything);
  }

  struct Close {
    size_t address_end, outer_end;
  };

  // Returns the end of the address that the Markdown parser finds at `start`.
  std::optional<size_t> parsed_end(size_t start) const {
    auto found = first_parsed(start);
    if (found == destinations_.end() || found->start != start) return std::nullopt;
    return found->end;
  }
  // Whether the parser finds an address that starts in this range. A guess must not extend into another link.
  bool has_parsed(size_t from, size_t to) const {
    auto found = first_parsed(from);
    return found != destinations_.end() && found->start < to;
  }
  // Whether `at` is inside an address that the parser finds, but not at its start.
  bool is_inside_parsed(size_t at) const {
    auto next = first_parsed(at);
    return next != destinations_.begin() && std::prev(next)->end > at;
  }
  std::span<const TextRange>::iterator first_parsed(size_t from) const {
    auto before = [](const TextRange& range, size_t at) { return range.start < at; };
    return std::lower_bound(destinations_.begin(), destinations_.end(), from, before);
  }

  // Returns the end of a link that the parser found. A title may follow the address.
  std::optional<Close> close_of_parsed(size_t start, bool angled) const {
    auto end = parsed_end(start);
    if (!end) return std::nullopt;
    size_t i = skip_space(*end + (angled ? 1 : 0));
    if (i < text_.size() && std::string_view("\"'(").find(text_[i]) != std::string_view::npos)
      i = skip_space(behind_title(i));
    if (i >= text_.size() || text_[i] != ')') return std::nullopt;
    return Close{*end, i + 1};
  }

  size_t skip_space(size_t at) const {
    return std::min(text_.find_first_not_of(" \t\r\n", at), text_.size());
  }

  size_t behind_title(size_t quote) const {
    char closer = text_[quote] == '(' ? ')' : text_[quote];
    size_t i = quote + 1;
    for (; i < text_.size() && text_[i] != closer; ++i)
      if (text_[i] == '\\') ++i;
    return std::min(i + 1, text_.size());
  }

  // Finds `stop` on the same line, before another link starts, within `bytes_max`.
  std::optional<size_t> find_on_line(char stop, size_t from, size_t bytes_max) const {
    for (size_t i = from; i < text_.size() && i - from < bytes_max; ++i) {
      if (text_[i] == stop) return i;
      if (text_[i] == '\n' || (text_[i] == ']' && text_.substr(i, 2) == "](")) break;
    }
    return std::nullopt;
  }

  std::optional<Close> close_of_angled(size_t start) const {
    bool is_data = starts_without_case(text_.substr(start), "data:");
    auto end = find_on_line('>', start, is_data ? text_.size() : kAddressBytesMax);
    auto outer = end ? find_on_line(')', *end, kLabelBytesMax) : std::nullopt;
    if (!outer) return std::nullopt;
    return Close{*end, *outer + 1};
  }

  // Finds the parenthesis that closes the link. Models do not escape spaces and parentheses in names. Another
  // "](" is never part of a name, which also bounds the search.
  std::optional<Close> close_of_plain(size_t start) const {
    size_t limit =
        starts_without_case(text_.substr(start), "data:") ? text_.size() : start + kAddressBytesMax;
    std::optional<size_t> first;
    int depth = 0;
    for (size_t i = start; i < std::min(limit, text_.size()); ++i) {
      char c = text_[i];
      if (c == '\n' || (c == ']' && text_.substr(i, 2) == "](")) break;
      if (c == '\\') {
        ++i;
      } else if (c == '(') {
        ++depth;
      } else if (c == ')') {
        if (!first) first = i;
        if (depth-- == 0) return Close{without_title(start, i), i + 1};
      }
    }
    if (!first) return std::nullopt;
    return Close{without_title(start, *first), *first + 1};
  }

  // Returns the end of the address in `address "title"`.
  size_t without_title(size_t start, size_t end) const {
    auto inside = text_.substr(start, end - start);
    while (!inside.empty() && (inside.back() == ' ' || inside.back() == '\t')) inside.remove_suffix(1);
    if (inside.size() > 2 && (inside.back() == '"' || inside.back() == '\'')) {
      char quote = inside.back();
      auto open = inside.substr(0, inside.size() - 1).rfind(quote);
      if (open != std::string_view::npos && open > 0 && (inside[open - 1] == ' ' || inside[open - 1] == '\t'))
        inside = inside.substr(0, open);
    }
    while (!inside.empty() && (inside.back() == ' ' || inside.back() == '\t')) inside.remove_suffix(1);
    return start + inside.size();
  }

  // Searches backwards from "](" for the bracket that opens the label. The label may hold a bare address,
  // which is part of it, but no link that is certain.
  void set_label(SandboxLink& link) const {
    size_t least = certain_end_;
    if (at_ - least > kLabelBytesMax) least = at_ - kLabelBytesMax;
    int depth = 0;
    for (size_t i = at_; i-- > least;) {
      if (text_[i] == ']') ++depth;
      if (text_[i] != '[' || depth-- != 0) continue;
      if (end_before(i) > i) break;  // the bracket is part of an address
      link.label = text_.substr(i + 1, at_ - i - 1);
      link.outer_start = i;
      if (i > least && text_[i - 1] == '!' && end_before(i - 1) < i) {
        --link.outer_start;
        link.form = Form::image;
      }
      return;
    }
    // No label: only the address can be replaced.
    link.form = Form::target;
    link.outer_start = link.start;
    link.outer_end = link.end;
  }

  // Returns how many of the found links start before `at`, and where the last of them ends.
  size_t count_before(size_t at) const {
    size_t count = found_.size();
    while (count > 0 && found_[count - 1].outer_start >= at) --count;
    return count;
  }
  size_t end_before(size_t at) const {
    size_t count = count_before(at);
    return count == 0 ? 0 : found_[count - 1].outer_end;
  }

  bool bare() {
    auto rest = text_.substr(at_);
    if (!starts_without_case(rest, kScheme) || !is_start_of_word()) return false;
    // "sandbox: a place to play" is ordinary text.
    auto path = rest.substr(kScheme.size());
    if (!path.starts_with('/') && !path.starts_with('%') && !path.starts_with("mnt/")) return false;
    SandboxLink link;
    link.start = link.outer_start = at_;
    if (is_in_foreign(link)) return false;
    auto parsed = parsed_end(at_);
    auto closer = parsed ? parsed : end_of_enclosed(char_before(at_));
    if (!parsed && closer && has_parsed(at_ + 1, *closer)) closer.reset();
    link.end = link.outer_end = closer ? *closer : end_of_bare();
    if (link.end <= at_ + kScheme.size()) return false;
    if (in_code_ || is_quote(char_before(at_))) link.form = Form::quoted;
    if (!in_code_ && (parsed || is_behind_target_mark())) link.form = Form::target;
    if (link.form == Form::target) include_angles(link);
    return add(std::move(link));
  }

  char char_before(size_t at) const { return at > 0 ? text_[at - 1] : ' '; }
  static bool is_quote(char c) { return c == '`' || c == '"' || c == '\''; }

  // Emphasis may precede the address: "_sandbox:/…_".
  bool is_start_of_word() const { return !is_word(char_before(at_ - underscores_before())); }
  size_t underscores_before() const {
    size_t count = 0;
    while (count < std::min<size_t>(at_, 3) && text_[at_ - count - 1] == '_') ++count;
    return count;
  }

  // Whether the text before the address says that a target follows: "<", "href=", "href='" or "[1]: ".
  bool is_behind_target_mark() const {
    char before = char_before(at_);
    if (is_quote(before)) before = char_before(at_ - 1);
    return before == '=' || char_before(at_) == '<' || (at_ > 2 && text_.substr(at_ - 3, 3) == "]: ");
  }

  // An address in <…> that is no part of a link or a definition is replaced with its marks.
  void include_angles(SandboxLink& link) const {
    if (char_before(link.start) != '<' || text_.substr(link.end, 1) != ">") return;
    auto before = text_.substr(0, link.start - 1);
    if (before.ends_with("](") || before.ends_with("]: ") || before.ends_with("]:")) return;
    --link.outer_start;
    ++link.outer_end;
  }

  // Names in <…> and in quotes may contain spaces. nullopt if they do not close on this line or contain a
  // character that no name has.
  std::optional<size_t> end_of_enclosed(char before) const {
    if (before != '<' && before != '"' && before != '\'') return std::nullopt;
    const char closer = before == '<' ? '>' : before;
    for (size_t i = at_ + kScheme.size(); i < text_.size() && i - at_ < kAddressBytesMax; ++i) {
      char c = text_[i];
      // The apostrophe in "Bob's" is not a closing quote.
      bool is_letter = closer == '\'' && i + 1 < text_.size() && is_word(text_[i + 1]);
      if (c == closer && !is_letter) return i;
      bool begins_another = (c == 's' || c == 'S') && starts_without_case(text_.substr(i), kScheme);
      if (begins_another || std::string_view("\n`<>\"").find(c) != std::string_view::npos) break;
    }
    return std::nullopt;
  }

  // Where the link to the address at `parsed` begins, seen from at_: at its label or, if at_ is inside the
  // label, at the end of the label.
  size_t start_of_link(size_t parsed) const {
    auto between = text_.substr(at_, parsed - at_);
    auto mark = between.find('[');
    if (mark == std::string_view::npos) mark = between.rfind("](");
    return mark == std::string_view::npos ? parsed : at_ + mark;
  }

  size_t end_of_bare() const {
    constexpr std::string_view kStops = "<>\"`|";
    size_t end = at_;
    int depth = 0, wide_depth = 0;
    for (; end < text_.size() && end - at_ < kAddressBytesMax; ++end) {
      auto c = static_cast<unsigned char>(text_[end]);
      auto rest = text_.substr(end);
      if (c <= ' ' || c == 0x7f || kStops.find(text_[end]) != std::string_view::npos) break;
      if (c >= 0x80 && (wide_stop_at(rest) != 0 || rest.starts_with("\u3000"))) break;
      if (rest.starts_with("（")) ++wide_depth;
      if (rest.starts_with("）") && wide_depth-- == 0) break;
      if (c == '(' || c == '[' || c == '{') ++depth;
      if ((c == ')' || c == ']' || c == '}') && depth-- == 0) break;
    }
    if (has_parsed(at_ + 1, end)) end = std::min(end, start_of_link(first_parsed(at_ + 1)->start));
    size_t underscores = underscores_before();  // as many close the emphasis
    while (end > at_) {
      bool closes = text_[end - 1] == '_' && underscores > 0;
      if (closes) --underscores;
      if (!closes && kTrailing.find(text_[end - 1]) == std::string_view::npos) break;
      --end;
    }
    return end;
  }

  bool add(SandboxLink link) {
    link.address = text_.substr(link.start, link.end - link.start);
    bool is_data = starts_without_case(link.address, "data:");
    if (is_data && link.form != Form::image) return false;
    if (ascii_lower(link.address) == kScheme) return false;
    at_ = std::max(link.outer_end, at_ + 1);
    found_.resize(count_before(link.outer_start));  // addresses in the label
    if (link.form == Form::markdown || link.form == Form::image || parsed_end(link.start))
      certain_end_ = link.outer_end;
    found_.push_back(std::move(link));
    return true;
  }

  const std::string_view text_;
  std::span<const TextRange> code_;  // ranges that end after at_
  const std::span<const TextRange> destinations_;
  const ForeignAddresses foreign_;
  bool in_code_ = false;
  size_t at_ = 0;
  size_t certain_end_ = 0;  // of the last link that has a label or that the parser confirms
  std::vector<SandboxLink> found_;
};

// Undoes Markdown escapes: "\(" → "(" and "&amp;" → "&".
std::string unescaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    bool escape =
        text[i] == '\\' && i + 1 < text.size() && std::ispunct(static_cast<unsigned char>(text[i + 1]));
    if (escape) ++i;
    out += text[i];
    if (text[i] == '&' && text.substr(i, 5) == "&amp;") i += 4;
  }
  return out;
}

// Characters that names may have, but that more often continue the sentence.
constexpr std::array<std::string_view, 10> kDoubtful = {"…", "—",      "–",      "»",      "›",
                                                        "“", "\u00a0", "\u202f", "\u2009", "&nbsp;"};

// Whether a sentence may go on at the start of `rest`, the end of an address.
bool may_end_at(std::string_view rest) {
  if (rest == "\\" || rest == "'s" || rest == "\u2019s") return true;
  if (rest.find_first_not_of('_') == std::string_view::npos) return true;
  // A line number: ":12" or ":12:5".
  if (rest.size() > 1 && rest.front() == ':' &&
      rest.find_first_not_of(":0123456789") == std::string_view::npos)
    return true;
  return std::any_of(kDoubtful.begin(), kDoubtful.end(), [&](auto mark) { return rest.starts_with(mark); });
}

// Removes the names "." from a path.
std::string without_dots(std::string_view path) {
  std::string out;
  for (auto name : split(path, '/')) {
    if (name == ".") continue;
    if (!out.empty()) out += '/';
    out += name;
  }
  return out;
}

// Returns the path below /mnt/data, or nullopt.
std::optional<std::string> below_data(std::string_view address) {
  if (starts_without_case(address, kScheme)) address.remove_prefix(kScheme.size());
  while (address.starts_with('/')) address.remove_prefix(1);
  if (!address.starts_with(kFolder)) return std::nullopt;
  address.remove_prefix(kFolder.size());
  try {
    return clean_file_path(without_dots(address));
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::vector<SandboxLink> find_sandbox_links(std::string_view text) {
  auto parts = find_markdown_parts(text);
  return Finder(text, parts).find();
}

std::vector<std::string> paths_meant(std::string_view address) {
  std::vector<std::string> spellings = {std::string(address), unescaped(address)};
  for (size_t i = 0; i < 2; ++i) {
    if (auto decoded = percent_decode(spellings[i])) spellings.push_back(std::move(*decoded));
  }
  for (size_t i = 0; i < 2; ++i) {
    auto shorter = spellings[i].substr(0, spellings[i].find_first_of("?#"));
    auto decoded = percent_decode(shorter);
    spellings.push_back(std::move(shorter));
    if (decoded) spellings.push_back(std::move(*decoded));
  }
  std::vector<std::string> paths;
  auto add = [&](std::string path) {
    if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(std::move(path));
  };
  for (const auto& spelling : spellings) {
    if (auto path = below_data(spelling)) add(std::move(*path));
  }
  for (size_t i = 0, count = paths.size(); i < count; ++i) {
    if (auto other = workspace::other_spelling(paths[i])) add(std::move(*other));
  }
  return paths;
}

std::vector<std::string> shorter_addresses(std::string_view address) {
  constexpr size_t kCountMax = 16;
  std::vector<std::string> out;
  for (size_t i = kScheme.size(); i < address.size() && out.size() < kCountMax; ++i) {
    if (!may_end_at(address.substr(i))) continue;
    auto shorter = address.substr(0, i);
    while (!shorter.empty() && kTrailing.find(shorter.back()) != std::string_view::npos)
      shorter.remove_suffix(1);
    if (out.empty() || out.back() != shorter) out.emplace_back(shorter);
  }
  std::reverse(out.begin(), out.end());
  return out;
}

std::string name_meant(std::string_view address) {
  auto paths = paths_meant(address);
  // Prefer the decoded spelling, which is the most readable.
  auto readable = percent_decode(unescaped(address)).value_or(std::string(address));
  if (auto path = below_data(readable)) return split_path(*path).second;
  if (!paths.empty()) return split_path(paths.front()).second;
  auto slash = readable.find_last_not_of('/');
  auto shorter = readable.substr(0, slash == std::string::npos ? 0 : slash + 1);
  auto name = shorter.substr(shorter.find_last_of("/:") + 1);
  return name.empty() || name == "." || name == ".." ? "file" : escape_name(name);
}

}  // namespace sk::conversations
