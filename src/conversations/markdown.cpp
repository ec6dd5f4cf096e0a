#include "conversations/markdown.h"

#include <algorithm>
#include <optional>

#include "base/json.h"
#include "base/text.h"
#include "conversations/markdown_inline.h"

namespace sk::conversations {

namespace {

using Lines = std::vector<std::string_view>;

constexpr int kBlockDepthMax = 12;  // quotes in lists in quotes …; deeper is text
constexpr size_t kColumnsMax = 64;

size_t indent_of(std::string_view line) { return std::min(line.find_first_not_of(' '), line.size()); }
bool is_blank(std::string_view line) { return trim(line).empty(); }

// "- x", "3. x": how wide the mark is, and whether it counts.
struct Bullet {
  size_t indent, width;
  bool ordered;
  std::string_view number;
};

std::optional<Bullet> bullet_of(std::string_view line) {
  size_t indent = indent_of(line);
  auto rest = line.substr(indent);
  if (rest.size() >= 2 && std::string_view("-*+").find(rest[0]) != std::string_view::npos && rest[1] == ' ')
    return Bullet{indent, 2, false, {}};
  size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  bool is_number = digits > 0 && digits <= 9 && digits + 1 < rest.size() &&
                   (rest[digits] == '.' || rest[digits] == ')') && rest[digits + 1] == ' ';
  if (is_number) return Bullet{indent, digits + 2, true, rest.substr(0, digits)};
  return std::nullopt;
}

bool is_rule(std::string_view line) {
  auto text = trim(line);
  if (text.size() < 3 || std::string_view("-*_").find(text[0]) == std::string_view::npos) return false;
  size_t marks = 0;
  for (char c : text) {
    if (c != text[0] && c != ' ') return false;
    marks += c == text[0] ? 1 : 0;
  }
  return marks >= 3;
}

size_t heading_of(std::string_view line) {
  auto text = line.substr(indent_of(line));
  size_t level = std::min(text.find_first_not_of('#'), text.size());
  return level >= 1 && level <= 6 && level < text.size() && text[level] == ' ' ? level : 0;
}

std::string_view fence_of(std::string_view line) {
  auto text = line.substr(indent_of(line));
  for (char mark : {'`', '~'}) {
    size_t count = std::min(text.find_first_not_of(mark), text.size());
    if (count >= 3) return text.substr(0, count);
  }
  return {};
}

std::vector<std::string_view> cells_of(std::string_view row) {
  row = trim(row);
  if (row.starts_with('|')) row.remove_prefix(1);
  if (row.ends_with('|') && !row.ends_with("\\|")) row.remove_suffix(1);
  std::vector<std::string_view> cells;
  size_t start = 0;
  for (size_t i = 0; i <= row.size(); ++i) {
    if (i < row.size() && row[i] == '\\') {
      ++i;
      continue;
    }
    if (i < row.size() && row[i] != '|') continue;
    cells.push_back(trim(row.substr(start, std::min(i, row.size()) - start)));
    start = i + 1;
  }
  return cells;
}

// "| --- | :-: |"
bool is_table_rule(std::string_view line) {
  if (line.find('-') == std::string_view::npos || line.find('|') == std::string_view::npos) return false;
  return line.find_first_not_of("|:- \t") == std::string_view::npos;
}

struct Definition {
  std::string name, url;
};

// `[name]: address "title"`.
std::optional<Definition> definition_of(std::string_view line) {
  constexpr size_t kIndentMax = 3;
  size_t indent = indent_of(line);
  auto text = trim(line);
  size_t close = text.find("]:");
  if (indent > kIndentMax || !text.starts_with('[') || text.starts_with("[^") ||
      close == std::string_view::npos)
    return std::nullopt;
  auto name = text.substr(1, close - 1);
  auto rest = trim(text.substr(close + 2));
  bool angled = rest.starts_with('<');
  if (angled) rest.remove_prefix(1);
  size_t end = std::min(rest.find(angled ? '>' : ' '), rest.size());
  auto url = rest.substr(0, end);
  auto title = trim(rest.substr(std::min(end + 1, rest.size())));
  bool has_title = title.size() >= 2 && std::string_view("\"'(").find(title[0]) != std::string_view::npos;
  bool fits = name.find_first_of("[]") == std::string_view::npos && !reference_name(name).empty() &&
              !url.empty() && (title.empty() || has_title) && (!angled || end < rest.size());
  if (!fits) return std::nullopt;
  return Definition{reference_name(name), std::string(url)};
}

// Takes the definitions out of the lines. One does not stand in the middle of a paragraph, nor in code.
Lines without_definitions(const Lines& lines, Definitions& found) {
  Lines rest;
  std::string_view fence;
  bool may_begin = true;
  for (auto line : lines) {
    auto mark = fence_of(line);
    bool closes = !fence.empty() && mark.size() >= fence.size() && mark.front() == fence.front() &&
                  trim(line).size() == mark.size();
    auto definition = fence.empty() && may_begin ? definition_of(line) : std::nullopt;
    if (definition) {
      found.emplace(std::move(definition->name), std::move(definition->url));  // the first one counts
      continue;
    }
    may_begin = is_blank(line) || closes || heading_of(line) != 0;
    if (closes) {
      fence = {};
    } else if (fence.empty()) {
      fence = mark;
    }
    rest.push_back(line);
  }
  return rest;
}

class Blocks {
 public:
  Blocks(std::string& out, const Surroundings& around) : out_(out), around_(around) {}

