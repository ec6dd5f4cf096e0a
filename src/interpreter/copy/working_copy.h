// A session's own directory on local disk, which code sees as /mnt/data. The server reads and writes in it
// while untrusted code changes it under its hands, so every access is relative to the root's descriptor,
// resolved beneath it, never through a link and never onto another filesystem.
//
// Paths here are bytes as on disk, relative, with '/' between names; "" is the root.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"

namespace sk::interpreter {

// Only files and folders are kept.
enum class NodeKind { file, folder, link, fifo, socket, device };

// The marks that tell whether a file changed: the manifest remembers them, a scan compares.
struct Node {
  NodeKind kind = NodeKind::device;
  uint64_t device = 0, inode = 0;
  // Tell an inode from an earlier one with the same number. Zero where the filesystem does not say; walk()
  // leaves the generation out.
  int64_t birth_ns = 0;
  uint64_t generation = 0;
  uint64_t size = 0, allocated_bytes = 0;
  int64_t mtime_ns = 0, ctime_ns = 0;
  uint32_t mode = 0;  // permission bits
  uint32_t links = 1;
};

struct Owner {
  uint32_t uid = 0, gid = 0;
};

// Any thread.
class WorkingCopy {
 public:
  // Creates the directory when it is missing.
  WorkingCopy(std::string directory, Owner owner);

  const std::string& directory() const { return directory_; }
  // Names this directory by device, inode and birth time. Another one in its place is another copy.
  std::string identity() const;
  int root_fd() const { return root_.get(); }

  // nullopt when nothing is there, or only through a link, and when it cannot be seen. `error` is then 0 for
  // the former, an errno for the latter.
  std::optional<Node> look(const std::string& path, int* error = nullptr) const;
  // A regular file for reading; nullopt when it is not there or not regular. Opens what its mode forbids too.
  std::optional<Fd> open_file(const std::string& path) const;
  std::optional<Fd> open_folder(const std::string& path) const;
  // As inotify_add_watch() does, also where the folder's mode forbids reading it.
  int watch_folder(const std::string& path, int inotify, uint32_t mask) const;

  // Everything below a folder, each folder before what it holds; links are told, not followed. What vanishes
  // meanwhile is left out. `visit` returns false not to go into a folder. Returns the folders that could not
  // be read, or not whole.
  std::vector<std::string> walk(
      const std::string& folder,
      const std::function<bool(const std::string& path, const Node& node)>& visit) const;

  // Written aside, in a folder beside all copies, and renamed into place, with the folders above it. Throws
  // Error(conflict) when something that is no regular file is in the way.
  struct Attributes {
    uint32_t mode = 0644;
    TimeUs mtime_us = 0;
    bool replace = true;  // false: Error(conflict) when anything is there
    // The file that may be replaced, as it was last seen: Error(conflict) when code has changed it since.
    std::optional<Node> expected = {};
  };
  // What a dead server left half-written aside. Before any copy in `parent` is made.
  static void clear_aside(const std::string& parent);
  Node write_file(const std::string& path, const std::function<void(int fd)>& fill,
                  const Attributes& attributes);
  Node make_folder(const std::string& path, uint32_t mode);
  // Of a file or folder; its node afterwards. nullopt when there is none.
  std::optional<Node> set_mode(const std::string& path, uint32_t mode);
  // False when nothing was there, a folder was not empty, or code has changed the file since it was
  // `expected`.
  bool remove_file(const std::string& path, const std::optional<Node>& expected = {});
  bool remove_folder(const std::string& path);
  // The whole directory, once nobody uses it any more. Throws when something of it stays.
  void remove_all();
  // Writes everything on the filesystem of a directory to disk: a power cut leaves it as it is. Throws when
  // that fails.
  static void flush_to_disk(const std::string& directory);

 private:
  // Invalid when it cannot. Folders on the way whose mode forbids it are opened for the moment.
  Fd open_beneath(const std::string& path, uint64_t flags) const;
  Fd open_in_steps(const std::string& path, uint64_t flags) const;
  Fd make_folders(const std::string& path);  // the folder's descriptor
  bool is_aside(const std::string& name, const Node& expected) const;

  const std::string directory_;
  const Owner owner_;
  Fd root_, aside_;
};

}  // namespace sk::interpreter
