// What a server says when it answers: where it is, where its key is, and lines to paste.
#pragma once

#include <optional>
#include <string>

namespace sk::cli {

struct GreetingFacts {
  std::string url;         // where it listens
  std::string public_url;  // what people type; empty: the same
  std::string data_folder;
  std::optional<std::string> made_key;  // shown only when it was made just now
  std::string key_file;                 // empty: the operator chose the key
  std::string key_from;                 // then: shell words that yield it, "$SANDKEEP_ROOT_KEY"; may be empty
  std::string authority_file;           // to trust; empty: nothing to do
  std::string program = "sandkeep";     // how a shell here would call this program
};

// Begins with the line "ready URL".
std::string greeting(const GreetingFacts& facts);

// The address to use from this machine for a server that listens on all of them.
std::string reachable_url(const std::string& url);
// The text as one word of a shell.
std::string shell_word(const std::string& text);
// "sandkeep" when the shell would find this very program under that name, else its path.
std::string program_name(const std::string& path_variable);

}  // namespace sk::cli
