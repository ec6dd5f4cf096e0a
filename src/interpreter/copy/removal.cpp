#include "interpreter/copy/removal.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "base/hash.h"

namespace sk::interpreter {

namespace {

Error not_removed(int error) { return system_error("cannot remove a part of a working copy", error); }

// Opens a folder for changing what is in it, whatever its mode forbids. Invalid when it does not exist.
Fd open_to_change(int parent, const std::string& name) {
  Fd handle(::openat(parent, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!handle) return Fd();
  // The owner may have taken the rights from himself. Without them, even moving the folder is refused.
  std::string itself = "/proc/self/fd/" + std::to_string(handle.get());
  if (::geteuid() != 0) ::chmod(itself.c_str(), 0700);
  return Fd(::openat(handle.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

enum class Gone { yes, not_empty };

// Removes a file or an empty folder.
Gone remove_one(int parent, const char* name, unsigned char kind) {
  if (kind != DT_DIR) {
    if (::unlinkat(parent, name, 0) == 0 || errno == ENOENT) return Gone::yes;
    if (errno != EISDIR && errno != EPERM) throw not_removed(errno);
  }
  if (::unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT) return Gone::yes;
  if (errno != ENOTEMPTY && errno != EEXIST) throw not_removed(errno);
  return Gone::not_empty;
}

// Removes what is in a folder. Moves folders that are not empty to `spare` and appends their new names.
void empty_folder(Fd folder, int spare, std::vector<std::string>& moved) {
  std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(folder.get()), ::closedir);
  if (!stream) throw not_removed(errno);
  folder.release();  // the stream owns it now
  int fd = ::dirfd(stream.get());
  for (;;) {
    errno = 0;
    dirent* item = ::readdir(stream.get());
    if (item == nullptr && errno != 0) throw not_removed(errno);
    if (item == nullptr) return;
    std::string_view name = item->d_name;
    if (name == "." || name == ".." || remove_one(fd, item->d_name, item->d_type) == Gone::yes) continue;
    std::string aside = random_base64url(12);
    if (!open_to_change(fd, item->d_name)) throw not_removed(errno);
    if (::renameat(fd, item->d_name, spare, aside.c_str()) != 0) throw not_removed(errno);
    moved.push_back(std::move(aside));
  }
}

}  // namespace

void remove_tree(int parent, const std::string& name, int spare) {
  std::vector<std::string> moved;  // in `spare`, and not empty
  auto remove_at = [&](int at, const std::string& which) {
    // Reading a folder while it changes may leave something out, so a few rounds may be needed.
    constexpr int kRoundsMax = 16;
    for (int round = 0; remove_one(at, which.c_str(), DT_UNKNOWN) == Gone::not_empty; ++round) {
      if (round == kRoundsMax) throw not_removed(ENOTEMPTY);
      Fd folder = open_to_change(at, which);
      if (!folder) throw not_removed(errno);
      empty_folder(std::move(folder), spare, moved);
    }
  };
  remove_at(parent, name);
  while (!moved.empty()) {
    std::string next = std::move(moved.back());
    moved.pop_back();
    remove_at(spare, next);
  }
}

}  // namespace sk::interpreter
