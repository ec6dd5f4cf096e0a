#include "conversations/markdown_parts.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "conversations/markdown_parser.h"

namespace sk::conversations {

namespace {

constexpr size_t kRereadMax = 32;
constexpr size_t kEnoughBytes = 4 << 10;

class PartFinder final : public MarkdownVisitor {
 public:
  explicit PartFinder(std::string_view text) : text_(text) {}

  bool enter(MD_BLOCKTYPE, void*) override { return true; }
  bool leave(MD_BLOCKTYPE type, void*) override {
    if (type == MD_BLOCK_CODE) end_code();
    return true;
  }

  bool enter(MD_SPANTYPE type, void* detail) override {
    if (type == MD_SPAN_A) add_destination(static_cast<MD_SPAN_A_DETAIL*>(detail)->href);
    if (type == MD_SPAN_IMG) add_destination(static_cast<MD_SPAN_IMG_DETAIL*>(detail)->src);
    // The parser reads a definition again for each link that uses it.
    return destinations_bytes_ <= kRereadMax * text_.size() + kEnoughBytes;
  }
  bool leave(MD_SPANTYPE type, void*) override {
    if (type == MD_SPAN_CODE) end_code();
    return true;
  }

  bool text(MD_TEXTTYPE type, std::string_view piece) override {
    if (type != MD_TEXT_CODE) return true;
    auto range = range_of(piece);
    if (!range) return true;  // a line ending inserted by the parser
    if (!code_) code_ = *range;
    code_->end = range->end;
    return true;
  }

  MarkdownParts take() {
    auto& all = parts_.destinations;
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
    // The parser reports a definition once for each link that uses it.
    auto same = [](const auto& a, const auto& b) { return a.start == b.start; };
    all.erase(std::unique(all.begin(), all.end(), same), all.end());
    return std::move(parts_);
  }

 private:
  // nullopt if the bytes are not in the text itself.
  std::optional<TextRange> range_of(std::string_view piece) const {
    std::less_equal<const char*> not_after;  // also defined for pointers into different arrays
    if (piece.empty() || !not_after(text_.data(), piece.data()) ||
        !not_after(piece.data() + piece.size(), text_.data() + text_.size()))
      return std::nullopt;
    auto start = static_cast<size_t>(piece.data() - text_.data());
    return TextRange{start, start + piece.size()};
  }

  void add_destination(const MD_ATTRIBUTE& address) {
    destinations_bytes_ += address.size;
    if (auto range = range_of({address.text, address.size})) parts_.destinations.push_back(*range);
  }

  void end_code() {
    if (code_) parts_.code.push_back(*code_);
    code_.reset();
  }

  const std::string_view text_;
  std::optional<TextRange> code_;  // the code that the parser is in
  size_t destinations_bytes_ = 0;
  MarkdownParts parts_;
};

}  // namespace

MarkdownParts find_markdown_parts(std::string_view text) {
  PartFinder finder(text);
  parse_markdown(text, finder);
  return finder.take();
}

}  // namespace sk::conversations
