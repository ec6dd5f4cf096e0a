#include "interpreter/copy/copy_cache.h"

#include <sys/statvfs.h>

#include <filesystem>

#include "base/error.h"
#include "base/log.h"
#include "interpreter/copy/working_copy.h"

namespace sk::interpreter {

namespace {

constexpr size_t kLookedAtMax = 1'000;
constexpr uint64_t kShortShare = 20;   // the disk is short when less than 1/kShortShare is free …
constexpr uint64_t kReserveTimes = 4;  // … or less than this multiple of the reserve
constexpr int64_t kRestUs =
    60 * kSecondUs;  // even when the disk is short: a session that was just used is likely to return

}  // namespace

std::optional<SessionInfo> CopyCache::next(TimeUs now_us, const std::function<bool(const Id&)>& in_use) {
  int64_t keep_us = rules_.keep_s * kSecondUs;
  if (is_disk_short()) keep_us = std::min(keep_us, kRestUs);
  for (auto& session : records_.sessions_with_copies(now_us - keep_us, kLookedAtMax)) {
    if (in_use(session.id)) continue;
    MutexLock lock(mutex_);
    auto spared = spared_.find(session.id);
    if (spared != spared_.end() && spared->second == session.active_us) continue;
    return session;
  }
  return std::nullopt;
}

void CopyCache::spare(const SessionInfo& session) {
  MutexLock lock(mutex_);
  spared_[session.id] = session.active_us;
}

std::vector<SessionInfo> CopyCache::of_deleted_sessions() const {
  std::vector<SessionInfo> deleted;
  std::error_code ignored;  // there is no directory before the first session
  for (const auto& folder : std::filesystem::directory_iterator(rules_.directory, ignored)) {
    // A copy is named by its session, and what was put aside of it after a power cut "<session>.suspect".
    auto id = Id::from_hex(folder.path().stem().string());
    auto session = id ? records_.find(*id) : std::nullopt;
    if (session && session->deleted_us) deleted.push_back(std::move(*session));
  }
  return deleted;
}

void CopyCache::sync() {
  try {
    WorkingCopy::flush_to_disk(rules_.directory);
    records_.mark_copies_synced();
  } catch (const Error& error) {
    log::warn("working copies could not be synced; after a power cut they are not trusted",
              {{"error", error.message()}});
  }
}

bool CopyCache::is_disk_short() const {
  struct statvfs info{};
  if (::statvfs(rules_.directory.c_str(), &info) != 0) return false;
  uint64_t total = static_cast<uint64_t>(info.f_blocks) * info.f_frsize;
  uint64_t free = static_cast<uint64_t>(info.f_bavail) * info.f_frsize;
  return free < total / kShortShare || free < rules_.reserve_bytes * kReserveTimes;
}

}  // namespace sk::interpreter
