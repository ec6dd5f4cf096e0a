// Standard output and standard error for commands. Results go to the first, notes and progress to the second.
// Colours are used only on a terminal. Created by main, outlives the command. Any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/environment.h"
#include "base/mutex.h"

namespace sk::cli {

enum class Style { plain, bold, dim, red, green, yellow, blue };

struct TerminalSize {
  size_t columns = 80;
  size_t rows = 24;
  bool operator==(const TerminalSize&) const = default;
};

class Terminal {
 public:
  Terminal(int in_fd, int out_fd, int err_fd, const Environment& environment);
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // Writes results, buffered until flush(). Throws Error if the write fails.
  void out(std::string_view text);
  void line(std::string_view text);
  void flush();
  // Whether the reader of standard output, such as `head`, closed it. This ends the output and is not an
  // error.
  bool reader_left() const;

  // Writes a line to standard error immediately. Erases the progress line first; its owner redraws it.
  void note(std::string_view text);
  // Replaces the status line at the bottom; "" removes it. Does nothing if standard error is not a terminal.
  void status(std::string_view text);

  bool in_is_tty() const { return in_is_tty_; }
  bool out_is_tty() const { return out_is_tty_; }
  bool err_is_tty() const { return err_is_tty_; }
  bool utf8() const { return utf8_; }
  int in_fd() const { return in_fd_; }
  int out_fd() const { return out_fd_; }
  // Returns the current number of columns of the terminal on standard error.
  size_t width() const;
  // Returns the current size of the terminal on standard output.
  TerminalSize out_size() const;

  std::string paint_out(Style style, std::string_view text) const;
  std::string paint_err(Style style, std::string_view text) const;

 private:
  void write_out_locked() SK_REQUIRES(mutex_);

  const int in_fd_, out_fd_, err_fd_;
  const bool in_is_tty_, out_is_tty_, err_is_tty_;
  bool colour_allowed_ = false, utf8_ = false;  // constant after construction
  mutable Mutex mutex_;
  std::string pending_ SK_GUARDED_BY(mutex_);
  bool status_shown_ SK_GUARDED_BY(mutex_) = false;
  bool reader_left_ SK_GUARDED_BY(mutex_) = false;
};

// Reads a line, without spaces at its ends; "" at the end of the input. Longer lines than 4 KiB are cut.
std::string read_line(int fd);

}  // namespace sk::cli
