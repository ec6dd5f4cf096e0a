#include "conversations/rewriting.h"

namespace sk::conversations {

namespace {

using Form = SandboxLink::Form;

bool fits(std::string_view text, const SandboxLink& link, size_t from) {
  return link.outer_start >= from && link.outer_start <= link.start && link.start < link.end &&
         link.end <= link.outer_end && link.outer_end <= text.size();
}

// Uses the label as written, in which brackets are balanced, or else the escaped file name.
std::string label_of(const Replacement& replacement) {
  return replacement.link.label.empty() ? markdown_escape(replacement.name) : replacement.link.label;
}

void append(std::string& out, std::string_view text, const Replacement& replacement) {
  const auto& link = replacement.link;
  if (replacement.url.empty()) {
    if (link.form == Form::quoted) {
      out += text.substr(link.outer_start, link.outer_end - link.outer_start);
      return;
    }
    out += label_of(replacement) + " (" + markdown_escape(replacement.why) + ": " +
           markdown_escape(replacement.name) + ")";
    return;
  }
  switch (link.form) {
    case Form::quoted:
      out += replacement.url;
      return;
    case Form::bare:
      out += "[" + markdown_escape(replacement.name) + "](" + replacement.url + ")";
      return;
    case Form::markdown:
    case Form::image: {
      // Keep the text around the address, such as a title, but drop <…>.
      auto before = text.substr(link.outer_start, link.start - link.outer_start);
      auto behind = text.substr(link.end, link.outer_end - link.end);
      if (before.ends_with('<')) before.remove_suffix(1);
      if (behind.starts_with('>')) behind.remove_prefix(1);
      out += before;
      out += replacement.url;
      out += behind;
      return;
    }
  }
}

}  // namespace

std::string markdown_escape(std::string_view text) {
  constexpr std::string_view kMeaningful = "\\`*_[]<>#|~";
  std::string out;
  for (char c : text) {
    if (kMeaningful.find(c) != std::string_view::npos) out += '\\';
    out += c == '\n' || c == '\r' ? ' ' : c;
  }
  return out;
}

std::string rewrite(std::string_view text, const std::vector<Replacement>& replacements) {
  std::string out;
  size_t from = 0;
  for (const auto& replacement : replacements) {
    if (!fits(text, replacement.link, from)) continue;
    out += text.substr(from, replacement.link.outer_start - from);
    append(out, text, replacement);
    from = replacement.link.outer_end;
  }
  out += text.substr(from);
  return out;
}

}  // namespace sk::conversations
