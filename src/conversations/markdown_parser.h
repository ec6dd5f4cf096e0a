// Parses Markdown with md4c: CommonMark with tables and ~~deleted~~. Internal to markdown.cpp and
// markdown_parts.cpp.
#pragma once

#include <md4c.h>

#include <string_view>

namespace sk::conversations {

// Receives each part of a text in order. A method that returns false ends parsing.
class MarkdownVisitor {
 public:
  virtual ~MarkdownVisitor() = default;
  virtual bool enter(MD_BLOCKTYPE type, void* detail) = 0;
  virtual bool leave(MD_BLOCKTYPE type, void* detail) = 0;
  virtual bool enter(MD_SPANTYPE type, void* detail) = 0;
  virtual bool leave(MD_SPANTYPE type, void* detail) = 0;
  virtual bool text(MD_TEXTTYPE type, std::string_view piece) = 0;
};

// Returns whether the whole text was parsed. Rethrows exceptions of the visitor.
bool parse_markdown(std::string_view text, MarkdownVisitor& visitor);

}  // namespace sk::conversations
