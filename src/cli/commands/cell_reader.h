// Joins typed lines into cells like Python's prompt: a line that opens a block or a bracket continues, and a
// blank line ends a block.
#pragma once

#include <string>
#include <string_view>

namespace sk::cli {

// Whether the text is complete and can be run. Considers only brackets, strings and indentation; Python
// reports real errors.
bool is_whole_cell(std::string_view text);

}  // namespace sk::cli
