#include "cli/frame/columns.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/error.h"
#include "base/text.h"

namespace sk::cli {

namespace {

// The code point at the start of `text` and its length; a byte that is not UTF-8 is a point by itself.
struct Point {
  uint32_t value;
  size_t bytes;
  bool valid;
};

Point first_point(std::string_view text) {
  auto c = static_cast<uint8_t>(text[0]);
  size_t length = c < 0x80 ? 1 : (c >> 5) == 6 ? 2 : (c >> 4) == 14 ? 3 : (c >> 3) == 30 ? 4 : 0;
  if (length == 0 || length > text.size() || !is_utf8(text.substr(0, length))) return {c, 1, false};
  uint32_t value = length == 1 ? c : c & (0xFFu >> (length + 1));
  for (size_t i = 1; i < length; ++i) value = (value << 6) | (static_cast<uint8_t>(text[i]) & 0x3Fu);
  return {value, length, true};
}

struct Range {
  uint32_t first, last;
};

template <size_t N>
bool within(const std::array<Range, N>& ranges, uint32_t point) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const Range& r) { return point >= r.first && point <= r.last; });
}

// The blocks that occur in file names. A missing rare character only misaligns a column.
constexpr auto kWide = std::to_array<Range>({{0x1100, 0x115F},
                                             {0x2E80, 0x303E},
                                             {0x3041, 0x33FF},
                                             {0x3400, 0x4DBF},
                                             {0x4E00, 0x9FFF},
                                             {0xA000, 0xA4CF},
                                             {0xAC00, 0xD7A3},
                                             {0xF900, 0xFAFF},
                                             {0xFE30, 0xFE6F},
                                             {0xFF00, 0xFF60},
                                             {0xFFE0, 0xFFE6},
                                             {0x1F300, 0x1F64F},
                                             {0x1F680, 0x1F6FF},
                                             {0x1F900, 0x1F9FF},
                                             {0x20000, 0x3FFFD}});
constexpr auto kNoWidth = std::to_array<Range>({{0x0300, 0x036F},
                                                {0x0483, 0x0489},
                                                {0x0591, 0x05BD},
                                                {0x0610, 0x061A},
                                                {0x064B, 0x065F},
                                                {0x1AB0, 0x1AFF},
                                                {0x1DC0, 0x1DFF},
                                                {0x200B, 0x200F},
                                                {0x20D0, 0x20FF},
                                                {0xFE00, 0xFE0F},
                                                {0xFE20, 0xFE2F}});

// C0, DEL, C1, and bidirectional control characters, with which a name could imitate another.
bool is_control(uint32_t point) {
  return point < 0x20 || (point >= 0x7F && point < 0xA0) || (point >= 0x202A && point <= 0x202E) ||
         (point >= 0x2066 && point <= 0x2069) || point == 0x2028 || point == 0x2029;
}

}  // namespace

size_t display_width(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    auto point = first_point(text);
    width += within(kNoWidth, point.value) ? 0 : within(kWide, point.value) ? 2 : 1;
    text.remove_prefix(point.bytes);
  }
  return width;
}

std::string cut_to_width(std::string_view text, size_t width) {
  size_t bytes = 0;
  while (bytes < text.size()) {
    auto point = first_point(text.substr(bytes));
    size_t columns = display_width(text.substr(bytes, point.bytes));
    if (columns > width) break;
    width -= columns;
    bytes += point.bytes;
  }
  return std::string(text.substr(0, bytes));
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    auto point = first_point(text);
    if (point.valid && !is_control(point.value)) {
      out += text.substr(0, point.bytes);
    } else {
      for (char c : text.substr(0, point.bytes)) {
        char escaped[8];
        std::snprintf(escaped, sizeof escaped, "\\x%02x", static_cast<unsigned>(static_cast<uint8_t>(c)));
        out += escaped;
      }
    }
    text.remove_prefix(point.bytes);
  }
  return out;
}

void Table::add(std::vector<TableCell> cells) {
  SK_CHECK(cells.size() == columns_.size());
  rows_.push_back(std::move(cells));
}

void Table::drop(std::string_view heading) {
  if (rows_.empty()) return;
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (rows_[0][i].text != heading) continue;
    auto at = static_cast<std::ptrdiff_t>(i);
    columns_.erase(columns_.begin() + at);
    for (auto& row : rows_) row.erase(row.begin() + at);
    return;
  }
}

size_t Table::width() const {
  size_t most = 0;
  for (const auto& line : lines([](Style, std::string_view text) { return std::string(text); }))
    most = std::max(most, display_width(line));
  return most;
}

std::vector<std::string> Table::lines(
    const std::function<std::string(Style, std::string_view)>& paint) const {
  std::vector<size_t> widths(columns_.size());
  for (const auto& row : rows_)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i].text));
  std::vector<std::string> out;
  for (const auto& row : rows_) {
    std::string line;
    size_t owed = 0;  // spaces that are written only if a cell follows
    for (size_t i = 0; i < row.size(); ++i) {
      if (widths[i] == 0) continue;
      size_t padding = widths[i] - display_width(row[i].text);
      if (columns_[i] == Align::right) owed += padding;
      if (!row[i].text.empty()) {
        line.append(owed, ' ');
        owed = 0;
        line += paint(row[i].style, row[i].text);
      }
      owed += 2 + (columns_[i] == Align::left ? padding : 0);
    }
    out.push_back(std::move(line));
  }
  return out;
}

void Table::print(Terminal& terminal) const {
  auto paint = [&](Style style, std::string_view text) { return terminal.paint_out(style, text); };
  for (const auto& line : lines(paint)) terminal.line(line);
}

std::string wrap(std::string_view text, size_t width, size_t indent) {
  std::string out;
  size_t column = indent;
  bool line_begins = true;
  for (auto word : split(text, ' ')) {
    if (word.empty()) continue;
    size_t word_width = display_width(word);
    if (!line_begins && column + 1 + word_width > width) {
      out += '\n';
      out.append(indent, ' ');
      column = indent;
      line_begins = true;
    }
    if (!line_begins) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word_width;
    line_begins = false;
  }
  return out;
}

}  // namespace sk::cli
