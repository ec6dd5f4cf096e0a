// Formats text in aligned columns for a terminal. Pure functions, except print().
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/frame/terminal.h"

namespace sk::cli {

// Returns the number of terminal columns of a text. Combining marks take none; East Asian wide characters and
// emoji take two.
size_t display_width(std::string_view text);

// Escapes untrusted text for a terminal. Control characters (which could move the cursor or forge output) and
// bytes that are not UTF-8 become "\x1b".
std::string printable(std::string_view text);

// Returns the beginning of a text that has at most `width` columns. Does not split a character.
std::string cut_to_width(std::string_view text, size_t width);

enum class Align { left, right };

// A cell of a table. The conversions from text are implicit on purpose.
struct TableCell {
  TableCell(std::string cell_text, Style cell_style = Style::plain)
      : text(std::move(cell_text)), style(cell_style) {}
  TableCell(const char* cell_text, Style cell_style = Style::plain) : text(cell_text), style(cell_style) {}
  std::string text;
  Style style;
};

class Table {
 public:
  explicit Table(std::vector<Align> columns) : columns_(std::move(columns)) {}
  // Adds a row; `cells` must have one cell per column.
  void add(std::vector<TableCell> cells);
  bool empty() const { return rows_.empty(); }
  // Removes the column with this text in the first row.
  void drop(std::string_view heading);
  // The number of terminal columns of the longest line.
  size_t width() const;
  // Returns one text per row, with two spaces between cells and no trailing spaces. `paint` adds colour to a
  // cell.
  std::vector<std::string> lines(const std::function<std::string(Style, std::string_view)>& paint) const;
  void print(Terminal& terminal) const;

 private:
  std::vector<Align> columns_;
  std::vector<std::vector<TableCell>> rows_;
};

// Breaks text at spaces into lines of at most `width` columns; a longer word gets its own line. The first
// line already has `indent` columns; the other lines start with as many spaces.
std::string wrap(std::string_view text, size_t width, size_t indent);

}  // namespace sk::cli
