#include "cli/frame/line_editor.h"

#include <histedit.h>
#include <sys/stat.h>

#include <cstdio>
#include <iostream>

#include "base/text.h"

namespace sk::cli {

struct LineEditor::Impl {
  bool interactive = false;
  std::string history_file;
  std::string prompt;
  bool abandoned = false;
  EditLine* editor = nullptr;
  History* history = nullptr;

  static Impl& of(EditLine* editor) {
    void* found = nullptr;
    el_get(editor, EL_CLIENTDATA, &found);
    return *static_cast<Impl*>(found);
  }
  static const char* show_prompt(EditLine* editor) { return of(editor).prompt.c_str(); }
  static unsigned char abandon(EditLine* editor, int) {
    of(editor).abandoned = true;
    return CC_NEWLINE;
  }
};

LineEditor::LineEditor(const Terminal& terminal, std::string history_file) : impl_(std::make_unique<Impl>()) {
  impl_->interactive = terminal.in_is_tty() && terminal.out_is_tty();
  if (!impl_->interactive) return;
  impl_->history_file = std::move(history_file);
  impl_->history = history_init();
  HistEvent event;
  history(impl_->history, &event, H_SETSIZE, 1'000);
  history(impl_->history, &event, H_SETUNIQUE, 1);
  if (!impl_->history_file.empty()) history(impl_->history, &event, H_LOAD, impl_->history_file.c_str());
  impl_->editor = el_init("sandkeep", stdin, stdout, stderr);
  EditLine* editor = impl_->editor;
  el_set(editor, EL_CLIENTDATA, impl_.get());
  el_set(editor, EL_PROMPT, &Impl::show_prompt);
  el_set(editor, EL_EDITOR, "emacs");
  el_set(editor, EL_HIST, history, impl_->history);
  // While a line is typed, Ctrl-C is a key that abandons it. While code runs, it is a signal again.
  el_set(editor, EL_SETTY, "-d", "-isig", nullptr);
  el_set(editor, EL_ADDFN, "abandon", "cancels the line", &Impl::abandon);
  el_set(editor, EL_BIND, "^C", "abandon", nullptr);
  el_set(editor, EL_BIND, "^R", "em-inc-search-prev", nullptr);
}

LineEditor::~LineEditor() {
  if (impl_->editor != nullptr) el_end(impl_->editor);
  if (impl_->history == nullptr) return;
  HistEvent event;
  if (!impl_->history_file.empty()) {
    mode_t before = ::umask(0077);
    history(impl_->history, &event, H_SAVE, impl_->history_file.c_str());
    ::umask(before);
  }
  history_end(impl_->history);
}

std::optional<LineEditor::Line> LineEditor::read(const std::string& prompt) {
  if (!impl_->interactive) {
    std::string text;
    if (!std::getline(std::cin, text)) return std::nullopt;
    return Line{std::move(text), false};
  }
  impl_->prompt = prompt;
  impl_->abandoned = false;
  int count = 0;
  const char* text = el_gets(impl_->editor, &count);
  if (impl_->abandoned) {
    std::fputs("^C\n", stdout);
    std::fflush(stdout);
    return Line{"", true};
  }
  if (text == nullptr || count <= 0) return std::nullopt;
  std::string line(text, static_cast<size_t>(count));
  while (line.ends_with('\n') || line.ends_with('\r')) line.pop_back();
  return Line{std::move(line), false};
}

void LineEditor::remember(const std::string& text) {
  if (impl_->history == nullptr || trim(text).empty()) return;
  HistEvent event;
  history(impl_->history, &event, H_ENTER, text.c_str());
}

}  // namespace sk::cli
