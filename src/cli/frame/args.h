// What a command accepts on its command line, and what was given. GNU habits: options may stand among the
// positional arguments, "--name=value" and "--name value" are the same, "-rn" is "-r -n", "-j8" is "-j 8",
// "-" is an ordinary argument, and everything after "--" is kept apart, untouched.
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
  std::string_view value;  // what stands for its value in help, "FILE"; empty: the option takes none
  std::string_view about;
};

// The arguments of one call, already checked against the options that the command has. Asking for an option
// that the command does not have is a bug and ends the program.
class Arguments {
 public:
  bool has(std::string_view name) const;
  // The last one given wins.
  std::optional<std::string> value(std::string_view name) const;
  std::string value_or(std::string_view name, std::string_view fallback) const;
  // In the order in which they were given.
  std::vector<std::string> values(std::string_view name) const;
  // Throws Error(bad_request) when the value is not a whole number from `least` to `most`.
  std::optional<uint64_t> number(std::string_view name, uint64_t least, uint64_t most) const;

  std::vector<std::string> positional;
  std::vector<std::string> rest;  // after "--"
  bool has_rest = false;          // there was a "--"

 private:
  friend Arguments parse_arguments(std::span<const std::string>, std::span<const Option>);
  const std::vector<std::string>& given(std::string_view name) const;
  std::map<std::string, std::vector<std::string>, std::less<>> given_;  // every known option, given or not
};

// Throws Error(bad_request) for an unknown option (naming the nearest known one), a missing value, and a
// value for an option that takes none.
Arguments parse_arguments(std::span<const std::string> words, std::span<const Option> options);

// The candidate with the smallest edit distance, unless even that one has little in common with `word`.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace sk::cli
