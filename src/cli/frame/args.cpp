#include "cli/frame/args.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace sk::cli {

namespace {

const Option* find_by_name(std::span<const Option> options, std::string_view name) {
  auto at = std::find_if(options.begin(), options.end(), [&](const Option& o) { return o.name == name; });
  return at == options.end() ? nullptr : &*at;
}

const Option* find_by_letter(std::span<const Option> options, char letter) {
  auto at = std::find_if(options.begin(), options.end(), [&](const Option& o) { return o.letter == letter; });
  return at == options.end() ? nullptr : &*at;
}

[[noreturn]] void throw_unknown(std::string_view written, std::span<const Option> options) {
  std::vector<std::string> names;
  for (const auto& option : options) names.push_back("--" + std::string(option.name));
  auto message = "there is no option " + std::string(written);
  auto close = written.starts_with("--") ? nearest(written, names) : std::nullopt;
  if (close) message += "; did you mean " + *close + "?";
  throw Error(Code::bad_request, message);
}

[[noreturn]] void throw_no_value(std::string_view written, const Option& option) {
  throw Error(Code::bad_request, std::string(written) + " needs a value: " + std::string(written) + " " +
                                     std::string(option.value));
}

// Reads the words once; `take_value` advances to the next word.
class Parser {
 public:
  Parser(std::span<const std::string> words, std::span<const Option> options)
      : words_(words), options_(options) {}

  using Sink = std::function<void(const Option&, std::string)>;

  void long_option(std::string_view word, const Sink& sink) {
    auto equals = word.find('=');
    auto written = word.substr(0, equals);
    const auto* option = find_by_name(options_, written.substr(2));
    if (option == nullptr) throw_unknown(written, options_);
    if (option->value.empty()) {
      if (equals != std::string_view::npos)
        throw Error(Code::bad_request, std::string(written) + " takes no value");
      sink(*option, "");
    } else if (equals != std::string_view::npos) {
      sink(*option, std::string(word.substr(equals + 1)));
    } else {
      sink(*option, take_value(written, *option));
    }
  }

  void letters(std::string_view word, const Sink& sink) {
    for (size_t i = 1; i < word.size(); ++i) {
      std::string written = std::string("-") + word[i];
      const auto* option = find_by_letter(options_, word[i]);
      if (option == nullptr) throw_unknown(written, options_);
      if (option->value.empty()) {
        sink(*option, "");
        continue;
      }
      auto attached = word.substr(i + 1);
      sink(*option, attached.empty() ? take_value(written, *option) : std::string(attached));
      return;
    }
  }

  const std::string* next() { return at_ < words_.size() ? &words_[at_++] : nullptr; }

 private:
  std::string take_value(std::string_view written, const Option& option) {
    const auto* value = next();
    if (value == nullptr) throw_no_value(written, option);
    return *value;
  }

  std::span<const std::string> words_;
  std::span<const Option> options_;
  size_t at_ = 0;
};

}  // namespace

const std::vector<std::string>& Arguments::given(std::string_view name) const {
  auto at = given_.find(name);
  SK_CHECK(at != given_.end(), name);
  return at->second;
}

bool Arguments::has(std::string_view name) const { return !given(name).empty(); }

std::optional<std::string> Arguments::value(std::string_view name) const {
  const auto& all = given(name);
  return all.empty() ? std::nullopt : std::optional(all.back());
}

std::string Arguments::value_or(std::string_view name, std::string_view fallback) const {
  return value(name).value_or(std::string(fallback));
}

std::vector<std::string> Arguments::values(std::string_view name) const { return given(name); }

std::optional<uint64_t> Arguments::number(std::string_view name, uint64_t least, uint64_t most) const {
  auto text = value(name);
  if (!text) return std::nullopt;
  auto number = parse_unsigned(*text);
  if (!number || *number < least || *number > most)
    throw Error(Code::bad_request, "--" + std::string(name) + " " + *text +
                                       ": expected a whole number from " + std::to_string(least) + " to " +
                                       std::to_string(most));
  return number;
}

Arguments parse_arguments(std::span<const std::string> words, std::span<const Option> options) {
  Arguments out;
  for (const auto& option : options) out.given_.try_emplace(std::string(option.name));
  auto sink = [&](const Option& option, std::string value) {
    out.given_.find(option.name)->second.push_back(std::move(value));
  };
  Parser parser(words, options);
  while (const auto* word = parser.next()) {
    if (*word == "--") {
      out.has_rest = true;
      while (const auto* more = parser.next()) out.rest.push_back(*more);
    } else if (word->starts_with("--")) {
      parser.long_option(*word, sink);
    } else if (word->size() > 1 && word->front() == '-') {
      parser.letters(*word, sink);
    } else {
      out.positional.push_back(*word);
    }
  }
  return out;
}

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::optional<std::string> best;
  size_t best_distance = 0;
  for (const auto& candidate : candidates) {
    auto distance = edit_distance(word, candidate);
    if (best && distance >= best_distance) continue;
    best = candidate;
    best_distance = distance;
  }
  // Do not suggest a name in which more than about a third of the letters differ.
  if (best && best_distance > std::max<size_t>(1, std::max(word.size(), best->size()) / 3 + 1))
    return std::nullopt;
  return best;
}

}  // namespace sk::cli
