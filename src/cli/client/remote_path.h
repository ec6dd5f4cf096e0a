// How a file on the server is named on the command line: PATH in the workspace that is meant by default, or
// WS:PATH.
#pragma once

#include <string>
#include <string_view>

namespace sk::cli {

struct RemotePath {
  std::string workspace;   // empty: the default one
  std::string path;        // clean: no leading or trailing '/'; "" is the root folder
  bool as_folder = false;  // it was written with a trailing '/', or names the root: put things into it

  bool is_root() const { return path.empty(); }
};

// What stands before the first ':' is the workspace, unless a '/' comes first. A file whose own name has a
// colon is written with an empty workspace: ":10:30.txt". Throws Error(bad_request) for "..", "." and names
// that are too long.
RemotePath parse_remote_path(std::string_view text);

// "data/a.csv" below `folder`, or `name` at the root.
std::string join_remote(std::string_view folder, std::string_view name);
// The last name of a path.
std::string_view last_name(std::string_view path);

// Where the fixed part of a pattern ends: "data/*.csv" → folder "data", pattern "*.csv".
struct Glob {
  std::string folder;
  std::string pattern;          // below the folder; empty: nothing in the text is a wildcard
  bool across_folders = false;  // it may match in folders below that one
};
Glob split_glob(std::string_view path);

}  // namespace sk::cli
