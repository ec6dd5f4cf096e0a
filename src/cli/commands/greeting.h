// The text that a server prints at start: its address, the location of its key, and lines to paste.
#pragma once

#include <optional>
#include <string>

namespace sk::cli {

struct GreetingFacts {
  std::string url;         // listening address
  std::string public_url;  // address for users; empty: the same
  std::string data_folder;
  std::optional<std::string> made_key;  // set only if it was created now
  std::string key_file;                 // empty: the operator chose the key
  std::string key_from;  // for that case: shell words that yield the key, "$SANDKEEP_ROOT_KEY"; may be empty
  std::string authority_file;        // authority to trust; empty: none
  std::string code;                  // how code runs: "approximate limits …"; empty: as usual
  std::string program = "sandkeep";  // the command that runs this program in a shell
};

// Starts with the line "ready URL".
std::string greeting(const GreetingFacts& facts);

// Returns the address to use on this machine for a server that listens on all addresses.
std::string reachable_url(const std::string& url);
// Quotes the text as one shell word.
std::string shell_word(const std::string& text);
// Returns "sandkeep" if a shell finds this program under that name, else its path.
std::string program_name(const std::string& path_variable);

}  // namespace sk::cli
