// Replaces the sandbox addresses in a message's text by working links, or by the reason why there is none.
// Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "conversations/sandbox_links.h"

namespace sk::conversations {

struct Replacement {
  SandboxLink link;  // as found in the text
  std::string name;  // of the file
  std::string url;   // empty: there is no target, and `why` has the reason
  std::string why;   // "no such file", "not captured"
};

// Without a target, a link becomes text that says why. Where only an address can stand, such as in an
// attribute, it becomes "#no-such-file:report.csv"; in code and quotes it stays as written. `replacements`
// are in text order. Skips a replacement whose range does not fit the text.
std::string rewrite(std::string_view text, const std::vector<Replacement>& replacements);

// Escapes text so that Markdown shows it literally.
std::string markdown_escape(std::string_view text);

}  // namespace sk::conversations
