// Parses command-line arguments by GNU conventions. Options may come between positional arguments.
// "--name=value" equals "--name value", "-rn" equals "-r -n", and "-j8" equals "-j 8". "-" is an ordinary
// argument. Words after "--" are stored separately and unchanged.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sk::cli {

struct Option {
  std::string_view name;   // without dashes
  char letter = 0;         // its short form; 0: none
  std::string_view value;  // placeholder of its value in help, "FILE"; empty: the option takes none
  std::string_view about;
};

// The arguments of one call, already checked against the command's options. A request for an option that the
// command does not have is a bug and ends the program.
class Arguments {
 public:
  bool has(std::string_view name) const;
  // If the option is given several times, the last value counts.
  std::optional<std::string> value(std::string_view name) const;
  std::string value_or(std::string_view name, std::string_view fallback) const;
  // Returns all values in the order given.
  std::vector<std::string> values(std::string_view name) const;
  // Error(bad_request) if the value is not a whole number from `least` to `most`.
  std::optional<uint64_t> number(std::string_view name, uint64_t least, uint64_t most) const;

  std::vector<std::string> positional;
  std::vector<std::string> rest;  // after "--"
  bool has_rest = false;          // "--" was given

 private:
  friend Arguments parse_arguments(std::span<const std::string>, std::span<const Option>);
  const std::vector<std::string>& given(std::string_view name) const;
  std::map<std::string, std::vector<std::string>, std::less<>> given_;  // every known option; may be empty
};

// Error(bad_request) for an unknown option (with the most similar one), a missing value, or a value for an
// option that takes none.
Arguments parse_arguments(std::span<const std::string> words, std::span<const Option> options);

// Returns the candidate with the smallest edit distance, or nullopt if it is too different from `word`.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace sk::cli
