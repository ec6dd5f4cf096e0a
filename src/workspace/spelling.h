// The same name in other bytes: composed and decomposed Unicode. Pure functions; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sk::workspace {

// The composed form (NFC); nullopt for what is not UTF-8.
std::optional<std::string> composed(std::string_view text);
std::optional<std::string> decomposed(std::string_view text);

// The other of the two spellings, if there is one. macOS writes names decomposed, most others composed.
std::optional<std::string> other_spelling(std::string_view text);

}  // namespace sk::workspace
