#include "sandbox/disk_guard.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <set>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "sandbox/steady.h"

namespace sk::sandbox {

namespace {

constexpr size_t kDepthMax = 512;
constexpr uint64_t kWorthWalkingBytes = 8 << 20;
constexpr uint64_t kWorthWalkingEntries = 1'000;
constexpr int64_t kUnwalkedMaxUs = 5'000'000;

class Walk {
 public:
  explicit Walk(dev_t device) : device_(device) {}
  FolderUsage usage;

  void folder(Fd fd, size_t depth) {
    std::unique_ptr<DIR, int (*)(DIR*)> dir(::fdopendir(fd.get()), ::closedir);
    if (!dir) return;
    fd.release();  // the DIR owns it now
    while (auto* entry = ::readdir(dir.get())) {
      if (std::strcmp(entry->d_name, ".") == 0 || std::strcmp(entry->d_name, "..") == 0) continue;
      struct stat info{};
      if (::fstatat(::dirfd(dir.get()), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
          info.st_dev != device_)
        continue;
      bool is_folder = S_ISDIR(info.st_mode);
      if (!is_folder && info.st_nlink > 1 && !seen_.insert(info.st_ino).second) continue;
      usage.bytes += static_cast<uint64_t>(info.st_blocks) * 512;
      usage.entries += 1;
      if (!is_folder || depth >= kDepthMax) continue;
      Fd below(::openat(::dirfd(dir.get()), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (below) folder(std::move(below), depth + 1);
    }
  }

 private:
  const dev_t device_;
  std::set<ino_t> seen_;  // hard-linked files
};

}  // namespace

FolderUsage measure_folder(int folder_fd) {
  struct stat info{};
  Fd again(::openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!again || ::fstat(again.get(), &info) != 0) return {};
  Walk walk(info.st_dev);
  walk.folder(std::move(again), 1);
  return walk.usage;
}

DiskGuard::DiskGuard(Options options) : options_(std::move(options)) {
  thread_ = std::thread([this] { run(); });
}

DiskGuard::~DiskGuard() {
  {
    MutexLock lock(mutex_);
    SK_CHECK(watched_.empty(), "a ticket outlives its guard");
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

std::unique_ptr<DiskGuard::Ticket> DiskGuard::watch(const std::string& folder, DiskLimits limits, Over over,
                                                    Hidden hidden) {
  auto fd = std::make_shared<Fd>(open_file(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  Watched watched{fd, limits, std::move(over), std::move(hidden), {UINT64_MAX, UINT64_MAX}, {}, {}, false};
  watched.usage = watched.before = measure_folder(fd->get());
  tighten(watched);
  MutexLock lock(mutex_);
  uint64_t number = ++numbers_;
  watched_.emplace(number, std::move(watched));
  return std::make_unique<Ticket>(*this, number);
}

void DiskGuard::forget(uint64_t number) {
  MutexLock lock(mutex_);
  watched_.erase(number);
}

void DiskGuard::run() {
  MutexLock lock(mutex_);
  while (!stopping_) {
    wake_.wait_for(lock, std::chrono::milliseconds(options_.interval_ms),
                   [this]() SK_REQUIRES(mutex_) { return stopping_; });
    if (stopping_) return;
    lock.unlock();
    Free free = free_space();
    if (is_worth_walking(free)) walk(free);
    lock.lock();
  }
}

bool DiskGuard::is_worth_walking(const Free& free) {
  auto shrank = [](uint64_t before, uint64_t now, uint64_t by) { return before > now && before - now > by; };
  if (free.bytes < options_.reserve_bytes) return true;
  if (steady_us() < next_walk_us_) return false;
  if (steady_us() >= overdue_us_) return true;
  if (shrank(walked_at_.bytes, free.bytes, kWorthWalkingBytes) ||
      shrank(walked_at_.entries, free.entries, kWorthWalkingEntries))
    return true;
  // Freed space can be filled again without a walk, so raise the mark.
  walked_at_ = {std::max(walked_at_.bytes, free.bytes), std::max(walked_at_.entries, free.entries)};
  return false;
}

// Measures without the lock, because folders may be large and ticket owners must not wait.
void DiskGuard::walk(const Free& free) {
  auto began_us = steady_us();
  std::vector<std::pair<uint64_t, std::shared_ptr<Fd>>> folders;
  {
    MutexLock lock(mutex_);
    for (const auto& [number, watched] : watched_) folders.emplace_back(number, watched.folder);
  }
  bool reserve_reached = free.bytes < options_.reserve_bytes;
  for (const auto& [number, folder] : folders) {
    FolderUsage usage = measure_folder(folder->get());
    MutexLock lock(mutex_);
    auto found = watched_.find(number);
    if (found == watched_.end()) continue;
    usage.bytes += hidden_bytes(found->second);
    found->second.usage = usage;
    if (!reserve_reached) found->second.before = usage;
    look_at_one(found->second);
  }
  walked_at_ = free;
  auto ended_us = steady_us(), took_us = ended_us - began_us;
  next_walk_us_ = ended_us + 9 * took_us;
  overdue_us_ = ended_us + std::max(kUnwalkedMaxUs, 49 * took_us);
  MutexLock lock(mutex_);
  if (reserve_reached) look_at_reserve(free);
}

uint64_t DiskGuard::hidden_bytes(const Watched& watched) {
  struct stat info{};
  if (!watched.hidden || ::fstat(watched.folder->get(), &info) != 0) return 0;
  try {
    return watched.hidden(info.st_dev);
  } catch (const Error& error) {
    log::warn("deleted files of a session could not be counted", {{"error", error.message()}});
    return 0;
  }
}

// Sets the allowance to the limits. A folder above them may keep its size, or exceed them by an amount too
// small to notice, but never more than before: it must not grow a little with each start of its session.
void DiskGuard::tighten(Watched& watched) {
  auto tighter = [](uint64_t limit, uint64_t allowed, uint64_t used, uint64_t little) {
    return used <= limit ? limit : std::min(allowed, std::max(used, limit + little));
  };
  const DiskLimits& limits = watched.limits;
  const FolderUsage& usage = watched.usage;
  watched.allowed = {
      tighter(limits.bytes_max, watched.allowed.bytes_max, usage.bytes, kWorthWalkingBytes),
      tighter(limits.entries_max, watched.allowed.entries_max, usage.entries, kWorthWalkingEntries)};
}

void DiskGuard::look_at_one(Watched& watched) {
  if (watched.told) return;
  tighten(watched);
  std::string why;
  if (watched.usage.bytes > watched.allowed.bytes_max)
    why = human_size(watched.usage.bytes) + " on disk, over the limit of " +
          human_size(watched.limits.bytes_max);
  else if (watched.usage.entries > watched.allowed.entries_max)
    why = std::to_string(watched.usage.entries) + " files, over the limit of " +
          std::to_string(watched.limits.entries_max);
  if (why.empty()) return;
  watched.told = true;
  watched.over(why);
}

// Ends the session that grew most since the reserve was last intact. If that is not enough, the next check
// ends another.
void DiskGuard::look_at_reserve(const Free& free) {
  Watched* most = nullptr;
  auto growth = [](const Watched& watched) {
    return watched.usage.bytes > watched.before.bytes ? watched.usage.bytes - watched.before.bytes : 0;
  };
  for (auto& [number, watched] : watched_)
    if (!watched.told && growth(watched) > 0 && (!most || growth(watched) > growth(*most))) most = &watched;
  if (!most) return;
  log::warn("the disk is nearly full; the session that grew most is stopped",
            {{"free", human_size(free.bytes)}, {"grew", human_size(growth(*most))}});
  most->told = true;
  most->over("the server's disk is nearly full, and this session grew most");
}

DiskGuard::Free DiskGuard::free_space() const {
  struct statvfs info{};
  if (::statvfs(options_.data_root.c_str(), &info) != 0) return {};
  Free out{static_cast<uint64_t>(info.f_bavail) * info.f_frsize, static_cast<uint64_t>(info.f_favail)};
  if (info.f_files == 0) out.entries = UINT64_MAX;  // filesystem without an inode table
  return out;
}

}  // namespace sk::sandbox
