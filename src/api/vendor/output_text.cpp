#include "api/vendor/output_text.h"

#include "api/vendor/error_words.h"

namespace sk::api {

namespace {

constexpr size_t kVersionLinesMax = 20;

// Adds a line, after a newline if the text does not end with one.
void add_line(std::string& text, std::string_view line) {
  if (line.empty()) return;
  if (!text.empty() && text.back() != '\n') text += '\n';
  text += line;
  text += '\n';
}

void take_bundle(const interpreter::Bundle& bundle, OutputText& out) {
  for (const auto& [mime, content] : bundle.data)
    if (mime.starts_with("image/") && mime != "image/svg+xml")
      out.image = ShownImage{mime, content, bundle.file};
  if (bundle.is_cut) add_line(out.errors, interpreter::cut_message());
}

}  // namespace

OutputText output_text(const interpreter::Execution& execution, const interpreter::SessionInfo& session) {
  OutputText out;
  const auto as_mounted = mounted_paths(session.folder);
  interpreter::Visit take{
      [&](const interpreter::TextOutput& text) {
        bool is_out = text.stream == interpreter::TextOutput::Stream::out;
        (is_out ? out.printed : out.errors) += text.text;
      },
      [&](const interpreter::NoteOutput& note) { add_line(out.errors, note.text.text(as_mounted)); },
      [&](const interpreter::DisplayOutput& display) { take_bundle(display.bundle, out); },
      [&](const interpreter::ResultOutput& result) {
        if (const auto* text = result.bundle.find("text/plain")) out.value = *text;
        take_bundle(result.bundle, out);
      },
      [&](const interpreter::ErrorOutput& error) {
        out.error_name = error.name;
        out.error_value = error.value;
        add_line(out.errors, error.traceback);
      }};
  for (const auto& output : execution.outputs) std::visit(take, output);
  for (const auto& item : execution.files.not_kept)
    add_line(out.errors, "not kept: " + as_mounted(item.path) + ": " + item.message.text(as_mounted));
  if (execution.files.left_out > 0)
    add_line(out.errors, std::to_string(execution.files.left_out) +
                             " more names of folders and of renamed, deleted or not kept files are left out");
  for (const auto& line : lines_about_versions(execution, as_mounted)) add_line(out.errors, line);
  // Clients of a shell read its exit status in a field of its own.
  bool says_status = execution.outcome == interpreter::Outcome::error && execution.language != "bash";
  add_line(out.errors, says_status ? reason_of_end(execution) : execution.message);
  return out;
}

std::vector<std::string> lines_about_versions(const interpreter::Execution& execution,
                                              const PathNaming& naming) {
  std::vector<std::string> lines;
  for (const auto& kept : execution.files.kept) {
    if (lines.size() == kVersionLinesMax) break;
    auto path = quoted_path(kept.path).text(naming);
    if (kept.locked)
      lines.push_back(
          path +
          " is locked by another client: this content is kept as a version, and is not the newest "
          "one. To make it the newest, write the file again when the lock is gone.");
    else if (kept.diverged)
      lines.push_back(path + " was changed by another client too: both are kept as versions.");
  }
  return lines;
}

std::string reason_of_end(const interpreter::Execution& execution) {
  if (!execution.message.empty() || !execution.exit_code) return execution.message;
  return std::string(execution.language == "bash" ? "the shell script" : "the program") +
         " ended with exit status " + std::to_string(*execution.exit_code);
}

}  // namespace sk::api
