// Joins typed lines into cells, as Python's own prompt does: a line that opens a block or a bracket is not
// the end, and a blank line ends a block.
#pragma once

#include <string>
#include <string_view>

namespace sk::cli {

// Whether the text may be run as it is. Judged by its brackets, strings and indentation; what is really wrong
// with it, Python says better.
bool is_whole_cell(std::string_view text);

}  // namespace sk::cli
