#include "model/writer_ops.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <vector>

namespace sk::model {

namespace {

namespace fs = std::filesystem;

void make_parents(const std::string& path) {
  for (auto slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1))
    ::mkdir(path.substr(0, slash).c_str(), 0755);
}

void write_at(int fd, const std::string& bytes, off_t offset) {
  // In two calls, so that a reader can meet the middle.
  size_t half = bytes.size() / 2;
  [[maybe_unused]] auto first = ::pwrite(fd, bytes.data(), half, offset);
  [[maybe_unused]] auto second =
      ::pwrite(fd, bytes.data() + half, bytes.size() - half, offset + static_cast<off_t>(half));
}

// Regular files only: opening a FIFO would wait for its other end.
int open_regular(const std::string& path, int flags) {
  struct stat st;
  bool there = ::lstat(path.c_str(), &st) == 0;
  if (there ? !S_ISREG(st.st_mode) : (flags & O_CREAT) == 0) return -1;
  make_parents(path);
  return ::open(path.c_str(), flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0644);
}

void with_file(const std::string& path, int flags, const std::function<void(int fd)>& action) {
  int fd = open_regular(path, flags);
  if (fd < 0) return;
  action(fd);
  ::close(fd);
}

void write_file(const std::string& path, const std::string& bytes) {
  with_file(path, O_WRONLY | O_CREAT | O_TRUNC, [&](int fd) { write_at(fd, bytes, 0); });
}

size_t size_of(int fd) {
  struct stat st;
  return ::fstat(fd, &st) == 0 ? static_cast<size_t>(st.st_size) : 0;
}

void remove_tree(const std::string& path) {
  std::error_code ignored;
  if (!path.empty()) {
    fs::remove_all(path, ignored);
    return;
  }
  for (const auto& item : fs::directory_iterator(".", ignored)) fs::remove_all(item.path(), ignored);
}

void set_mtime(const std::string& path, timespec when) {
  timespec times[2] = {{0, UTIME_OMIT}, when};
  ::utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW);
}

void many_folders(const Step& step) {
  make_parents(step.path + "/x");
  for (uint64_t i = 0; i < step.size; ++i) {
    std::string folder = step.path + "/" + std::to_string(i);
    ::mkdir(folder.c_str(), 0755);
    if (i % 8 == 0) write_file(folder + "/a", content(step.number + i, 8));
  }
}

// Deeper than the workspace takes, since each byte of these names is four there.
void deep_folders(const Step& step) {
  std::string path = step.path;
  for (int i = 0; i < 9; ++i) path.append("/").append(std::string(250, '\xff'));
  write_file(path + "/a", content(step.number, 8));
}

// More events than the kernel's queue holds: two files by turns, since equal ones are merged.
void flood(const Step& step) {
  make_parents(step.path + "/x");
  std::string first = step.path + "/a", second = step.path + "/b";
  for (const auto& path : {first, second}) with_file(path, O_WRONLY | O_CREAT, [](int) {});
  for (uint64_t i = 0; i < step.size; ++i) {
    set_mtime(first, {static_cast<time_t>(i), 0});
    set_mtime(second, {static_cast<time_t>(i), 0});
  }
}

void rename_all_into(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& item : fs::directory_iterator(".", ignored))
    names.push_back(item.path().filename().string());
  ::mkdir(folder.c_str(), 0755);
  for (const auto& name : names)
    if (name != folder) ::rename(name.c_str(), (folder + "/" + name).c_str());
}

