// Where the code of a Markdown text is: fenced blocks and `spans`. What stands there is to be read as it is,
// so that nothing but an address may be replaced in it. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace sk::conversations {

// In bytes, with the marks around it; the end excluded.
struct CodeRange {
  size_t start, end;
};

// In order, without overlap; a fence that nothing closes goes to the end. Any bytes, in time about linear in
// the text.
std::vector<CodeRange> find_code(std::string_view text);

}  // namespace sk::conversations