  void run(const Lines& lines, int depth) {
    for (size_t at = 0; at < lines.size();) at = block(lines, at, depth);
  }

 private:
  // One block; returns where the next begins.
  size_t block(const Lines& lines, size_t at, int depth) {
    auto line = lines[at];
    if (is_blank(line)) return at + 1;
    if (!fence_of(line).empty()) return code(lines, at);
    if (size_t level = heading_of(line)) return heading(line, level, at);
    if (is_rule(line)) {
      out_ += "<hr>\n";
      return at + 1;
    }
    if (depth < kBlockDepthMax && line.substr(indent_of(line)).starts_with('>'))
      return quote(lines, at, depth);
    if (depth < kBlockDepthMax && bullet_of(line)) return list(lines, at, depth);
    if (at + 1 < lines.size() && line.find('|') != std::string_view::npos && is_table_rule(lines[at + 1]))
      return table(lines, at);
    return paragraph(lines, at, depth);
  }

  size_t heading(std::string_view line, size_t level, size_t at) {
    auto text = trim(line.substr(indent_of(line) + level));
    while (text.ends_with('#')) text.remove_suffix(1);
    auto tag = "h" + std::to_string(level);
    out_ += "<" + tag + ">";
    append_inline_html(out_, trim(text), around_);
    out_ += "</" + tag + ">\n";
    return at + 1;
  }

  size_t code(const Lines& lines, size_t at) {
    auto fence = fence_of(lines[at]);
    size_t indent = indent_of(lines[at]);
    out_ += "<pre><code>";
    for (++at; at < lines.size(); ++at) {
      auto line = lines[at];
      auto closing = fence_of(line);
      bool closes = closing.size() >= fence.size() && closing.front() == fence.front() &&
                    trim(line).size() == closing.size();
      if (closes) {
        ++at;
        break;
      }
      out_ += html_escape(line.substr(std::min(indent, indent_of(line)))) + "\n";
    }
    out_ += "</code></pre>\n";
    return at;
  }

  size_t quote(const Lines& lines, size_t at, int depth) {
    Lines inside;
    for (; at < lines.size() && !is_blank(lines[at]); ++at) {
      auto text = lines[at].substr(indent_of(lines[at]));
      if (text.starts_with('>')) text.remove_prefix(1);
      if (text.starts_with(' ')) text.remove_prefix(1);
      inside.push_back(text);
    }
    out_ += "<blockquote>\n";
    run(inside, depth + 1);
    out_ += "</blockquote>\n";
    return at;
  }

  size_t list(const Lines& lines, size_t at, int depth) {
    auto first = *bullet_of(lines[at]);
    auto tag = std::string(first.ordered ? "ol" : "ul");
    out_ += "<" + tag;
    if (first.ordered && first.number != "1") out_ += " start=\"" + std::string(first.number) + "\"";
    out_ += ">\n";
    while (at < lines.size()) {
      auto bullet = bullet_of(lines[at]);
      bool same = bullet && bullet->ordered == first.ordered && bullet->indent <= first.indent + 1 &&
                  !is_rule(lines[at]);
      if (!same) break;
      at = list_item(lines, at, *bullet, depth);
    }
    out_ += "</" + tag + ">\n";
    return at;
  }

