// A session's own directory on local disk, which code sees as /mnt/data. The server reads and writes in it
// while untrusted code changes it. Every access is therefore relative to the root's descriptor, resolved
// beneath it, never through a link and never onto another filesystem.
//
// Paths here are relative bytes as on disk, with '/' between names; "" is the root.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"

namespace sk::interpreter {

// The workspace stores only files and folders.
enum class NodeKind { file, folder, link, fifo, socket, device };

// The marks that reveal a change of a file: the manifest records them, and a scan compares them.
struct Node {
  NodeKind kind = NodeKind::device;
  uint64_t device = 0, inode = 0;
  // Distinguish an inode from an earlier one with the same number. Zero where the filesystem does not provide
  // them; walk() leaves the generation out.
  int64_t birth_ns = 0;
  uint64_t generation = 0;
  uint64_t size = 0, allocated_bytes = 0;
  int64_t mtime_ns = 0, ctime_ns = 0;
  uint32_t mode = 0;  // permission bits
  uint32_t links = 1;
};

// Code can nest folders without end, and every path below them costs its length. Nothing that has more
// folders above it is looked for in a copy.
constexpr size_t kCopyDepthMax = 256;
bool is_too_deep(std::string_view path);
// Whether walks go into a folder: it is not too deep, and its path not longer than the workspace takes.
bool is_walked(std::string_view folder);
// Whether one of the folders is above the path.
bool is_below_any(const std::string& path, const std::set<std::string>& folders);

struct Owner {
  uint32_t uid = 0, gid = 0;
};

// Any thread.
class WorkingCopy {
 public:
  // Creates the directory if it is missing.
  WorkingCopy(std::string directory, Owner owner);

  const std::string& directory() const { return directory_; }
  // Identifies this directory by device, inode and birth time. Another directory in its place is another
  // copy.
  std::string identity() const;
  int root_fd() const { return root_.get(); }

  // nullopt when nothing is there, when it is reachable only through a link, or when it cannot be read.
  // `error` is 0 in the first two cases and an errno in the third.
  std::optional<Node> look(const std::string& path, int* error = nullptr) const;
  // Opens a regular file for reading, even if its mode forbids it. nullopt when it does not exist or is not
  // regular.
  std::optional<Fd> open_file(const std::string& path) const;
  std::optional<Fd> open_folder(const std::string& path) const;
  // Like inotify_add_watch(), and also works where the folder's mode forbids reading it.
  int watch_folder(const std::string& path, int inotify, uint32_t mask) const;

  // Visits everything below a folder, each folder before its members. Visits links without following them.
  // Entries that vanish meanwhile are left out. `visit` returns false to skip the contents of a folder.
  // Visits folders that are not walked, see is_walked(), and nothing below them. Has one folder open at a
  // time, which it opens from the root, so that a path is never that of a folder that code has moved away
  // meanwhile. Returns the folders that could not be read completely.
  std::vector<std::string> walk(
      const std::string& folder,
      const std::function<bool(const std::string& path, const Node& node)>& visit) const;

  // Writes a file aside, in a folder beside all copies, and renames it into place; creates the folders above
  // it. Error(conflict) when something other than a regular file is in the way.
  struct Attributes {
    uint32_t mode = 0644;
    TimeUs mtime_us = 0;
    bool replace = true;  // false: Error(conflict) when anything exists there
    // The marks of the file that may be replaced: Error(conflict) when code has changed it since.
    std::optional<Node> expected = {};
  };
  // Removes half-written files, and the remains of copies, that a dead server left aside. Call before any
  // copy in `parent` is created.
  static void clear_aside(const std::string& parent);
  // Creates the folder of all copies if needed, clears what is aside in it, and returns it.
  static std::string prepare_parent(const std::string& parent);
  Node write_file(const std::string& path, const std::function<void(int fd)>& fill,
                  const Attributes& attributes);
  Node make_folder(const std::string& path, uint32_t mode);
  // Sets the mode of a file or folder and returns its new marks. nullopt when it does not exist.
  std::optional<Node> set_mode(const std::string& path, uint32_t mode);
  // Return false when nothing was there, a folder was not empty, or code has changed the file since
  // `expected`.
  bool remove_file(const std::string& path, const std::optional<Node>& expected = {});
  bool remove_folder(const std::string& path);
  // Removes the whole directory, once nothing uses it. It is gone at once; its contents are removed aside.
  // Throws when a part of them remains, which clear_aside() removes.
  void remove_all();
  // The same for a directory that no session uses any more, whoever owns it. Nothing happens without one.
  static void remove_unused(const std::string& directory);
  // Writes everything on a directory's filesystem to disk, so that it survives a power cut. Throws on
  // failure.
  static void flush_to_disk(const std::string& directory);

 private:
  // Invalid on failure. Temporarily grants access to folders on the way whose mode forbids it.
  Fd open_beneath(const std::string& path, uint64_t flags) const;
  Fd open_in_steps(const std::string& path, uint64_t flags) const;
  Fd make_folders(const std::string& path);  // returns the folder's descriptor
  bool is_aside(const std::string& name, const Node& expected) const;

  const std::string directory_;
  const Owner owner_;
  Fd root_, aside_;
  uint32_t project_ = 0;  // of its files; see sandbox/project_quota.h
};

}  // namespace sk::interpreter
