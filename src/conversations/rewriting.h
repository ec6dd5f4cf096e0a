// A message's text with its sandbox addresses replaced by links that work, or by words that say why there is
// none. Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "conversations/sandbox_links.h"

namespace sk::conversations {

struct Replacement {
  SandboxLink link;  // as it was found in the text
  std::string name;  // of the file
  std::string url;   // empty: there is nothing to link to, and `why` says so
  std::string why;   // "no such file", "not captured"
};

// `replacements` in the order of the text. One whose range does not fit the text is left alone.
std::string rewrite(std::string_view text, const std::vector<Replacement>& replacements);

// Text that Markdown shows as it is.
std::string markdown_escape(std::string_view text);

}  // namespace sk::conversations
