// Parts of a file's content for an agent: lines of text, rows of a table, an image.
#pragma once

#include <string>
#include <vector>

#include "workspace/ground.h"
#include "workspace/types.h"

namespace sk::api::mcp {

struct Lines {
  std::vector<std::string> lines;  // without their ends
  int64_t first = 1;               // number of the first one
  bool has_more = false;
  bool is_text = true;  // false: the bytes are not UTF-8
  bool cut = false;     // a line was longer than all that may be shown
};

// `count` lines from line `first` on, at most `bytes_max` bytes of them. Reads no further than it must.
Lines read_lines(workspace::Ground& ground, const workspace::Version& version, int64_t first, int64_t count,
                 size_t bytes_max);

// One row of a table with values between `separator`, quoted as RFC 4180 says.
std::vector<std::string> split_row(std::string_view row, char separator);

struct Rows {
  std::vector<std::vector<std::string>> rows;
  size_t lines_used = 0;  // the rest begins a row that does not end in these lines
};
// A quoted value may go over several lines. A quote that nothing closes is a quote mark and no more: its line
// is a row. Where lines follow behind these (`has_more`), a row that may end there is left for them, unless
// it is the first.
Rows split_rows(const std::vector<std::string>& lines, char separator, bool has_more);

// ',' or '\t' for tables, 0 for anything else.
char table_separator(std::string_view mime, std::string_view path);
bool is_text_mime(std::string_view mime);

// The whole content. Error(too_large) over `bytes_max`.
std::string read_whole(workspace::Ground& ground, const workspace::Version& version, size_t bytes_max);

}  // namespace sk::api::mcp
