// Lines that a person types: editing, history and Ctrl-C at a terminal (libedit); plain reading elsewhere.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/frame/terminal.h"

namespace sk::cli {

// One thread.
class LineEditor {
 public:
  // `history_file` is made with mode 0600; "" keeps none.
  LineEditor(const Terminal& terminal, std::string history_file);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  struct Line {
    std::string text;        // without its end
    bool abandoned = false;  // Ctrl-C
  };
  // nullopt at the end of input.
  std::optional<Line> read(const std::string& prompt);
  void remember(const std::string& text);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sk::cli
