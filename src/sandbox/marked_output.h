// What processes of a session print, put in order with what the kernel sends.
//
// Output takes a pipe, displays and results take the channel, and nothing orders one against the other. So
// before the kernel sends frame n, it writes a mark with the number n into both pipes: what stands before the
// mark was printed before the frame. Marks carry a word that the server chose at random; code in the session
// could read it and write marks of its own, and would confuse nothing but its own output.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sk::sandbox {

class MarkedOutput {
 public:
  explicit MarkedOutput(std::string_view word);

  void append(std::string_view bytes) { buffer_.append(bytes); }
  // Text up to the next mark that has not been passed. Keeps back what may be the beginning of a mark or of a
  // UTF-8 character.
  std::string take();
  // A mark has been reached: what follows belongs behind a frame that has not come yet. No use in reading on.
  bool holds_mark() const { return held_; }
  // All text before mark `number`, if it is there, else all text. Marks up to that number no longer hold
  // anything up.
  std::string pass(uint64_t number);
  // Everything, marks removed: nothing more will come.
  std::string flush();

 private:
  struct Found {
    size_t at, end;
    uint64_t number;
  };
  Found find_mark(size_t from) const;
  size_t safe_end() const;

  const std::string start_;  // a zero byte, the word and a colon; then the number and another zero byte
  std::string buffer_;
  uint64_t passed_ = 0;
  bool held_ = false;
};

}  // namespace sk::sandbox
