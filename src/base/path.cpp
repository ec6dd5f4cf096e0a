#include "base/path.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace sk {

namespace {

constexpr uint32_t kEscapeBase = 0x10FF00;

// Returns the length of the valid UTF-8 character at the start of `text`, or 0 if there is none.
size_t character_length(std::string_view text) {
  auto c = static_cast<uint8_t>(text[0]);
  size_t length = c < 0x80 ? 1 : (c >> 5) == 6 ? 2 : (c >> 4) == 14 ? 3 : (c >> 3) == 30 ? 4 : 0;
  return length == 0 || length > text.size() || !is_utf8(text.substr(0, length)) ? 0 : length;
}

// Returns whether `text` starts with an escape character: U+10FF80…U+10FFFF (F4 8F BE 80 … F4 8F BF BF).
bool starts_with_escape(std::string_view text) {
  return text.size() >= 4 && text.starts_with("\xF4\x8F") && (static_cast<uint8_t>(text[2]) & 0xFE) == 0xBE &&
         character_length(text) == 4;
}

void append_escape(std::string& out, uint8_t byte) {
  uint32_t point = kEscapeBase + byte;
  out += static_cast<char>(0xF0 | (point >> 18));
  out += static_cast<char>(0x80 | ((point >> 12) & 63));
  out += static_cast<char>(0x80 | ((point >> 6) & 63));
  out += static_cast<char>(0x80 | (point & 63));
}

// Converts a name received from a client. Escapes bytes that are not UTF-8 and accepts names that are already
// escaped.
std::string name_from_client(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    size_t length = character_length(text.substr(i));
    if (length == 0) {
      append_escape(out, static_cast<uint8_t>(text[i++]));
    } else {
      out.append(text.substr(i, length));
      i += length;
    }
  }
  if (escape_name(unescape_name(out)) != out)
    throw Error(Code::bad_request, "a name may not use U+10FF80…U+10FFFF to spell ordinary characters");
  return out;
}

void check_name(std::string_view name) {
  if (name == "." || name == "..") throw Error(Code::bad_request, "a path may not contain '.' or '..'");
  if (name.size() > kNameBytesMax && unescape_name(name).size() > kNameBytesMax)
    throw Error(Code::bad_request,
                "a name has " + std::to_string(name.size()) + " bytes; at most 255 are allowed")
        .advise(Advice::shorten_name);
}

// One element of a pattern: a character, '?', a class, '*' or '**'.
struct GlobStep {
  enum class Kind { character, any, one_of, none_of, star, double_star } kind;
  std::string_view text;  // the character, or the text between the brackets
};

// Removes and returns the first character of `text`, or one byte where it is not valid UTF-8.
std::string_view take_character(std::string_view& text) {
  auto character = text.substr(0, std::max<size_t>(character_length(text), 1));
  text.remove_prefix(character.size());
  return character;
}

// Byte comparison suffices, because UTF-8 sorts by bytes as by code points.
bool is_in_class(std::string_view members, std::string_view c) {
  while (!members.empty()) {
    auto first = take_character(members);
    auto last = first;
    if (members.size() > 1 && members[0] == '-') {
      members.remove_prefix(1);
      last = take_character(members);
    }
    if (first <= c && c <= last) return true;
  }
  return false;
}

// Removes and returns the class at the start of `pattern`. Returns nullopt when the '[' is not closed and is
// thus an ordinary character.
std::optional<GlobStep> take_class(std::string_view& pattern) {
  size_t begin = 1;
  bool negated = pattern.size() > 1 && (pattern[1] == '!' || pattern[1] == '^');
  if (negated) ++begin;
  auto end = pattern.find(']', begin + 1);  // a ']' in first position is a member
  if (end == std::string_view::npos) return std::nullopt;
  GlobStep step{negated ? GlobStep::Kind::none_of : GlobStep::Kind::one_of,
                pattern.substr(begin, end - begin)};
  pattern.remove_prefix(end + 1);
  return step;
}

std::vector<GlobStep> glob_steps(std::string_view pattern) {
  std::vector<GlobStep> steps;
  while (!pattern.empty()) {
    if (pattern[0] == '*') {
      auto stars = std::min(pattern.find_first_not_of('*'), pattern.size());
      steps.push_back({stars == 1 ? GlobStep::Kind::star : GlobStep::Kind::double_star, {}});
      pattern.remove_prefix(stars);
      continue;
    }
    auto step = pattern[0] == '[' ? take_class(pattern) : std::nullopt;
    if (!step) {
      auto kind = pattern[0] == '?' ? GlobStep::Kind::any : GlobStep::Kind::character;
      step = {kind, take_character(pattern)};
    }
    steps.push_back(*step);
  }
  return steps;
}

