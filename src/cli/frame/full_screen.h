// A view that fills the terminal and is redrawn in place, with keys that act at once. It uses the terminal's
// alternate screen, so the earlier contents return afterwards.
#pragma once

#include <termios.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "cli/frame/interrupt.h"
#include "cli/frame/terminal.h"

namespace sk::cli {

// Keys that views know. A letter or another printable ASCII character is `character`.
struct KeyPress {
  enum class Kind { character, left, right, up, down, end_of_input } kind = Kind::character;
  char character = 0;
  bool operator==(const KeyPress&) const = default;
};

// Takes the first key from bytes that a terminal sent, and removes them. Skips unknown sequences. nullopt
// when the bytes hold no complete key. A pure function.
std::optional<KeyPress> take_key(std::string& bytes);

// Takes over the terminal in the constructor and restores it in the destructor, and also on Ctrl-C, SIGTERM
// and SIGHUP, which end the program. Error(unavailable) if standard input or output is no terminal. One
// thread.
class FullScreen {
 public:
  explicit FullScreen(Terminal& terminal);
  ~FullScreen();
  FullScreen(const FullScreen&) = delete;
  FullScreen& operator=(const FullScreen&) = delete;

  TerminalSize size() const { return terminal_.out_size(); }
  // Replaces the contents of the screen with lines that were made for this size. They may contain colours.
  // Lines below the last row are left out; the caller cuts lines that are too wide.
  void draw(const std::vector<std::string>& lines, TerminalSize made_for);
  // Whether the terminal has another size than the lines that it shows were made for.
  bool is_resized() const { return size() != made_for_; }
  // Waits for a key. nullopt after `most`, or once the terminal is resized.
  std::optional<KeyPress> wait_for_key(std::chrono::milliseconds most);

 private:
  void restore();
  void write(std::string_view text) SK_REQUIRES(mutex_);

  Terminal& terminal_;
  termios earlier_{};
  Mutex mutex_;  // against the thread that handles signals
  bool is_left_ SK_GUARDED_BY(mutex_) = false;
  TerminalSize made_for_;
  std::string bytes_;  // received, and not yet taken as keys
  InterruptGuard guard_;
};

}  // namespace sk::cli
