// Paths of files inside a workspace: UTF-8 text, '/' between names, no leading '/', "" is the root folder.
// Compared by bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace sk {

constexpr size_t kNameBytesMax = 255;
constexpr size_t kPathBytesMax = 8192;
constexpr size_t kDepthMax = 1024;

// Normalizes a path from a client: leading, trailing and repeated '/' are dropped. Throws
// Error(bad_request) for ".", "..", NUL, names over 255 bytes (before escaping), paths over 8192 bytes or
// 1024 levels. Bytes that are not UTF-8 are escaped (below).
std::string clean_path(std::string_view raw);
// The same for a path that must name something below the root.
std::string clean_file_path(std::string_view raw);

// A file name on disk is any bytes; ours is UTF-8. Each byte that is not part of valid UTF-8 becomes U+10FF00
// + byte, and so does each byte of such a character itself, so that unescape_name(escape_name(x)) == x for
// all x. clean_path() takes names in escaped form.
std::string escape_name(std::string_view raw);
std::string unescape_name(std::string_view name);

// "a/b/c" → {"a/b", "c"}; "c" → {"", "c"}.
std::pair<std::string, std::string> split_path(std::string_view path);
std::string join_path(std::string_view folder, std::string_view name);
// Whether `path` is `folder` or lies below it; everything lies below "".
bool is_within(std::string_view path, std::string_view folder);
// Shell-like, by characters (code points): '*' and '?' do not cross '/', '**' does; '[a-z]', '[!x]'. A
// pattern without '/' is matched against the name alone.
bool glob_match(std::string_view pattern, std::string_view path);

}  // namespace sk
