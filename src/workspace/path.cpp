#include "workspace/path.h"

#include "base/error.h"
#include "base/text.h"

namespace sk::workspace {

namespace {

constexpr uint32_t kEscapeBase = 0x10FF00;

// The length of the valid UTF-8 character at the start of `text`, 0 if there is none.
size_t character_length(std::string_view text) {
  auto c = static_cast<uint8_t>(text[0]);
  size_t length = c < 0x80 ? 1 : (c >> 5) == 6 ? 2 : (c >> 4) == 14 ? 3 : (c >> 3) == 30 ? 4 : 0;
  return length == 0 || length > text.size() || !is_utf8(text.substr(0, length)) ? 0 : length;
}

// Whether `text` starts with U+10FF80…U+10FFFF (F4 8F BE 80 … F4 8F BF BF), which stand for bytes.
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

// A name as a client wrote it: bytes that are not UTF-8 are escaped; escapes that came from us pass.
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
        .hint("Use a shorter file or folder name.");
}

// Matches one '[…]' class at pattern[at]; moves `at` behind it. An unclosed '[' is an ordinary character.
bool match_class(std::string_view pattern, size_t& at, char c) {
  size_t i = at + 1;
  bool negated = i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
  if (negated) ++i;
  bool found = false;
  for (size_t first = i; i < pattern.size() && (pattern[i] != ']' || i == first); ++i) {
    if (i + 2 < pattern.size() && pattern[i + 1] == '-' && pattern[i + 2] != ']') {
      found = found || (pattern[i] <= c && c <= pattern[i + 2]);
      i += 2;
    } else {
      found = found || pattern[i] == c;
    }
  }
  if (i >= pattern.size()) {
    ++at;
    return c == '[';
  }
  at = i + 1;
  return found != negated && c != '/';
}

// Backtracks to the last '*' only, so that the cost stays pattern × path; '**' gets a branch of its own
// further down.
bool glob_here(std::string_view pattern, std::string_view path, int depth) {
  size_t p = 0, s = 0;
  size_t star_p = std::string_view::npos, star_s = 0;
  while (s < path.size() || p < pattern.size()) {
    if (p < pattern.size()) {
      if (pattern.substr(p).starts_with("**")) {
        if (depth == 0) return false;
        size_t rest = p + 2;
        bool whole_segments = rest < pattern.size() && pattern[rest] == '/';
        if (whole_segments && glob_here(pattern.substr(rest + 1), path.substr(s), depth - 1)) return true;
        for (size_t i = s; i <= path.size(); ++i)
          if (glob_here(pattern.substr(rest), path.substr(i), depth - 1)) return true;
        // Nothing behind '**' fits; an earlier '*' cannot help, since '**' takes any prefix that '*' would
        // leave.
        return false;
      }
      if (pattern[p] == '*') {
        star_p = p++;
        star_s = s;
        continue;
      }
      if (s < path.size()) {
        size_t after = p + 1;
        bool hit = pattern[p] == '?'   ? path[s] != '/'
                   : pattern[p] == '[' ? match_class(pattern, after = p, path[s])
                                       : pattern[p] == path[s];
        if (hit) {
          p = after;
          ++s;
          continue;
        }
      }
    }
    if (star_p == std::string_view::npos || star_s >= path.size() || path[star_s] == '/') return false;
    p = star_p + 1;
    s = ++star_s;
  }
  return true;
}

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
      throw Error(Code::bad_request, "the path is deeper than 1024 levels").hint("Use fewer nested folders.");
    if (!out.empty()) out += '/';
    out += name;
  }
  if (out.size() > kPathBytesMax)
    throw Error(Code::bad_request,
                "the path has " + std::to_string(out.size()) + " bytes; at most 8192 are allowed")
        .hint("Use shorter names or fewer nested folders.");
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
  constexpr int kDoubleStarsMax = 8;
  if (pattern.find('/') == std::string_view::npos && pattern.find("**") == std::string_view::npos) {
    auto slash = path.rfind('/');
    if (slash != std::string_view::npos) path.remove_prefix(slash + 1);
  }
  return glob_here(pattern, path, kDoubleStarsMax);
}

}  // namespace sk::workspace
