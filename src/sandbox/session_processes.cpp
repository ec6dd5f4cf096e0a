// Information about a session's processes from the host's /proc.
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>

#include "base/text.h"
#include "sandbox/meter.h"
#include "sandbox/nursery.h"
#include "sandbox/privileged.h"
#include "sandbox/proc.h"
#include "sandbox/session.h"
#include "sandbox/session_parts.h"

namespace sk::sandbox {

namespace {

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

uint64_t read_refusals(const Fd* file) {
  uint64_t count = 0;
  return file && ::pread(file->get(), &count, sizeof count, 0) == static_cast<ssize_t>(sizeof count) ? count
                                                                                                     : 0;
}

Usage Meter::read() const {
  Usage out = files_.read();
  out.calls_refused = read_refusals(refusals_.get());
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
  return std::make_shared<const Meter>(parts_->cgroup->files(), parts_->refusals, parts_->main_pid,
                                       parts_->init_pid);
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
  // Kernels before 5.14 also count processes of the same user outside the session: its init, the zygote, and
  // those in the pool.
  constexpr uint64_t kOthers = 16;
  return tasks + kOthers >= spec_.limits.processes_max ? 1 : 0;
}

std::vector<OpenFile> Session::files_open_for_writing() const {
  std::vector<OpenFile> out;
  for_each_also_new([this] { return processes(); },
                    [&](pid_t pid) {
                      auto files = nursery_.privileged().files_written_by(pid);
                      out.insert(out.end(), files.begin(), files.end());
                    });
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

uint64_t Session::bytes_of_deleted_files(uint64_t device) const {
  std::map<uint64_t, uint64_t> bytes;
  for (pid_t pid : processes())
    for (const auto& file : nursery_.privileged().deleted_files_of(pid, device))
      if (file.is_mapping)
        bytes.try_emplace(file.inode, file.bytes);
      else
        bytes[file.inode] = file.bytes;
  uint64_t sum = 0;
  for (const auto& [inode, size] : bytes) sum += size;
  return sum;
}

}  // namespace sk::sandbox
