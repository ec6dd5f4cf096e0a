#include "cli/frame/full_screen.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"

namespace sk::cli {

namespace {

// Alternate screen, cursor hidden, no wrapping of long lines; and back.
constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[?7l";
constexpr std::string_view kLeave = "\x1b[?7h\x1b[?25h\x1b[?1049l";
constexpr std::string_view kHome = "\x1b[H";
constexpr std::string_view kClearToEndOfLine = "\x1b[K";
constexpr std::string_view kClearBelow = "\x1b[J";
// How often the size of the terminal is looked at.
constexpr std::chrono::milliseconds kLookAtSize{200};

termios mode_of(int fd) {
  termios mode{};
  if (::tcgetattr(fd, &mode) != 0)
    throw Error(Code::unavailable, "this view needs a terminal").hint("Use --once.");
  return mode;
}

// Keys arrive one by one and are not shown. Ctrl-C still sends its signal. Ctrl-Z does not, because it would
// leave the terminal like this.
termios mode_for_keys(termios mode) {
  mode.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  mode.c_cc[VMIN] = 1;
  mode.c_cc[VTIME] = 0;
  mode.c_cc[VSUSP] = _POSIX_VDISABLE;
  return mode;
}

std::optional<KeyPress> key_of_sequence(char last) {
  switch (last) {
    case 'A':
      return KeyPress{KeyPress::Kind::up};
    case 'B':
      return KeyPress{KeyPress::Kind::down};
    case 'C':
      return KeyPress{KeyPress::Kind::right};
    case 'D':
      return KeyPress{KeyPress::Kind::left};
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<KeyPress> take_key(std::string& bytes) {
  constexpr char kEscape = '\x1b';
  while (!bytes.empty()) {
    char first = bytes[0];
    if (first != kEscape) {
      bytes.erase(0, 1);
      if (first > ' ' && first < '\x7f') return KeyPress{KeyPress::Kind::character, first};
      continue;
    }
    // "ESC [ A", "ESC O A", or with numbers between: "ESC [ 1 ; 5 C". Anything else begins another key.
    if (bytes.size() < 2) return std::nullopt;
    if (bytes[1] != '[' && bytes[1] != 'O') {
      bytes.erase(0, 1);
      continue;
    }
    auto end = std::find_if(bytes.begin() + 2, bytes.end(), [](char c) { return c >= '@' && c <= '~'; });
    if (end == bytes.end()) {
      // No terminal sends such a long one.
      constexpr size_t kSequenceBytesMax = 32;
      if (bytes.size() > kSequenceBytesMax) bytes.clear();
      return std::nullopt;
    }
    auto key = key_of_sequence(*end);
    bytes.erase(bytes.begin(), end + 1);
    if (key) return key;
  }
  return std::nullopt;
}

FullScreen::FullScreen(Terminal& terminal)
    : terminal_(terminal),
      earlier_(mode_of(terminal.in_fd())),
      guard_(terminal, "interrupted", [this] { restore(); }) {
  if (!terminal.out_is_tty())
    throw Error(Code::unavailable, "this view needs a terminal").hint("Use --once.");
  terminal_.flush();
  MutexLock lock(mutex_);
  auto mode = mode_for_keys(earlier_);
  ::tcsetattr(terminal_.in_fd(), TCSANOW, &mode);
  write(kEnter);
}

FullScreen::~FullScreen() { restore(); }

void FullScreen::restore() {
  MutexLock lock(mutex_);
  if (is_left_) return;
  write(kLeave);
  is_left_ = true;
  ::tcsetattr(terminal_.in_fd(), TCSAFLUSH, &earlier_);
}

// A terminal that was closed also ends the input, which ends the view.
void FullScreen::write(std::string_view text) {
  if (is_left_) return;
  while (!text.empty()) {
    auto count = ::write(terminal_.out_fd(), text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    text.remove_prefix(static_cast<size_t>(count));
  }
}

// Clears and writes line by line, because clearing the screen first would flicker. What is cleared after a
// line that fills the terminal would be its last character.
void FullScreen::draw(const std::vector<std::string>& lines, TerminalSize made_for) {
  made_for_ = made_for;
  std::string frame(kHome);
  size_t count = std::min(lines.size(), made_for.rows);
  for (size_t i = 0; i < count; ++i) {
    frame += kClearToEndOfLine;
    frame += lines[i];
    if (i + 1 < count) frame += "\r\n";
  }
  frame += kClearBelow;
  MutexLock lock(mutex_);
  write(frame);
}

std::optional<KeyPress> FullScreen::wait_for_key(std::chrono::milliseconds most) {
  auto deadline = std::chrono::steady_clock::now() + most;
  for (;;) {
    if (auto key = take_key(bytes_)) return key;
    auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0 || is_resized()) return std::nullopt;
    pollfd input{terminal_.in_fd(), POLLIN, 0};
    if (::poll(&input, 1, static_cast<int>(std::min(left, kLookAtSize).count())) <= 0) continue;
    char buffer[64];
    auto count = ::read(terminal_.in_fd(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return KeyPress{KeyPress::Kind::end_of_input};
    bytes_.append(buffer, static_cast<size_t>(count));
  }
}

}  // namespace sk::cli
