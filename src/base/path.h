// Paths of files inside a workspace: UTF-8, names separated by '/', no leading '/'. The root folder is "".
// Paths compare by bytes. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace sk {

constexpr size_t kNameBytesMax = 255;
constexpr size_t kPathBytesMax = 8192;
constexpr size_t kDepthMax = 1024;

// Normalizes a client's path: drops leading, trailing and repeated '/', and escapes bytes that are not UTF-8
// (see escape_name). Throws Error(bad_request) for ".", "..", NUL, names over 255 bytes (before escaping),
// and paths over 8192 bytes or 1024 levels.
std::string clean_path(std::string_view raw);
// Does the same for a path that must not be the root.
std::string clean_file_path(std::string_view raw);

// Converts between on-disk names, which are arbitrary bytes, and our names, which are UTF-8. Each byte that
// is not part of valid UTF-8 becomes U+10FF00 + byte. The bytes of such escape characters are escaped too, so
// unescape_name(escape_name(x)) == x for all x. clean_path() accepts escaped names.
std::string escape_name(std::string_view raw);
std::string unescape_name(std::string_view name);

// Splits off the last name: "a/b/c" → {"a/b", "c"}; "c" → {"", "c"}.
std::pair<std::string, std::string> split_path(std::string_view path);
std::string join_path(std::string_view folder, std::string_view name);
// Returns whether `path` equals `folder` or is below it. Every path is within "".
bool is_within(std::string_view path, std::string_view folder);
// Matches a shell-like pattern by code points. '*' and '?' do not match '/'; '**' does. Supports '[a-z]' and
// '[!x]'. A pattern without '/' is matched against the last name only.
bool glob_match(std::string_view pattern, std::string_view path);

}  // namespace sk
