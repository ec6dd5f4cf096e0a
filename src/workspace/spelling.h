// Unicode normal forms of a name: composed and decomposed. Pure functions; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sk::workspace {

// Returns the composed form (NFC), or nullopt if the text is not UTF-8.
std::optional<std::string> composed(std::string_view text);
std::optional<std::string> decomposed(std::string_view text);

// Returns the other normal form of `text`, or nullopt if it has none. macOS writes names decomposed; most
// other systems compose them.
std::optional<std::string> other_spelling(std::string_view text);

}  // namespace sk::workspace
