// Paths of the server on the command line: PATH in the default workspace, or WS:PATH.
#pragma once

#include <string>
#include <string_view>

namespace sk::cli {

struct RemotePath {
  std::string workspace;   // empty: the default one
  std::string path;        // normalized: no leading or trailing '/'; "" is the root folder
  bool as_folder = false;  // written with a trailing '/', or the root: a folder to put entries into

  bool is_root() const { return path.empty(); }
};

// The part before the first ':' is the workspace, unless a '/' comes first. For a file name with a colon,
// write an empty workspace: ":10:30.txt". Error(bad_request) for "..", "." and names that are too long.
RemotePath parse_remote_path(std::string_view text);

// Returns "folder/name", or `name` at the root.
std::string join_remote(std::string_view folder, std::string_view name);
// The last name of a path.
std::string_view last_name(std::string_view path);

// A path split before its first wildcard: "data/*.csv" → folder "data", pattern "*.csv".
struct Glob {
  std::string folder;
  std::string pattern;          // below the folder; empty: the path has no wildcard
  bool across_folders = false;  // the pattern may match in subfolders
};
Glob split_glob(std::string_view path);

}  // namespace sk::cli
