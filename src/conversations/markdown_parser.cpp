#include "conversations/markdown_parser.h"

#include <cstdint>
#include <exception>

namespace sk::conversations {

namespace {

struct Visit {
  MarkdownVisitor& visitor;
  std::exception_ptr failure;
};

// Stops exceptions, which must not pass through the C library.
template <class Step>
int tell(void* data, Step step) noexcept {
  auto& visit = *static_cast<Visit*>(data);
  try {
    return step(visit.visitor) ? 0 : 1;
  } catch (...) {
    visit.failure = std::current_exception();
    return 1;
  }
}

int enter_block(MD_BLOCKTYPE type, void* detail, void* data) {
  return tell(data, [&](MarkdownVisitor& visitor) { return visitor.enter(type, detail); });
}
int leave_block(MD_BLOCKTYPE type, void* detail, void* data) {
  return tell(data, [&](MarkdownVisitor& visitor) { return visitor.leave(type, detail); });
}
int enter_span(MD_SPANTYPE type, void* detail, void* data) {
  return tell(data, [&](MarkdownVisitor& visitor) { return visitor.enter(type, detail); });
}
int leave_span(MD_SPANTYPE type, void* detail, void* data) {
  return tell(data, [&](MarkdownVisitor& visitor) { return visitor.leave(type, detail); });
}
int text_piece(MD_TEXTTYPE type, const MD_CHAR* piece, MD_SIZE size, void* data) {
  return tell(data, [&](MarkdownVisitor& visitor) { return visitor.text(type, {piece, size}); });
}

// HTML in the text stays text. The visitor finds bare addresses itself, since the library's search takes
// quadratic time.
constexpr MD_PARSER kParser{0,           MD_FLAG_TABLES | MD_FLAG_STRIKETHROUGH | MD_FLAG_NOHTML,
                            enter_block, leave_block,
                            enter_span,  leave_span,
                            text_piece,  nullptr,
                            nullptr};

}  // namespace

bool parse_markdown(std::string_view text, MarkdownVisitor& visitor) {
  if (text.size() >= UINT32_MAX) return false;
  Visit visit{visitor, nullptr};
  int status = md_parse(text.data(), static_cast<MD_SIZE>(text.size()), &kParser, &visit);
  if (visit.failure) std::rethrow_exception(visit.failure);
  return status == 0;
}

}  // namespace sk::conversations
