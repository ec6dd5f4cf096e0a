// Finds where a message's text writes addresses of other places: targets of Markdown links, values of HTML
// attributes, and web addresses in running text. A sandbox address inside one of them must stay as written:
// its replacement would hand a link of the user's file to that place. Internal to sandbox_links.cpp. Pure
// functions; any thread.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "conversations/markdown_parts.h"

namespace sk::conversations {

class ForeignAddresses {
 public:
  // Reads the text as any reader might, so that a range may also cover ordinary text. `destinations` are
  // those of find_markdown_parts(). Accepts any bytes; takes linear time.
  ForeignAddresses(std::string_view text, std::span<const TextRange> destinations);

  enum class Scope {
    everything,
    outside_markdown,  // for a link that the Markdown parser confirms
  };
  // Whether `at` is inside a range, but not at its start. Ignores ranges that start before `from`.
  bool contain(size_t at, size_t from, Scope scope) const;

 private:
  // Ranges of one list are ordered by start. The last one that starts before a position tells whether the
  // list covers it.
  using Ranges = std::vector<TextRange>;
  std::array<Ranges, 2> markdown_;  // targets of links, of definitions
  std::array<Ranges, 5> other_;     // confirmed targets; values in "…", in '…', without quotes; web addresses
};

}  // namespace sk::conversations
