// Finds code and link targets in a Markdown text, for the search for addresses. Uses the same parser as the
// HTML output, so that both agree. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace sk::conversations {

// A range of bytes of the text; `end` is exclusive.
struct TextRange {
  size_t start = 0, end = 0;
};

struct MarkdownParts {
  // The contents of code spans and code blocks, without backticks and fences. In order, without overlap.
  std::vector<TextRange> code;
  // Targets of links, images and definitions, without the marks around them, ordered by start. Targets
  // written with escapes or entities are omitted.
  std::vector<TextRange> destinations;
};

// Accepts any bytes and takes about linear time: it ends early if a text uses a long definition too often.
MarkdownParts find_markdown_parts(std::string_view text);

}  // namespace sk::conversations
