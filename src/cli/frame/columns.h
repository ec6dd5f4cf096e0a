// Text for people in aligned columns. Pure functions over values, but for print().
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/frame/terminal.h"

namespace sk::cli {

// How many columns a terminal gives the text: combining marks take none, East Asian wide characters and
// emoji two.
size_t display_width(std::string_view text);

// Names come from other people: control characters (which could move the cursor or forge output) and bytes
// that are not UTF-8 are written as "\x1b".
std::string printable(std::string_view text);

enum class Align { left, right };

// A text is a cell: the conversions are meant to be silent.
struct Cell {
  Cell(std::string cell_text, Style cell_style = Style::plain)
      : text(std::move(cell_text)), style(cell_style) {}
  Cell(const char* cell_text, Style cell_style = Style::plain) : text(cell_text), style(cell_style) {}
  std::string text;
  Style style;
};

class Table {
 public:
  explicit Table(std::vector<Align> columns) : columns_(std::move(columns)) {}
  // As many cells as there are columns.
  void add(std::vector<Cell> cells);
  bool empty() const { return rows_.empty(); }
  // One text per row, cells two spaces apart, without trailing spaces. `paint` adds colour to a cell.
  std::vector<std::string> lines(const std::function<std::string(Style, std::string_view)>& paint) const;
  void print(Terminal& terminal) const;

 private:
  std::vector<Align> columns_;
  std::vector<std::vector<Cell>> rows_;
};

// Breaks at spaces so that no line is wider than `width` (a longer word stands alone). The caller has already
// written `indent` columns of the first line; the others begin with as many spaces.
std::string wrap(std::string_view text, size_t width, size_t indent);

}  // namespace sk::cli
