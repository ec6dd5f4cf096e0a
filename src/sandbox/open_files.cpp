#include "sandbox/open_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <charconv>
#include <optional>

#include "base/fd.h"
#include "base/text.h"
#include "sandbox/proc.h"

namespace sk::sandbox {

namespace {

std::vector<pid_t> threads_of(const std::string& process) {
  std::vector<pid_t> out;
  for_each_number(process + "/task", [&](int, const char* name) {
    if (auto thread = parse_unsigned(name)) out.push_back(static_cast<pid_t>(*thread));
  });
  return out;
}

// In the functions below, `task` is the /proc folder of a process or of one thread.

bool is_open_for_writing(const std::string& task, const char* fd) {
  std::string info = read_proc(task + "/fdinfo/" + fd);
  auto at = info.find("flags:");
  if (at == std::string::npos) return false;
  auto digits = trim(std::string_view(info).substr(at + 6, info.find('\n', at) - at - 6));
  unsigned flags = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), flags, 8);
  return (flags & O_ACCMODE) != O_RDONLY;
}

void add_open_files(const std::string& task, std::vector<OpenFile>& out) {
  for_each_number(task + "/fd", [&](int folder, const char* name) {
    struct stat info{};
    if (::fstatat(folder, name, &info, 0) == 0 && S_ISREG(info.st_mode) && is_open_for_writing(task, name))
      out.push_back({info.st_dev, info.st_ino});
  });
}

// A mapping of a file. Both maps and smaps list it: "7f…-7f… rw-s 00000000 fe:00 1234  /mnt/data/x".
struct FileMapping {
  OpenFile file;
  uint64_t bytes;
  bool is_shared;
  bool is_writable;
  bool is_in_copy;
};

// Returns nullopt for lines of other mappings, and for the further lines of smaps.
std::optional<FileMapping> file_mapping(std::string_view line) {
  auto fields = split(line, ' ');
  if (fields.size() < 5 || fields[1].size() != 4) return std::nullopt;
  auto colon = fields[3].find(':');
  auto inode = parse_unsigned(fields[4]);
  if (colon == std::string_view::npos || !inode || *inode == 0) return std::nullopt;
  unsigned major_number = 0, minor_number = 0;
  std::from_chars(fields[3].data(), fields[3].data() + colon, major_number, 16);
  std::from_chars(fields[3].data() + colon + 1, fields[3].data() + fields[3].size(), minor_number, 16);
  auto dash = fields[0].find('-');
  uint64_t from = 0, to = 0;
  if (dash != std::string_view::npos) {
    std::from_chars(fields[0].data(), fields[0].data() + dash, from, 16);
    std::from_chars(fields[0].data() + dash + 1, fields[0].data() + fields[0].size(), to, 16);
  }
  return FileMapping{.file = {::makedev(major_number, minor_number), *inode},
                     .bytes = to > from ? to - from : 0,
                     .is_shared = fields[1][3] == 's',
                     .is_writable = fields[1][1] == 'w',
                     .is_in_copy = line.find("/mnt/data/") != std::string_view::npos};
}

std::optional<FileMapping> shared_mapping(std::string_view line) {
  auto mapping = file_mapping(line);
  return mapping && mapping->is_shared ? mapping : std::nullopt;
}

// Finds shared mappings that mprotect() can make writable: their file was opened for writing.
void add_files_that_may_become_writable(const std::string& task, std::vector<OpenFile>& out) {
  std::string smaps = read_proc(task + "/smaps");
  std::optional<FileMapping> mapping;
  for (auto line : split(smaps, '\n')) {
    // The last line of each mapping is "VmFlags: rd sh mr mw me ms".
    if (!line.starts_with("VmFlags:")) {
      if (auto next = shared_mapping(line)) mapping = next;
      continue;
    }
    if (mapping && line.find(" mw") != std::string_view::npos) out.push_back(mapping->file);
    mapping.reset();
  }
}

enum class Memory { none, listed };

// Adds files with shared mappings that are or may become writable. Returns Memory::none for an exited process
// or thread, whose list is empty.
Memory add_mapped_files(const std::string& task, std::vector<OpenFile>& out) {
  std::string maps = read_proc(task + "/maps");
  bool has_read_only = false;
  for (auto line : split(maps, '\n')) {
    auto mapping = shared_mapping(line);
    if (!mapping) continue;
    if (mapping->is_writable) out.push_back(mapping->file);
    has_read_only |= !mapping->is_writable && mapping->is_in_copy;
  }
  // Only smaps knows more, but the kernel visits all pages for it. Mappings outside the copy, such as glibc's
  // gconv cache, do not need it.
  if (has_read_only) add_files_that_may_become_writable(task, out);
  return maps.empty() ? Memory::none : Memory::listed;
}

}  // namespace

std::string read_proc(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string out;
  char buffer[8192];
  ssize_t count;
  while (fd && (count = ::read(fd.get(), buffer, sizeof buffer)) > 0)
    out.append(buffer, static_cast<size_t>(count));
  return out;
}

std::vector<OpenFile> files_written_by(pid_t pid) {
  std::vector<OpenFile> out;
  std::string process = "/proc/" + std::to_string(pid);
  add_open_files(process, out);
  // The kernel releases memory before descriptors, so the descriptors above are complete if there is memory.
  if (add_mapped_files(process, out) == Memory::listed) return out;
  // The main thread has exited. Other threads may continue, and only their folders list what they use.
  for_each_also_new([&] { return threads_of(process); },
                    [&](pid_t thread) {
                      std::string task = process + "/task/" + std::to_string(thread);
                      add_open_files(task, out);
                      add_mapped_files(task, out);
                    });
  return out;
}

std::vector<DeletedFile> deleted_files_of(pid_t pid, uint64_t device) {
  std::vector<DeletedFile> out;
  std::string process = "/proc/" + std::to_string(pid);
  for_each_number(process + "/fd", [&](int folder, const char* name) {
    struct stat info{};
    if (::fstatat(folder, name, &info, 0) == 0 && S_ISREG(info.st_mode) && info.st_nlink == 0 &&
        info.st_dev == device)
      out.push_back({info.st_ino, static_cast<uint64_t>(info.st_blocks) * 512, 0});
  });
  std::string maps = read_proc(process + "/maps");
  for (auto line : split(maps, '\n')) {
    if (!line.ends_with(" (deleted)")) continue;
    auto mapping = file_mapping(line);
    if (mapping && mapping->file.device == device) out.push_back({mapping->file.inode, mapping->bytes, 1});
  }
  return out;
}

}  // namespace sk::sandbox