  // Its own line, and all that is indented below it; blank lines between belong to it.
  size_t list_item(const Lines& lines, size_t at, const Bullet& bullet, int depth) {
    Lines inside = {lines[at].substr(bullet.indent + bullet.width)};
    size_t text_indent = bullet.indent + 2;
    bool after_blank = false;
    for (++at; at < lines.size(); ++at) {
      auto line = lines[at];
      if (is_blank(line)) {
        after_blank = true;
        inside.emplace_back();
        continue;
      }
      bool deeper = indent_of(line) >= text_indent;
      bool goes_on = !after_blank && !bullet_of(line) && heading_of(line) == 0 && fence_of(line).empty();
      if (!deeper && !goes_on) break;
      inside.push_back(line.substr(std::min(indent_of(line), bullet.indent + bullet.width)));
      after_blank = false;
    }
    while (!inside.empty() && is_blank(inside.back())) inside.pop_back();
    out_ += "<li>";
    if (inside.size() <= 1) {
      append_inline_html(out_, inside.empty() ? std::string_view() : trim(inside[0]), around_);
    } else {
      run(inside, depth + 1);
    }
    out_ += "</li>\n";
    return at;
  }

  size_t table(const Lines& lines, size_t at) {
    auto columns = std::min(cells_of(lines[at]).size(), kColumnsMax);
    out_ += "<table>\n<thead>\n";
    row(lines[at], "th", columns);
    out_ += "</thead>\n<tbody>\n";
    for (at += 2; at < lines.size() && lines[at].find('|') != std::string_view::npos; ++at)
      row(lines[at], "td", columns);
    out_ += "</tbody>\n</table>\n";
    return at;
  }

  void row(std::string_view line, const std::string& tag, size_t columns) {
    auto cells = cells_of(line);
    cells.resize(columns);
    out_ += "<tr>";
    for (auto cell : cells) {
      out_ += "<" + tag + ">";
      append_inline_html(out_, cell, around_);
      out_ += "</" + tag + ">";
    }
    out_ += "</tr>\n";
  }

  // Whether a line ends the paragraph before it. A year at the beginning of a line does not.
  static bool begins_other(std::string_view line, int depth) {
    if (!fence_of(line).empty() || heading_of(line) != 0 || is_rule(line)) return true;
    if (depth >= kBlockDepthMax) return false;
    auto bullet = bullet_of(line);
    return line.substr(indent_of(line)).starts_with('>') ||
           (bullet && (!bullet->ordered || bullet->number == "1"));
  }

  size_t paragraph(const Lines& lines, size_t at, int depth) {
    std::string text;
    size_t first = at;
    for (; at < lines.size() && !is_blank(lines[at]); ++at) {
      auto line = lines[at];
      if (at > first && begins_other(line, depth)) break;
      if (!text.empty()) text += '\n';
      text += line.substr(indent_of(line));
    }
    out_ += "<p>";
    append_inline_html(out_, text, around_);
    out_ += "</p>\n";
    return at;
  }

  std::string& out_;
  const Surroundings& around_;
};

// Line ends and tabs in one form; no control characters; UTF-8.
std::string normal(std::string_view markdown) {
  std::string text;
  text.reserve(markdown.size());
  for (size_t i = 0; i < markdown.size(); ++i) {
    char c = markdown[i];
    if (c == '\r') {
      if (i + 1 < markdown.size() && markdown[i + 1] == '\n') continue;
      c = '\n';
    }
    if (c == '\t') {
      text += "    ";
    } else if (static_cast<unsigned char>(c) >= ' ' || c == '\n') {
      text += c;
    }
  }
  if (is_utf8(text)) return text;
  // JSON's writer replaces what is not UTF-8.
  return Json::parse(to_text(Json(text))).get<std::string>();
}

}  // namespace

std::string markdown_to_html(std::string_view markdown, const HtmlOptions& options) {
  auto text = normal(markdown);
  std::string out;
  Definitions definitions;
  auto lines = without_definitions(split(text, '\n'), definitions);
  Blocks(out, {options, definitions}).run(lines, 0);
  return out;
}

}  // namespace sk::conversations