bool takes(const GlobStep& step, std::string_view c) {
  switch (step.kind) {
    case GlobStep::Kind::character:
      return step.text == c;
    case GlobStep::Kind::any:
    case GlobStep::Kind::star:
      return c != "/";
    case GlobStep::Kind::one_of:
      return c != "/" && is_in_class(step.text, c);
    case GlobStep::Kind::none_of:
      return c != "/" && !is_in_class(step.text, c);
    case GlobStep::Kind::double_star:
      return true;
  }
  return false;
}

bool is_star(const GlobStep& step) {
  return step.kind == GlobStep::Kind::star || step.kind == GlobStep::Kind::double_star;
}

// Tracks all possible matches in parallel, so the cost is at most pattern × path.
class GlobRun {
 public:
  explicit GlobRun(std::string_view pattern) : steps_(glob_steps(pattern)), at_(steps_.size() + 1) {
    reach(at_, 0, Entered::fresh);
  }

  bool matches(std::string_view path) {
    while (!path.empty()) {
      auto c = take_character(path);
      std::vector<bool> next(at_.size());
      bool any = false;
      for (size_t i = 0; i < steps_.size(); ++i) {
        if (!at_[i] || !takes(steps_[i], c)) continue;
        if (is_star(steps_[i]))
          reach(next, i, Entered::again);
        else
          reach(next, i + 1, Entered::fresh);
        any = true;
      }
      if (!any) return false;
      at_ = std::move(next);
    }
    return at_.back();
  }

 private:
  enum class Entered { fresh, again };

  // A star may match nothing. A '**/' that has matched nothing yet may match zero folders.
  void reach(std::vector<bool>& states, size_t state, Entered entered) const {
    for (;; ++state, entered = Entered::fresh) {
      states[state] = true;
      if (state == steps_.size() || !is_star(steps_[state])) return;
      bool skips_folder = entered == Entered::fresh && steps_[state].kind == GlobStep::Kind::double_star &&
                          state + 1 < steps_.size() && steps_[state + 1].text == "/";
      if (skips_folder) reach(states, state + 2, Entered::fresh);
    }
  }

  const std::vector<GlobStep> steps_;
  std::vector<bool> at_;  // the steps that may match next
};

}  // namespace

std::string clean_path(std::string_view raw) {
  if (raw.find('\0') != std::string_view::npos)
    throw Error(Code::bad_request, "a path may not contain a NUL byte");
  std::string out;
  size_t depth = 0;
  for (auto part : split(raw, '/')) {
    if (part.empty()) continue;
    std::string name = name_from_client(part);
    check_name(name);
    if (++depth > kDepthMax)
      throw Error(Code::bad_request, "the path is deeper than 1024 levels").advise(Advice::nest_less);
    if (!out.empty()) out += '/';
    out += name;
  }
  if (out.size() > kPathBytesMax)
    throw Error(Code::bad_request,
                "the path has " + std::to_string(out.size()) + " bytes; at most 8192 are allowed")
        .advise(Advice::shorten_path);
  return out;
}

std::string clean_file_path(std::string_view raw) {
  std::string path = clean_path(raw);
  if (path.empty())
    throw Error(Code::bad_request, "the path is empty; name a file or folder below the workspace");
  return path;
}

std::string escape_name(std::string_view raw) {
  std::string out;
  out.reserve(raw.size());
  for (size_t i = 0; i < raw.size();) {
    size_t length = starts_with_escape(raw.substr(i)) ? 0 : character_length(raw.substr(i));
    if (length == 0) {
      append_escape(out, static_cast<uint8_t>(raw[i++]));
    } else {
      out.append(raw.substr(i, length));
      i += length;
    }
  }
  return out;
}

std::string unescape_name(std::string_view name) {
  std::string out;
  out.reserve(name.size());
  for (size_t i = 0; i < name.size();) {
    if (starts_with_escape(name.substr(i))) {
      out += static_cast<char>(((name[i + 2] & 3) << 6) | (name[i + 3] & 63));
      i += 4;
    } else {
      out += name[i++];
    }
  }
  return out;
}

std::pair<std::string, std::string> split_path(std::string_view path) {
  auto slash = path.rfind('/');
  if (slash == std::string_view::npos) return {"", std::string(path)};
  return {std::string(path.substr(0, slash)), std::string(path.substr(slash + 1))};
}

std::string join_path(std::string_view folder, std::string_view name) {
  if (folder.empty()) return std::string(name);
  if (name.empty()) return std::string(folder);
  return std::string(folder) + "/" + std::string(name);
}

bool is_within(std::string_view path, std::string_view folder) {
  return folder.empty() || path == folder ||
         (path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/');
}

bool glob_match(std::string_view pattern, std::string_view path) {
  if (pattern.find('/') == std::string_view::npos && pattern.find("**") == std::string_view::npos) {
    auto slash = path.rfind('/');
    if (slash != std::string_view::npos) path.remove_prefix(slash + 1);
  }
  return GlobRun(pattern).matches(path);
}

}  // namespace sk
