#include "cli/frame/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "base/text.h"

namespace sk::cli {

namespace {

std::string_view lookup(const Environment& environment, std::string_view name) {
  auto at = environment.find(name);
  return at == environment.end() ? std::string_view() : std::string_view(at->second);
}

bool locale_is_utf8(const Environment& environment) {
  for (auto name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    auto value = ascii_lower(lookup(environment, name));
    if (!value.empty())
      return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

std::string_view sequence(Style style) {
  switch (style) {
    case Style::plain:
      return "";
    case Style::bold:
      return "\x1b[1m";
    case Style::dim:
      return "\x1b[2m";
    case Style::red:
      return "\x1b[31m";
    case Style::green:
      return "\x1b[32m";
    case Style::yellow:
      return "\x1b[33m";
    case Style::blue:
      return "\x1b[34m";
  }
  return "";
}

std::string painted(Style style, std::string_view text) {
  return std::string(sequence(style)) + std::string(text) + "\x1b[0m";
}

// Ignores errors, since errors of standard error cannot be reported.
void write_quietly(int fd, std::string_view text) {
  while (!text.empty()) {
    auto count = ::write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    text.remove_prefix(static_cast<size_t>(count));
  }
}

constexpr std::string_view kEraseLine = "\r\x1b[2K";

}  // namespace

Terminal::Terminal(int in_fd, int out_fd, int err_fd, const Environment& environment)
    : in_fd_(in_fd),
      out_fd_(out_fd),
      err_fd_(err_fd),
      in_is_tty_(isatty(in_fd) == 1),
      out_is_tty_(isatty(out_fd) == 1),
      err_is_tty_(isatty(err_fd) == 1) {
  colour_allowed_ = lookup(environment, "NO_COLOR").empty() && lookup(environment, "TERM") != "dumb";
  utf8_ = locale_is_utf8(environment);
}

void Terminal::out(std::string_view text) {
  constexpr size_t kBufferBytes = 64 << 10;
  MutexLock guard(mutex_);
  pending_ += text;
  if (pending_.size() >= kBufferBytes) write_out_locked();
}

void Terminal::line(std::string_view text) { out(std::string(text) + "\n"); }

void Terminal::flush() {
  MutexLock guard(mutex_);
  write_out_locked();
}

bool Terminal::reader_left() const {
  MutexLock guard(mutex_);
  return reader_left_;
}

void Terminal::write_out_locked() {
  std::string_view rest = pending_;
  while (!rest.empty()) {
    auto count = ::write(out_fd_, rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      int err = errno;
      pending_.clear();
      reader_left_ = err == EPIPE;
      throw system_error("cannot write to standard output", err);
    }
    rest.remove_prefix(static_cast<size_t>(count));
  }
  pending_.clear();
}

void Terminal::note(std::string_view text) {
  MutexLock guard(mutex_);
  std::string whole;
  if (status_shown_) whole += kEraseLine;
  status_shown_ = false;
  whole += text;
  whole += '\n';
  write_quietly(err_fd_, whole);
}

void Terminal::status(std::string_view text) {
  if (!err_is_tty_) return;
  MutexLock guard(mutex_);
  if (text.empty() && !status_shown_) return;
  write_quietly(err_fd_, std::string(kEraseLine) + std::string(text));
  status_shown_ = !text.empty();
}

size_t Terminal::width() const {
  constexpr size_t kUsual = 80;
  winsize size{};
  if (ioctl(err_fd_, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsual;
  return size.ws_col;
}

TerminalSize Terminal::out_size() const {
  winsize size{};
  if (ioctl(out_fd_, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_col, size.ws_row};
}

std::string Terminal::paint_out(Style style, std::string_view text) const {
  return out_is_tty_ && colour_allowed_ && style != Style::plain ? painted(style, text) : std::string(text);
}

std::string Terminal::paint_err(Style style, std::string_view text) const {
  return err_is_tty_ && colour_allowed_ && style != Style::plain ? painted(style, text) : std::string(text);
}

std::string read_line(int fd) {
  constexpr size_t kMost = 4096;
  std::string line;
  char c = 0;
  while (line.size() < kMost && ::read(fd, &c, 1) == 1 && c != '\n') line += c;
  return std::string(trim(line));
}

}  // namespace sk::cli