using Action = void (*)(const Step&);
const std::map<std::string, Action>& actions() {
  static const std::map<std::string, Action> all = {
      {"write", [](const Step& s) { write_file(s.path, content(s.number, s.size)); }},
      {"append",
       [](const Step& s) {
         with_file(s.path, O_WRONLY | O_CREAT,
                   [&](int fd) { write_at(fd, content(s.number, s.size), static_cast<off_t>(size_of(fd))); });
       }},
      {"replace",
       [](const Step& s) {
         std::string aside = s.path.substr(0, 200) + "~";
         write_file(aside, content(s.number, s.size));
         ::rename(aside.c_str(), s.path.c_str());
       }},
      {"rewrite",
       [](const Step& s) {
         with_file(s.path, O_WRONLY, [&](int fd) { write_at(fd, content(s.number, size_of(fd)), 0); });
       }},
      {"same",
       [](const Step& s) {
         with_file(s.path, O_RDWR, [&](int fd) {
           std::string bytes(size_of(fd), '\0');
           if (::pread(fd, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()))
             write_at(fd, bytes, 0);
         });
       }},
      {"forge",
       [](const Step& s) {
         struct stat st;
         if (::lstat(s.path.c_str(), &st) != 0) return;
         with_file(s.path, O_WRONLY, [&](int fd) { write_at(fd, content(s.number, size_of(fd)), 0); });
         set_mtime(s.path, st.st_mtim);
       }},
      {"truncate",
       [](const Step& s) {
         struct stat st;
         if (::lstat(s.path.c_str(), &st) == 0 && S_ISREG(st.st_mode)) {
           [[maybe_unused]] int refused = ::truncate(s.path.c_str(), static_cast<off_t>(s.size));
         }
       }},
      {"ftruncate",
       [](const Step& s) {
         with_file(s.path, O_RDWR, [&](int fd) {
           [[maybe_unused]] int refused = ::ftruncate(fd, static_cast<off_t>(s.size));
         });
       }},
      {"unlink", [](const Step& s) { ::unlink(s.path.c_str()); }},
      {"rename",
       [](const Step& s) {
         if (s.path == "*") return rename_all_into(s.other);
         make_parents(s.other);
         ::rename(s.path.c_str(), s.other.c_str());
       }},
      {"exchange",
       [](const Step& s) {
         ::renameat2(AT_FDCWD, s.path.c_str(), AT_FDCWD, s.other.c_str(), RENAME_EXCHANGE);
       }},
      {"link",
       [](const Step& s) {
         make_parents(s.other);
         [[maybe_unused]] int refused = ::link(s.path.c_str(), s.other.c_str());
       }},
      {"recreate",
       [](const Step& s) {
         if (::unlink(s.path.c_str()) == 0) write_file(s.other, content(s.number, s.size));
       }},
      {"retree",
       [](const Step& s) {
         remove_tree(s.path);
         write_file(s.other + "/a", content(s.number, s.size));
       }},
      {"rmtree", [](const Step& s) { remove_tree(s.path); }},
      {"clear",
       [](const Step& s) {
         remove_tree("");
         write_file("only", content(s.number, s.size));
       }},
      {"mkdir", [](const Step& s) { make_parents(s.path + "/x"); }},
      {"chmod",
       [](const Step& s) {
         struct stat st;
         if (::lstat(s.path.c_str(), &st) == 0 && !S_ISLNK(st.st_mode))
           ::chmod(s.path.c_str(), static_cast<mode_t>(s.number));
       }},
      {"utimes", [](const Step& s) { set_mtime(s.path, {static_cast<time_t>(s.number), 0}); }},
      {"sparse",
       [](const Step& s) {
         with_file(s.path, O_WRONLY | O_CREAT, [&](int fd) {
           [[maybe_unused]] int refused = ::ftruncate(fd, static_cast<off_t>(s.size));
           write_at(fd, content(s.number, 8), static_cast<off_t>(s.size / 2));
         });
       }},
      {"symlink",
       [](const Step& s) {
         make_parents(s.path);
         ::unlink(s.path.c_str());
         [[maybe_unused]] int refused = ::symlink(s.other.c_str(), s.path.c_str());
       }},
      {"fifo",
       [](const Step& s) {
         make_parents(s.path);
         ::unlink(s.path.c_str());
         ::mkfifo(s.path.c_str(), 0600);
       }},
      {"many", many_folders},
      {"deep", deep_folders},
      {"flood", flood},
  };
  return all;
}

