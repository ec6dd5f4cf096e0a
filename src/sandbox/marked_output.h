// Output of a session's processes, ordered relative to the kernel's frames.
//
// Output uses a pipe, displays and results use the channel, and nothing orders the two. Before the kernel
// sends frame n, it therefore writes a mark with the number n into both pipes. Text before the mark was
// printed before the frame. Marks contain a random word chosen by the server. Code in the session could read
// it and write its own marks, but would only confuse its own output.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sk::sandbox {

class MarkedOutput {
 public:
  explicit MarkedOutput(std::string_view word);

  void append(std::string_view bytes) { buffer_.append(bytes); }
  // Returns text up to the next mark that has not been passed. Keeps back a possible start of a mark or of a
  // UTF-8 character.
  std::string take();
  // Returns whether a mark has been reached. The text after it belongs after a frame that has not arrived
  // yet, so reading on is useless.
  bool holds_mark() const { return held_; }
  // Returns all text before mark `number` if it is there, otherwise all text. Marks up to that number no
  // longer block.
  std::string pass(uint64_t number);
  // Returns everything, without marks. Call it when no more bytes will come.
  std::string flush();

 private:
  struct Found {
    size_t at, end;
    uint64_t number;
  };
  Found find_mark(size_t from) const;
  size_t safe_end() const;

  const std::string start_;  // zero byte, word, colon; the number and another zero byte follow
  std::string buffer_;
  uint64_t passed_ = 0;
  bool held_ = false;
};

}  // namespace sk::sandbox
