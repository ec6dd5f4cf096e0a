// Reads single HTML tags in a message's text, which models write in place of Markdown. Internal to
// markdown.cpp. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sk::conversations {

struct HtmlTag {
  std::string name;     // in lower case; "/a" for a closing tag
  std::string address;  // the value of href or src
  std::string alt;
  size_t length = 0;  // of the tag in the text
};

// Reads the tag at the start of `text`. A tag ends at its ">" and contains no other "<", so that a search for
// all tags of a text takes linear time. Attributes other than href, src and alt are skipped. Returns nullopt
// for other text.
std::optional<HtmlTag> html_tag_at(std::string_view text);

}  // namespace sk::conversations
