#include "conversations/rewriting.h"

#include <algorithm>

#include "base/text.h"

namespace sk::conversations {

namespace {

using Form = SandboxLink::Form;

bool fits(std::string_view text, const SandboxLink& link, size_t from) {
  return link.outer_start >= from && link.outer_start <= link.start && link.start < link.end &&
         link.end <= link.outer_end && link.outer_end <= text.size();
}

// Uses the label as written, in which brackets are balanced. The file name replaces an empty label and one
// that is the address.
std::string label_of(const Replacement& replacement) {
  const auto& link = replacement.link;
  bool says_nothing = link.label.empty() || link.label == link.address;
  return says_nothing ? markdown_escape(replacement.name) : link.label;
}

std::string reason_of(const Replacement& replacement) {
  return label_of(replacement) + " (" + markdown_escape(replacement.why) + ": " +
         markdown_escape(replacement.name) + ")";
}

// An address that leads nowhere and says why: "#no-such-file:report.csv".
std::string dead_end(const Replacement& replacement) {
  auto why = replacement.why;
  std::replace(why.begin(), why.end(), ' ', '-');
  return "#" + percent_encode(why) + ":" + percent_encode(replacement.name);
}

void append(std::string& out, std::string_view text, const Replacement& replacement) {
  const auto& link = replacement.link;
  if (replacement.url.empty()) {
    bool is_alone = link.outer_start == link.start;
    if (link.form == Form::quoted)
      out += text.substr(link.outer_start, link.outer_end - link.outer_start);
    else
      out += link.form == Form::target && is_alone ? dead_end(replacement) : reason_of(replacement);
    return;
  }
  switch (link.form) {
    case Form::quoted:
    case Form::target:
      out += text.substr(link.outer_start, link.start - link.outer_start);
      out += replacement.url;
      out += text.substr(link.end, link.outer_end - link.end);
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
      // The address as a label leads nowhere either.
      auto label = link.label == link.address ? before.find(link.label) : std::string_view::npos;
      if (label != std::string_view::npos) {
        out += before.substr(0, label);
        out += label_of(replacement);
        before.remove_prefix(label + link.label.size());
      }
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
