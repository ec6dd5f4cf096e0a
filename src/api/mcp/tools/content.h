// Excerpts of a file's content for an agent: lines of text, rows of a table. Any thread.
#pragma once

#include <string>
#include <vector>

#include "workspace/keep_context.h"
#include "workspace/types.h"

namespace sk::api::mcp {

struct Lines {
  std::vector<std::string> lines;  // without line ends
  int64_t first = 1;               // number of the first line
  bool has_more = false;
  bool is_text = true;  // false: the bytes are not UTF-8
  bool cut = false;     // a line exceeded the limit
};

// Reads `count` lines from line `first` on, at most `bytes_max` bytes. Reads no more of the file than needed.
Lines read_lines(workspace::KeepContext& context, const workspace::Version& version, int64_t first,
                 int64_t count, size_t bytes_max);

// Splits one row of a table at `separator`. Supports quotes as in RFC 4180.
std::vector<std::string> split_row(std::string_view row, char separator);

struct Rows {
  std::vector<std::vector<std::string>> rows;
  size_t lines_used = 0;  // the remaining lines begin a row that does not end in them
};
// Splits lines into rows. A quoted value may span several lines. An unclosed quote is a plain character, and
// its line is a row. With `has_more`, an unfinished row is left for the next lines, unless it is the first
// row.
Rows split_rows(const std::vector<std::string>& lines, char separator, bool has_more);

// Returns ',' or '\t' for tables, 0 for other files.
char table_separator(std::string_view mime, std::string_view path);
bool is_text_mime(std::string_view mime);

// Reads the whole content. Error(too_large) above `bytes_max`.
std::string read_whole(workspace::KeepContext& context, const workspace::Version& version, size_t bytes_max);

}  // namespace sk::api::mcp
