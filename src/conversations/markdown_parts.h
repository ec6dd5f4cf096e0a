// Where the parts of a Markdown text are that a search for addresses must know: its code, and what its links
// lead to. The same parser as that of the HTML says so, so that both agree. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace sk::conversations {

// In bytes of the text; the end excluded.
struct TextRange {
  size_t start = 0, end = 0;
};

struct MarkdownParts {
  // The contents of code spans and code blocks, without backticks and fences. In order, without overlap.
  std::vector<TextRange> code;
  // Addresses of links, images and definitions, without the marks around them, ordered by their start. One
  // that is written with escapes or entities is left out.
  std::vector<TextRange> destinations;
};

// Any bytes, in time about linear in the text: the search ends early in one that uses a long definition too
// often.
MarkdownParts find_markdown_parts(std::string_view text);

}  // namespace sk::conversations