const std::set<std::string>& slot_actions() {
  static const std::set<std::string> all = {"hold", "hwrite", "htruncate", "release", "map", "mwrite"};
  return all;
}

}  // namespace

bool WriterOps::does(const std::string& what) {
  return actions().contains(what) || slot_actions().contains(what);
}

void WriterOps::enter(const std::string& directory) {
  release_all();
  if (::chdir(directory.c_str()) != 0) std::perror(directory.c_str());
}

WriterOps::Slot& WriterOps::slot_of(const Step& step) {
  size_t index = step.other.empty() ? step.size : static_cast<size_t>(step.other[0] - '0');
  return slots_[index % slots_.size()];
}

void WriterOps::run(const Step& step) {
  if (auto found = actions().find(step.what); found != actions().end()) return found->second(step);
  Slot& slot = slot_of(step);
  if (step.what == "hold" || step.what == "map") {
    release(slot);
    slot.fd = open_regular(step.path, O_RDWR | O_CREAT);
    struct stat st;
    if (slot.fd < 0 || ::fstat(slot.fd, &st) != 0) return;
    slot.inode = {st.st_dev, st.st_ino};
    if (step.what == "hold") return;
    slot.size = static_cast<size_t>(st.st_size);
    void* mapped = slot.size == 0
                       ? MAP_FAILED
                       : ::mmap(nullptr, slot.size, PROT_READ | PROT_WRITE, MAP_SHARED, slot.fd, 0);
    ::close(slot.fd);
    slot.fd = -1;
    if (mapped != MAP_FAILED) slot.mapped = static_cast<char*>(mapped);
  } else if (step.what == "hwrite" && slot.fd >= 0) {
    write_at(slot.fd, content(step.number, std::min<uint64_t>(step.size, 100)), 0);
  } else if (step.what == "htruncate" && slot.fd >= 0) {
    [[maybe_unused]] int refused = ::ftruncate(slot.fd, static_cast<off_t>(step.size % 50));
  } else if (step.what == "mwrite" && slot.mapped != nullptr) {
    // Somebody may have cut the file since: what lies behind its end must not be touched.
    char link[64];
    auto begin = reinterpret_cast<unsigned long>(slot.mapped);
    std::snprintf(link, sizeof link, "/proc/self/map_files/%lx-%lx", begin,
                  begin + (slot.size + 4095) / 4096 * 4096);
    struct stat st;
    if (::stat(link, &st) != 0 || static_cast<size_t>(st.st_size) < slot.size) return;
    std::string bytes = content(step.number, std::min<size_t>(slot.size, 16));
    // The system copies the bytes: on a full disk it says so, where this process would get a signal.
    int pipe[2];
    if (::pipe(pipe) != 0) return;
    [[maybe_unused]] auto in = ::write(pipe[1], bytes.data(), bytes.size());
    [[maybe_unused]] auto out = ::read(pipe[0], slot.mapped, bytes.size());
    ::close(pipe[0]);
    ::close(pipe[1]);
  } else if (step.what == "release") {
    release(slot);
  }
}

void WriterOps::release(Slot& slot) {
  if (slot.mapped != nullptr) ::munmap(slot.mapped, slot.size);
  if (slot.fd >= 0) ::close(slot.fd);
  slot = {};
}

void WriterOps::release_all() {
  for (auto& slot : slots_) release(slot);
}

std::set<std::pair<uint64_t, uint64_t>> WriterOps::open_files() const {
  std::set<std::pair<uint64_t, uint64_t>> open;
  for (const auto& slot : slots_)
    if (slot.fd >= 0 || slot.mapped != nullptr) open.insert(slot.inode);
  return open;
}

}  // namespace sk::model
