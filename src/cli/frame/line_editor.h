// Reads lines that a user types. A terminal gets editing, history and Ctrl-C (libedit); other input is read
// plainly.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/frame/terminal.h"

namespace sk::cli {

// One thread.
class LineEditor {
 public:
  // Creates `history_file` with mode 0600; "" disables history.
  LineEditor(const Terminal& terminal, std::string history_file);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  struct Line {
    std::string text;        // without the line ending
    bool abandoned = false;  // Ctrl-C
  };
  // Returns nullopt at the end of input.
  std::optional<Line> read(const std::string& prompt);
  void remember(const std::string& text);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sk::cli
