// Information about a session's processes from the host's /proc.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "base/text.h"
#include "sandbox/meter.h"
#include "sandbox/session.h"
#include "sandbox/session_parts.h"

namespace sk::sandbox {

namespace {

std::string read_proc(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string out;
  char buffer[8192];
  ssize_t count;
  while (fd && (count = ::read(fd.get(), buffer, sizeof buffer)) > 0)
    out.append(buffer, static_cast<size_t>(count));
  return out;
}

// Calls `visit` with the name of each numeric entry of a /proc folder.
template <class Visit>
void for_each_number(const std::string& folder, Visit visit) {
  std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(folder.c_str()), ::closedir);
  while (dir) {
    auto* entry = ::readdir(dir.get());
    if (!entry) return;
    if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9') visit(::dirfd(dir.get()), entry->d_name);
  }
}

void add_descendants(pid_t pid, std::vector<pid_t>& out, size_t most = SIZE_MAX) {
  std::string task = "/proc/" + std::to_string(pid) + "/task";
  for_each_number(task, [&](int, const char* thread) {
    std::string children = read_proc(task + "/" + thread + "/children");
    for (auto word : split(children, ' ')) {
      auto child = parse_unsigned(word);
      if (!child || out.size() >= most) continue;
      out.push_back(static_cast<pid_t>(*child));
      add_descendants(static_cast<pid_t>(*child), out, most);
    }
  });
}

// Calls `visit` once for each pid that list() returns, and lists again until no pid is new. A process or
// thread can start another one and exit between the listing and the visit. The bound is for code that never
// stops starting processes.
template <class List, class Visit>
void for_each_also_new(List list, Visit visit) {
  constexpr int kListingsMax = 16;
  std::set<pid_t> visited;
  for (int listing = 0; listing < kListingsMax; ++listing) {
    size_t before = visited.size();
    for (pid_t pid : list())
      if (visited.insert(pid).second) visit(pid);
    if (visited.size() == before) return;
  }
}

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

void add_files_of_process(pid_t pid, std::vector<OpenFile>& out) {
  std::string process = "/proc/" + std::to_string(pid);
  add_open_files(process, out);
  // The kernel releases memory before descriptors, so the descriptors above are complete if there is memory.
  if (add_mapped_files(process, out) == Memory::listed) return;
  // The main thread has exited. Other threads may continue, and only their folders list what they use.
  for_each_also_new([&] { return threads_of(process); },
                    [&](pid_t thread) {
                      std::string task = process + "/task/" + std::to_string(thread);
                      add_open_files(task, out);
                      add_mapped_files(task, out);
                    });
}

// Adds the bytes of deleted files, by inode.
void add_deleted_files(const std::string& task, dev_t device, std::map<uint64_t, uint64_t>& bytes) {
  for_each_number(task + "/fd", [&](int folder, const char* name) {
    struct stat info{};
    if (::fstatat(folder, name, &info, 0) == 0 && S_ISREG(info.st_mode) && info.st_nlink == 0 &&
        info.st_dev == device)
      bytes[info.st_ino] = static_cast<uint64_t>(info.st_blocks) * 512;
  });
  std::string maps = read_proc(task + "/maps");
  for (auto line : split(maps, '\n')) {
    if (!line.ends_with(" (deleted)")) continue;
    auto mapping = file_mapping(line);
    if (mapping && mapping->file.device == device) bytes.try_emplace(mapping->file.inode, mapping->bytes);
  }
}

// The time that a process and its children that have ended used, and its own memory. Zeros for one that
// ended.
Usage usage_of_process(pid_t pid) {
  std::string folder = "/proc/" + std::to_string(pid);
  std::string stat = read_proc(folder + "/stat");
  Usage out;
  // "123 (any name) S 1 …": the name may contain anything, the fields after it nothing but numbers.
  auto end_of_name = stat.rfind(')');
  if (end_of_name == std::string::npos) return out;
  auto fields = split(std::string_view(stat).substr(end_of_name + 1), ' ');
  // Counted from the state, which is fields[1]: user and system time of its own, then of its children.
  constexpr size_t kUserTime = 12, kTimes = 4;
  auto ticks_per_s = static_cast<uint64_t>(std::max(1L, ::sysconf(_SC_CLK_TCK)));
  for (size_t i = kUserTime; i < kUserTime + kTimes && i < fields.size(); ++i)
    out.cpu_us += parse_unsigned(fields[i]).value_or(0) * 1'000'000 / ticks_per_s;
  // Pages: "size resident shared …". Shared pages of files belong to no single process.
  std::string statm = read_proc(folder + "/statm");
  auto pages = split(statm, ' ');
  if (pages.size() < 3) return out;
  uint64_t resident = parse_unsigned(pages[1]).value_or(0), shared = parse_unsigned(pages[2]).value_or(0);
  out.memory_bytes = (resident - std::min(resident, shared)) * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  // As control groups count: threads.
  constexpr size_t kThreads = 18;
  out.processes = fields.size() > kThreads ? parse_unsigned(fields[kThreads]).value_or(1) : 1;
  return out;
}

}  // namespace

Usage Meter::read() const {
  Usage out = files_.read();
  if (files_.has_memory() && files_.has_cpu() && files_.has_processes()) return out;
  Usage sum;
  std::vector<pid_t> pids = {main_pid_, init_pid_};
  add_descendants(main_pid_, pids, kProcessesMax);
  add_descendants(init_pid_, pids, kProcessesMax);
  for (pid_t pid : pids) {
    Usage one = usage_of_process(pid);
    sum.memory_bytes += one.memory_bytes;
    sum.cpu_us += one.cpu_us;
    if (pid != init_pid_) sum.processes += one.processes;
  }
  if (!files_.has_memory()) out.memory_bytes = sum.memory_bytes;
  if (!files_.has_cpu()) out.cpu_us = sum.cpu_us;
  if (!files_.has_processes()) out.processes = sum.processes;
  return out;
}

std::shared_ptr<const Meter> Session::meter() const {
  return std::make_shared<const Meter>(parts_->cgroup->files(), parts_->main_pid, parts_->init_pid);
}

std::vector<pid_t> Session::processes() const {
  auto out = parts_->cgroup->processes();
  if (!out.empty() || wait_ended(0)) return out;
  // Without control groups: the main process is the zygote's child, and orphans are init's.
  out.push_back(parts_->main_pid);
  add_descendants(parts_->main_pid, out);
  add_descendants(parts_->init_pid, out);
  return out;
}

uint64_t Session::processes_refused() const {
  if (auto counted = parts_->cgroup->processes_refused()) return *counted;
  uint64_t tasks = 0;
  for (pid_t pid : processes())
    for_each_number("/proc/" + std::to_string(pid) + "/task", [&](int, const char*) { ++tasks; });
  // The kernel also counts processes of the same user outside the session: its init, the zygote, and those in
  // the pool.
  constexpr uint64_t kOthers = 16;
  return tasks + kOthers >= spec_.limits.processes_max ? 1 : 0;
}

std::vector<OpenFile> Session::files_open_for_writing() const {
  std::vector<OpenFile> out;
  for_each_also_new([this] { return processes(); }, [&](pid_t pid) { add_files_of_process(pid, out); });
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

uint64_t Session::bytes_of_deleted_files(uint64_t device) const {
  std::map<uint64_t, uint64_t> bytes;
  for (pid_t pid : processes()) add_deleted_files("/proc/" + std::to_string(pid), device, bytes);
  uint64_t sum = 0;
  for (const auto& [inode, size] : bytes) sum += size;
  return sum;
}

}  // namespace sk::sandbox
