// The text of 'sandkeep top': a snapshot of the server as lines for a person. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "cli/frame/terminal.h"

namespace sk::cli {

struct TopLook {
  size_t width = 0;   // of the lines; 0: unlimited
  bool utf8 = false;  // whether the terminal shows more than ASCII
};

struct TopLine {
  std::string text;  // printable: names are escaped
  Style style = Style::plain;
  bool operator==(const TopLine&) const = default;
};

// Describes the answer of GET /api/v1/top: figures of the server, a table of tenants and one of sessions, in
// the order of the answer. Error(internal) if the answer is not one.
std::vector<TopLine> describe_top(const Json& top, const TopLook& look);

// The number of lines besides the rows of the two tables, with the rows for the rest and the status line.
constexpr size_t kTopLinesAround = 12;

// Whether the answer has rates. The first one after a minute has none.
bool has_rates(const Json& top);

}  // namespace sk::cli
