#include "interpreter/copy/working_copy.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <vector>

#include "base/error.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/path.h"
#include "interpreter/copy/removal.h"
#include "sandbox/project_quota.h"

namespace sk::interpreter {

namespace {

constexpr unsigned kStatxMask = STATX_BASIC_STATS | STATX_BTIME;

int64_t to_ns(const statx_timestamp& time) { return time.tv_sec * 1'000'000'000LL + time.tv_nsec; }

Node node_of(const struct statx& st) {
  Node node;
  node.device = makedev(st.stx_dev_major, st.stx_dev_minor);
  node.inode = st.stx_ino;
  node.size = st.stx_size;
  node.allocated_bytes = st.stx_blocks * 512;
  node.mtime_ns = to_ns(st.stx_mtime);
  node.ctime_ns = to_ns(st.stx_ctime);
  if ((st.stx_mask & STATX_BTIME) != 0) node.birth_ns = to_ns(st.stx_btime);
  node.mode = st.stx_mode & 07777;
  node.links = st.stx_nlink;
  if (S_ISREG(st.stx_mode))
    node.kind = NodeKind::file;
  else if (S_ISDIR(st.stx_mode))
    node.kind = NodeKind::folder;
  else if (S_ISLNK(st.stx_mode))
    node.kind = NodeKind::link;
  else if (S_ISFIFO(st.stx_mode))
    node.kind = NodeKind::fifo;
  else if (S_ISSOCK(st.stx_mode))
    node.kind = NodeKind::socket;
  else
    node.kind = NodeKind::device;
  return node;
}

// A file handle names an inode together with its generation, which changes whenever the number is reused.
// Birth times alone do not distinguish two files born within one clock tick.
uint64_t generation_of(int fd) {
  alignas(file_handle) char space[sizeof(file_handle) + MAX_HANDLE_SZ];
  auto* handle = reinterpret_cast<file_handle*>(space);
  handle->handle_bytes = MAX_HANDLE_SZ;
  int mount = 0;
  if (::name_to_handle_at(fd, "", handle, &mount, AT_EMPTY_PATH) != 0) return 0;
  uint64_t hash = 0xcbf29ce484222325ull;  // FNV-1a
  auto add = [&](unsigned char byte) { hash = (hash ^ byte) * 0x100000001b3ull; };
  add(static_cast<unsigned char>(handle->handle_type));
  const char* bytes = space + offsetof(file_handle, f_handle);
  for (unsigned i = 0; i < handle->handle_bytes; ++i) add(static_cast<unsigned char>(bytes[i]));
  return (hash >> 1) | 1;  // positive in the catalog, and never "unknown"
}

std::optional<Node> node_of_fd(int fd) {
  struct statx st;
  if (::statx(fd, "", AT_EMPTY_PATH, kStatxMask, &st) != 0) return std::nullopt;
  Node node = node_of(st);
  node.generation = generation_of(fd);
  return node;
}

int open_beneath_of(int directory, const char* path, uint64_t flags) {
  open_how how{};
  how.flags = flags | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  // EAGAIN means a concurrent rename, which is over at once, or a lease that code holds on the file, which
  // the system breaks only after 45 s.
  constexpr int kAgainMax = 32;
  long fd = -1;
  for (int again = 0; again < kAgainMax; ++again) {
    do fd = ::syscall(SYS_openat2, directory, path, &how, sizeof how);
    while (fd < 0 && errno == EINTR);
    if (fd >= 0 || errno != EAGAIN) break;
  }
  return static_cast<int>(fd);
}

std::string parent_of(const std::string& path) {
  auto slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

std::string name_of(const std::string& path) {
  auto slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

// Whether an errno says that nothing is there. Any other error (too many open files, no memory, a failing
// disk) says nothing about the path; treating it as absence would delete files.
bool is_absence(int error) { return error == ENOENT || error == ENOTDIR || error == ELOOP; }

std::string proc_path(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

// Grants the owner rights that a folder's mode forbids, during its lifetime. A server that is not root needs
// them after code called chmod.
class Permitted {
 public:
  Permitted() = default;
  Permitted(const Permitted&) = delete;
  ~Permitted() {
    int error = errno;
    for (auto at = modes_.rbegin(); at != modes_.rend(); ++at)
      ::chmod(proc_path(at->first.get()).c_str(), at->second);
    errno = error;
  }
  void permit(int folder, uint32_t bits) {
    struct stat st;
    if (::geteuid() == 0 || ::fstat(folder, &st) != 0 || (st.st_mode & bits) == bits) return;
    Fd mine(::fcntl(folder, F_DUPFD_CLOEXEC, 0));
    if (mine && ::chmod(proc_path(folder).c_str(), (st.st_mode & 07777) | bits) == 0)
      modes_.emplace_back(std::move(mine), st.st_mode & 07777);
  }

 private:
  std::vector<std::pair<Fd, uint32_t>> modes_;
};

// Paths longer than PATH_MAX are opened in steps.
constexpr size_t kStepBytes = 3'000;

std::string aside_of(const std::string& parent) { return parent + "/.aside"; }

}  // namespace

bool is_too_deep(std::string_view path) {
  return static_cast<size_t>(std::ranges::count(path, '/')) > kCopyDepthMax;
}

bool is_walked(std::string_view folder) { return !is_too_deep(folder) && folder.size() <= kPathBytesMax; }

bool is_below_any(const std::string& path, const std::set<std::string>& folders) {
  if (folders.empty()) return false;
  for (auto slash = path.rfind('/'); slash != std::string::npos && slash > 0;
       slash = path.rfind('/', slash - 1))
    if (folders.contains(path.substr(0, slash))) return true;
  return false;
}

WorkingCopy::WorkingCopy(std::string directory, Owner owner)
    : directory_(std::move(directory)), owner_(owner) {
  bool is_new = std::filesystem::create_directories(directory_);
  root_ = sk::open_file(directory_, O_PATH | O_DIRECTORY);
  std::string aside = aside_of(parent_of(directory_));
  std::filesystem::create_directories(aside);
  aside_ = sk::open_file(aside, O_PATH | O_DIRECTORY);
  struct stat st;
  if (::fstat(root_.get(), &st) != 0) throw system_error("cannot look at " + directory_, errno);
  bool mine = st.st_uid == owner_.uid && st.st_gid == owner_.gid;
  if (!mine && ::chown(directory_.c_str(), owner_.uid, owner_.gid) != 0)
    throw system_error("cannot give " + directory_ + " to its session", errno);
  ::chmod(directory_.c_str(), 0700);
  if (Fd folder{::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)}) {
    if (is_new) sandbox::make_project(folder.get());
    project_ = sandbox::project_of(folder.get());
  }
}

std::string WorkingCopy::identity() const {
  struct statx st;
  if (::statx(root_.get(), "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &st) != 0)
    throw system_error("cannot look at " + directory_, errno);
  // Includes the birth time: a folder created after another was removed often gets its inode number.
  std::string identity = std::to_string(st.stx_dev_major);
  for (uint64_t part : {uint64_t{st.stx_dev_minor}, uint64_t{st.stx_ino},
                        static_cast<uint64_t>(st.stx_btime.tv_sec), uint64_t{st.stx_btime.tv_nsec}})
    identity.append(":").append(std::to_string(part));
  return identity;
}

Fd WorkingCopy::open_beneath(const std::string& path, uint64_t flags) const {
  Fd found = open_in_steps(path, flags);
  if (found || errno != EACCES || ::geteuid() == 0) return found;
  Permitted permitted;
  Fd folder(::fcntl(root_.get(), F_DUPFD_CLOEXEC, 0));
  std::string rest = path.empty() ? "." : path;
  for (;;) {
    permitted.permit(folder.get(), 0100);
    auto slash = rest.find('/');
    if (slash == std::string::npos) return Fd(open_beneath_of(folder.get(), rest.c_str(), flags));
    Fd next(open_beneath_of(folder.get(), rest.substr(0, slash).c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW));
    if (!next) return Fd();
    folder = std::move(next);
    rest.erase(0, slash + 1);
  }
}

Fd WorkingCopy::open_in_steps(const std::string& path, uint64_t flags) const {
  Fd folder;
  std::string rest = path.empty() ? "." : path;
  while (rest.size() > kStepBytes) {
    auto slash = rest.rfind('/', kStepBytes);
    if (slash == std::string::npos) return Fd();
    int next = open_beneath_of(folder ? folder.get() : root_.get(), rest.substr(0, slash).c_str(),
                               O_PATH | O_DIRECTORY);
    if (next < 0) return Fd();
    folder = Fd(next);
    rest.erase(0, slash + 1);
  }
  return Fd(open_beneath_of(folder ? folder.get() : root_.get(), rest.c_str(), flags));
}

std::optional<Node> WorkingCopy::look(const std::string& path, int* error) const {
  Fd fd = open_beneath(path, O_PATH | O_NOFOLLOW);
  if (!fd) {
    if (error != nullptr) *error = is_absence(errno) ? 0 : errno;
    // RESOLVE_NO_SYMLINKS also refuses a link as the last name. Its folder can still tell that it exists.
    Fd folder = open_beneath(parent_of(path), O_PATH | O_DIRECTORY);
    struct statx st;
    if (!folder || ::statx(folder.get(), name_of(path).c_str(), AT_SYMLINK_NOFOLLOW, kStatxMask, &st) != 0 ||
        !S_ISLNK(st.stx_mode))
      return std::nullopt;
    return node_of(st);
  }
  return node_of_fd(fd.get());
}

std::optional<Fd> WorkingCopy::open_file(const std::string& path) const {
  Fd fd = open_beneath(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (!fd && errno == EACCES) {
    // Our own file with a mode that forbids reading: grant the permission while opening it.
    Fd handle = open_beneath(path, O_PATH | O_NOFOLLOW);
    struct stat st;
    if (!handle || ::fstat(handle.get(), &st) != 0 || !S_ISREG(st.st_mode)) return std::nullopt;
    if (::chmod(proc_path(handle.get()).c_str(), (st.st_mode & 07777) | 0400) != 0) return std::nullopt;
    fd = Fd(::open(proc_path(handle.get()).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
    ::chmod(proc_path(handle.get()).c_str(), st.st_mode & 07777);
  }
  struct stat st;
  if (!fd || ::fstat(fd.get(), &st) != 0 || !S_ISREG(st.st_mode)) return std::nullopt;
  return fd;
}

std::optional<Fd> WorkingCopy::open_folder(const std::string& path) const {
  Fd fd = open_beneath(path, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  if (!fd) return std::nullopt;
  return fd;
}

int WorkingCopy::watch_folder(const std::string& path, int inotify, uint32_t mask) const {
  auto folder = open_folder(path);
  if (!folder) return -1;
  Permitted permitted;
  permitted.permit(folder->get(), 0400);
  return ::inotify_add_watch(inotify, proc_path(folder->get()).c_str(), mask);
}

std::vector<std::string> WorkingCopy::walk(
    const std::string& folder, const std::function<bool(const std::string&, const Node&)>& visit) const {
  std::vector<std::string> pending, closed;
  if (is_walked(folder)) pending.push_back(folder);
  while (!pending.empty()) {
    std::string at = std::move(pending.back());
    pending.pop_back();
    Fd handle = open_beneath(at, O_PATH | O_DIRECTORY | O_NOFOLLOW);
    bool is_closed = !handle && !is_absence(errno);
    Permitted permitted;
    if (handle) {
      permitted.permit(handle.get(), 0500);
      Fd fd(::openat(handle.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      std::unique_ptr<DIR, int (*)(DIR*)> stream(fd ? ::fdopendir(fd.get()) : nullptr, ::closedir);
      is_closed = stream == nullptr && !is_absence(errno);
      if (stream != nullptr) fd.release();
      for (;;) {
        errno = 0;
        dirent* item = stream == nullptr ? nullptr : ::readdir(stream.get());
        if (item == nullptr) {
          is_closed = is_closed || (stream != nullptr && errno != 0 && !is_absence(errno));
          break;
        }
        std::string_view name = item->d_name;
        if (name == "." || name == "..") continue;
        struct statx st;
        if (::statx(::dirfd(stream.get()), item->d_name, AT_SYMLINK_NOFOLLOW, kStatxMask, &st) != 0) {
          is_closed = is_closed || !is_absence(errno);
          continue;
        }
        std::string path = at.empty() ? std::string(name) : at + "/" + std::string(name);
        Node node = node_of(st);
        if (visit(path, node) && node.kind == NodeKind::folder && is_walked(path)) pending.push_back(path);
      }
    }
    if (is_closed) closed.push_back(at);
  }
  return closed;
}

void WorkingCopy::remove_all() {
  std::string aside = random_base64url(12);
  ::chmod(proc_path(root_.get()).c_str(), 0700);  // code may have taken the right to move it
  if (::renameat(AT_FDCWD, directory_.c_str(), aside_.get(), aside.c_str()) != 0) {
    if (errno == ENOENT && !std::filesystem::exists(directory_)) return;
    throw system_error("cannot remove " + directory_, errno);
  }
  remove_tree(aside_.get(), aside, aside_.get());
}

void WorkingCopy::remove_unused(const std::string& directory) {
  if (!std::filesystem::exists(directory)) return;
  std::string parent = parent_of(directory), aside = aside_of(parent);
  std::filesystem::create_directories(aside);
  Fd folder = sk::open_file(parent, O_PATH | O_DIRECTORY), spare = sk::open_file(aside, O_PATH | O_DIRECTORY);
  remove_tree(folder.get(), name_of(directory), spare.get());
}

void WorkingCopy::flush_to_disk(const std::string& directory) {
  Fd fd = sk::open_file(directory, O_RDONLY | O_DIRECTORY);
  if (::syncfs(fd.get()) != 0) throw system_error("cannot sync " + directory, errno);
}

Fd WorkingCopy::make_folders(const std::string& path) {
  if (path.empty()) return open_beneath("", O_PATH | O_DIRECTORY);
  Fd existing = open_beneath(path, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  if (existing) return existing;
  Fd parent = make_folders(parent_of(path));
  std::string name = name_of(path);
  if (::mkdirat(parent.get(), name.c_str(), 0755) != 0 && errno != EEXIST)
    throw system_error("cannot make a folder in a working copy", errno);
  int made = open_beneath_of(parent.get(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW);
  if (made < 0)
    throw Error(Code::conflict, "something that is not a folder is in the way in the session's own copy");
  Fd folder(made);
  if (::fchownat(folder.get(), "", owner_.uid, owner_.gid, AT_EMPTY_PATH) != 0)
    throw system_error("cannot give a folder to its session", errno);
  return folder;
}

std::string WorkingCopy::prepare_parent(const std::string& parent) {
  std::filesystem::create_directories(parent);
  clear_aside(parent);
  return parent;
}

void WorkingCopy::clear_aside(const std::string& parent) {
  std::error_code none;
  std::vector<std::string> names;
  for (const auto& item : std::filesystem::directory_iterator(aside_of(parent), none))
    names.push_back(item.path().filename().string());
  if (names.empty()) return;
  Fd aside = sk::open_file(aside_of(parent), O_PATH | O_DIRECTORY);
  for (const auto& name : names) {
    try {
      remove_tree(aside.get(), name, aside.get());
    } catch (const Error& error) {
      log::warn("the remains of a working copy could not be removed", {{"error", error.message()}});
    }
  }
}

Node WorkingCopy::write_file(const std::string& path, const std::function<void(int fd)>& fill,
                             const Attributes& attributes) {
  Fd folder = make_folders(parent_of(path));
  std::string name = name_of(path), aside = random_base64url(12);
  Fd fd(::openat(aside_.get(), aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) throw system_error("cannot write into a working copy", errno);
  try {
    fill(fd.get());
    if (project_ != 0) sandbox::set_project(fd.get(), project_);
    if (::fchown(fd.get(), owner_.uid, owner_.gid) != 0 || ::fchmod(fd.get(), attributes.mode & 0777) != 0)
      throw system_error("cannot give a file to its session", errno);
    if (attributes.mtime_us > 0) {
      timespec times[2] = {{0, UTIME_NOW},
                           {attributes.mtime_us / kSecondUs, (attributes.mtime_us % kSecondUs) * 1000}};
      ::futimens(fd.get(), times);
    }
    unsigned flags = attributes.expected ? RENAME_EXCHANGE : attributes.replace ? 0 : RENAME_NOREPLACE;
    if (::renameat2(aside_.get(), aside.c_str(), folder.get(), name.c_str(), flags) != 0) {
      if (errno == EISDIR || errno == ENOTEMPTY || errno == EEXIST ||
          (errno == ENOENT && attributes.expected))
        throw Error(Code::conflict, "something is in the way in the session's own copy");
      throw system_error("cannot put a file into a working copy", errno);
    }
    if (attributes.expected && !is_aside(aside, *attributes.expected)) {
      // Code wrote to it just now. Puts its file back; a file that took its place meanwhile stays.
      ::renameat2(aside_.get(), aside.c_str(), folder.get(), name.c_str(), RENAME_EXCHANGE);
      throw Error(Code::conflict, "the session changes it right now");
    }
    if (attributes.expected) ::unlinkat(aside_.get(), aside.c_str(), 0);
  } catch (...) {
    ::unlinkat(aside_.get(), aside.c_str(), 0);
    throw;
  }
  auto node = node_of_fd(fd.get());
  if (!node) throw system_error("cannot look at a working copy", errno);
  return *node;
}

Node WorkingCopy::make_folder(const std::string& path, uint32_t mode) {
  Fd folder = make_folders(path);
  ::chmod(proc_path(folder.get()).c_str(), mode & 0777);
  auto node = node_of_fd(folder.get());
  if (!node) throw system_error("cannot look at a working copy", errno);
  return *node;
}

std::optional<Node> WorkingCopy::set_mode(const std::string& path, uint32_t mode) {
  Fd fd = open_beneath(path, O_PATH | O_NOFOLLOW);
  auto node = fd ? node_of_fd(fd.get()) : std::nullopt;
  if (!node || (node->kind != NodeKind::file && node->kind != NodeKind::folder)) return std::nullopt;
  if (::chmod(proc_path(fd.get()).c_str(), mode & 07777) != 0) return std::nullopt;
  return node_of_fd(fd.get());
}

// Compares all marks but the ctime, which a rename changes.
bool WorkingCopy::is_aside(const std::string& name, const Node& expected) const {
  struct statx st;
  if (::statx(aside_.get(), name.c_str(), AT_SYMLINK_NOFOLLOW, kStatxMask, &st) != 0) return false;
  Node node = node_of(st);
  return node.kind == expected.kind && node.inode == expected.inode && node.size == expected.size &&
         node.mtime_ns == expected.mtime_ns;
}

bool WorkingCopy::remove_file(const std::string& path, const std::optional<Node>& expected) {
  Fd folder = open_beneath(parent_of(path), O_PATH | O_DIRECTORY);
  if (!folder) return false;
  std::string name = name_of(path);
  if (!expected) return ::unlinkat(folder.get(), name.c_str(), 0) == 0;
  std::string aside = random_base64url(12);
  if (::renameat2(folder.get(), name.c_str(), aside_.get(), aside.c_str(), RENAME_NOREPLACE) != 0)
    return false;
  if (is_aside(aside, *expected)) return ::unlinkat(aside_.get(), aside.c_str(), 0) == 0;
  ::renameat2(aside_.get(), aside.c_str(), folder.get(), name.c_str(), RENAME_NOREPLACE);
  return false;
}

bool WorkingCopy::remove_folder(const std::string& path) {
  Fd folder = open_beneath(parent_of(path), O_PATH | O_DIRECTORY);
  return folder && ::unlinkat(folder.get(), name_of(path).c_str(), AT_REMOVEDIR) == 0;
}

}  // namespace sk::interpreter
