#include "conversations/code_ranges.h"

#include <algorithm>
#include <map>
#include <optional>

namespace sk::conversations {

namespace {

size_t run_at(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && text[end] == text[at]) ++end;
  return end - at;
}

struct Fence {
  char mark;
  size_t length;
  bool has_more;  // behind the marks: a language, which only an opening one has
};

std::optional<Fence> fence_in(std::string_view line) {
  // In lists and quotations fences stand further in.
  size_t at = std::min(line.find_first_not_of(" \t>"), line.size());
  if (at == line.size() || (line[at] != '`' && line[at] != '~')) return std::nullopt;
  size_t length = run_at(line, at);
  if (length < 3) return std::nullopt;
  auto behind = line.substr(at + length);
  bool is_span = line[at] == '`' && behind.find('`') != std::string_view::npos;
  if (is_span) return std::nullopt;
  return Fence{line[at], length, behind.find_first_not_of(" \t\r") != std::string_view::npos};
}

class CodeFinder {
 public:
  explicit CodeFinder(std::string_view text) : text_(text) {}

  std::vector<CodeRange> find() {
    std::optional<Fence> open;
    size_t opened_at = 0, paragraph = 0;
    for (size_t at = 0; at < text_.size();) {
      size_t end = std::min(text_.find('\n', at), text_.size() - 1) + 1;
      auto line = text_.substr(at, end - at);
      if (line.ends_with('\n')) line.remove_suffix(1);
      auto fence = fence_in(line);
      bool closes =
          open && fence && fence->mark == open->mark && fence->length >= open->length && !fence->has_more;
      if (closes) {
        found_.push_back({opened_at, end});
        open.reset();
        paragraph = end;
      } else if (!open && (fence || line.find_first_not_of(" \t\r") == std::string_view::npos)) {
        // A span ends in its own paragraph.
        find_spans(paragraph, at);
        paragraph = end;
        open = fence;
        opened_at = at;
      }
      at = end;
    }
    if (open) found_.push_back({opened_at, text_.size()});
    if (!open) find_spans(paragraph, text_.size());
    return std::move(found_);
  }

 private:
  // A span opens with some backticks and closes with as many.
  void find_spans(size_t from, size_t to) {
    const auto text = text_.substr(0, to);
    std::vector<CodeRange> runs;
    std::map<size_t, std::vector<size_t>> by_length;
    for (size_t at = text.find('`', from); at < to; at = text.find('`', at)) {
      size_t length = run_at(text, at);
      by_length[length].push_back(runs.size());
      runs.push_back({at, at + length});
      at += length;
    }
    for (size_t i = 0; i < runs.size();) {
      const auto& same = by_length[runs[i].end - runs[i].start];
      auto close = std::upper_bound(same.begin(), same.end(), i);
      if (close == same.end() || is_escaped(runs[i].start)) {
        ++i;
        continue;
      }
      found_.push_back({runs[i].start, runs[*close].end});
      i = *close + 1;
    }
  }

  bool is_escaped(size_t at) const {
    size_t slashes = 0;
    while (slashes < at && text_[at - slashes - 1] == '\\') ++slashes;
    return slashes % 2 == 1;
  }

  const std::string_view text_;
  std::vector<CodeRange> found_;
};

}  // namespace

std::vector<CodeRange> find_code(std::string_view text) { return CodeFinder(text).find(); }

}  // namespace sk::conversations
