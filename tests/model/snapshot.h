// A directory as it really is, read by plain system calls: the truth that the model compares with.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>

namespace sk::model {

struct Identity {
  uint64_t device = 0, inode = 0;
  int64_t birth_ns = 0;
  auto operator<=>(const Identity&) const = default;
};

struct Thing {
  char kind = 'f';   // f(ile), d(irectory), l(ink), o(ther)
  std::string hash;  // of files: SHA-256 in hex
  uint32_t mode = 0;
  Identity identity;
  uint64_t size = 0;
  int64_t mtime_ns = 0, ctime_ns = 0;

  // What the workspace can have of it.
  bool same_as(const Thing& other) const {
    return kind == other.kind && hash == other.hash && mode == other.mode;
  }
};

// By path relative to the root, spelled as the workspace spells names. The root itself is not in it.
using Tree = std::map<std::string, Thing>;

Tree scan(const std::string& directory);  // empty when it is not there
std::string sha256_hex(const std::string& bytes);
// A name on disk as the workspace spells it: each byte that is not UTF-8 is a character of its own.
std::string spell(const std::string& path);

inline std::string parent_of(const std::string& path) {
  auto slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}
inline bool is_below(const std::string& path, const std::string& folder) {
  return folder.empty()
             ? !path.empty()
             : path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

}  // namespace sk::model
