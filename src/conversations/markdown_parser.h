// The parser of Markdown: CommonMark with tables and ~~deleted~~, by md4c. Internal to markdown.cpp and
// markdown_parts.cpp.
#pragma once

#include <md4c.h>

#include <string_view>

namespace sk::conversations {

// Is told each part of a text, in order. A method that returns false ends the parsing.
class MarkdownVisitor {
 public:
  virtual ~MarkdownVisitor() = default;
  virtual bool enter(MD_BLOCKTYPE type, void* detail) = 0;
  virtual bool leave(MD_BLOCKTYPE type, void* detail) = 0;
  virtual bool enter(MD_SPANTYPE type, void* detail) = 0;
  virtual bool leave(MD_SPANTYPE type, void* detail) = 0;
  virtual bool text(MD_TEXTTYPE type, std::string_view piece) = 0;
};

// Whether the parsing came to its end. What the visitor throws is thrown here.
bool parse_markdown(std::string_view text, MarkdownVisitor& visitor);

}  // namespace sk::conversations
