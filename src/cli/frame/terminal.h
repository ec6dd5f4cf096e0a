// Standard output and standard error as the commands see them: results on one, notes and progress on the
// other; colours only where a person looks. Made by main, outlives the command. Any thread.
#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include "base/environment.h"

namespace sk::cli {

enum class Style { plain, bold, dim, red, green, yellow, blue };

class Terminal {
 public:
  Terminal(int in_fd, int out_fd, int err_fd, const Environment& environment);
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // Results. Buffered until flush(); both throw Error when the reader or the disk refuses them.
  void out(std::string_view text);
  void line(std::string_view text);
  void flush();
  // A reader such as `head` closed our output: nothing more to say, and no reason to complain.
  bool reader_left() const { return reader_left_; }

  // A line for the person, at once. Erases the progress line first; the bar is drawn again by its owner.
  void note(std::string_view text);
  // Replaces the one line that lives at the bottom; "" removes it. Nothing when errors do not go to a
  // terminal.
  void status(std::string_view text);

  bool in_is_tty() const { return in_is_tty_; }
  bool out_is_tty() const { return out_is_tty_; }
  bool err_is_tty() const { return err_is_tty_; }
  bool utf8() const { return utf8_; }
  int in_fd() const { return in_fd_; }
  int out_fd() const { return out_fd_; }
  // Columns of the terminal behind standard error, now.
  size_t width() const;

  std::string paint_out(Style style, std::string_view text) const;
  std::string paint_err(Style style, std::string_view text) const;

 private:
  void write_out_locked();

  const int in_fd_, out_fd_, err_fd_;
  const bool in_is_tty_, out_is_tty_, err_is_tty_;
  bool colour_allowed_ = false, utf8_ = false;  // constant after construction
  std::mutex mutex_;                            // guards all below
  std::string pending_;
  bool status_shown_ = false;
  bool reader_left_ = false;
};

}  // namespace sk::cli
