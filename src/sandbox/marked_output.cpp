#include "sandbox/marked_output.h"

#include <algorithm>

#include "base/text.h"

namespace sk::sandbox {

namespace {

constexpr size_t kDigitsMax = 19;

// Returns how many bytes at the end of `text` are the start of an incomplete UTF-8 character.
size_t unfinished_character_bytes(std::string_view text) {
  for (size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xc0) == 0x80) continue;
    size_t length = byte >= 0xf0 && byte < 0xf8 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 1;
    if (byte >= 0xf8) length = 1;
    return length > back ? back : 0;
  }
  return 0;
}

}  // namespace

MarkedOutput::MarkedOutput(std::string_view word) : start_(std::string(1, '\0') + std::string(word) + ":") {}

MarkedOutput::Found MarkedOutput::find_mark(size_t from) const {
  constexpr auto none = std::string::npos;
  for (;;) {
    size_t at = buffer_.find(start_, from);
    if (at == none) return {none, none, 0};
    size_t digits = at + start_.size();
    size_t end = buffer_.find_first_not_of("0123456789", digits);
    if (end != none && buffer_[end] == '\0' && end > digits && end - digits <= kDigitsMax)
      return {at, end + 1,
              parse_unsigned(std::string_view(buffer_).substr(digits, end - digits)).value_or(0)};
    from = at + 1;
  }
}

// Returns the end of the text that cannot become part of a mark when more bytes arrive.
size_t MarkedOutput::safe_end() const {
  size_t longest = start_.size() + kDigitsMax + 1;
  size_t from = buffer_.size() > longest ? buffer_.size() - longest : 0;
  for (size_t at = buffer_.find('\0', from); at != std::string::npos; at = buffer_.find('\0', at + 1)) {
    std::string_view rest = std::string_view(buffer_).substr(at);
    auto common = std::min(rest.size(), start_.size());
    if (rest.substr(0, common) != std::string_view(start_).substr(0, common)) continue;
    auto behind = rest.substr(common);
    if (behind.find_first_not_of("0123456789") == std::string_view::npos && behind.size() <= kDigitsMax)
      return at;
  }
  return buffer_.size() - unfinished_character_bytes(buffer_);
}

std::string MarkedOutput::take() {
  std::string out;
  held_ = false;
  for (;;) {
    Found mark = find_mark(0);
    if (mark.at == std::string::npos) break;
    out.append(buffer_, 0, mark.at);
    if (mark.number > passed_) {
      buffer_.erase(0, mark.at);
      held_ = true;
      return out;
    }
    buffer_.erase(0, mark.end);
  }
  size_t end = safe_end();
  out.append(buffer_, 0, end);
  buffer_.erase(0, end);
  return out;
}

std::string MarkedOutput::pass(uint64_t number) {
  passed_ = std::max(passed_, number);
  std::string out;
  for (;;) {
    Found mark = find_mark(0);
    if (mark.at == std::string::npos) return out + take();
    out.append(buffer_, 0, mark.at);
    if (mark.number > number) {
      buffer_.erase(0, mark.at);
      held_ = true;
      return out;
    }
    buffer_.erase(0, mark.end);
    held_ = false;
    if (mark.number == number) return out;
  }
}

std::string MarkedOutput::flush() {
  std::string out = pass(UINT64_MAX);
  out += buffer_;
  buffer_.clear();
  held_ = false;
  return out;
}

}  // namespace sk::sandbox
