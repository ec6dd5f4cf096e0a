#include "workspace/access_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/fd.h"
#include "base/log.h"
#include "blobs/blob_tree.h"
#include "workspace/journal.h"

namespace sk::workspace {

namespace {

constexpr auto kFlushInterval = std::chrono::seconds(5);
// The writer is woken early when so many records wait.
constexpr size_t kPendingMax = 10'000;
// Bounds the memory while the disk cannot be written.
constexpr size_t kPendingMost = 50'000;
constexpr int64_t kSegmentSeconds = 3600;
constexpr int64_t kSegmentRecordsMax = 1'000'000;
// The open segment is closed when it has this part of the bytes of all. One batch may exceed that.
constexpr uint64_t kSegmentsMin = 8;
// Records of strangers in one batch that have their own target and address.
constexpr size_t kStrangersMax = 64;

}  // namespace

AccessLog::AccessLog(KeepContext& context, std::string directory, AccessLogLimits limits)
    : context_(context), directory_(std::move(directory)), limits_(limits) {
  blobs::make_directories_durably(directory_);
  // Close segments that a crash left open, so that their hashes are also in the journal.
  for (const auto& file : std::filesystem::directory_iterator(directory_)) {
    if (file.path().extension() != ".open") continue;
    segment_path_ = file.path().string();
    close_segment();
  }
  thread_ = std::thread([this] { run(); });
}

AccessLog::~AccessLog() { stop(); }

void AccessLog::note(AccessRecord record) {
  TimeUs now_us = context_.clock.now_us();
  MutexLock lock(mutex_);
  bool of_stranger = !record.principal;
  if (of_stranger && strangers_ >= kStrangersMax && !pending_.contains(record)) {
    record.target = "(others)";
    record.address.clear();
  }
  if (pending_.size() >= kPendingMost && !pending_.contains(record)) {
    ++dropped_;
    return;
  }
  auto [at, is_new] = pending_.try_emplace(std::move(record));
  if (is_new) {
    at->second.first_us = now_us;
    if (of_stranger) ++strangers_;
  }
  at->second.last_us = now_us;
  ++at->second.count;
  if (pending_.size() >= kPendingMax) wake_.notify_one();
}

void AccessLog::flush() { write_pending(); }

void AccessLog::stop() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (!thread_.joinable()) return;
  thread_.join();
  try {
    write_pending();
    MutexLock lock(file_mutex_);
    close_segment();
  } catch (const std::exception& error) {
    log::error("the end of the access log could not be written", {{"error", error.what()}});
  }
}

void AccessLog::run() {
  MutexLock lock(mutex_);
  bool failed = false;
  while (!stopping_) {
    // After a failure, waits even if many records are pending.
    wake_.wait_for(lock, kFlushInterval, [&]() SK_REQUIRES(mutex_) {
      return stopping_ || (!failed && pending_.size() >= kPendingMax);
    });
    if (pending_.empty()) continue;
    lock.unlock();
    failed = false;
    try {
      write_pending();
    } catch (const std::exception& error) {
      failed = true;
      log::error("the access log could not be written", {{"error", error.what()}});
    }
    lock.lock();
  }
}

void AccessLog::write_pending() {
  MutexLock file_lock(file_mutex_);
  Batch batch;
  int64_t dropped = 0;
  {
    MutexLock lock(mutex_);
    batch.swap(pending_);
    strangers_ = 0;
    dropped = std::exchange(dropped_, 0);
  }
  if (dropped > 0) log::error("records of the access log were dropped", {{"count", dropped}});
  if (batch.empty()) return;
  try {
    append(batch);
  } catch (...) {
    put_back(std::move(batch));
    throw;
  }
}

// Adds records that could not be written to those that came since.
void AccessLog::put_back(Batch batch) {
  MutexLock lock(mutex_);
  pending_.swap(batch);
  for (auto& [record, seen] : batch) {
    auto [at, is_new] = pending_.try_emplace(record, seen);
    if (is_new) continue;
    at->second.count += seen.count;
    at->second.last_us = seen.last_us;
  }
  strangers_ = static_cast<size_t>(
      std::ranges::count_if(pending_, [](const auto& one) { return !one.first.principal; }));
}

// Writes all or nothing, so that the records can be written again after a failure.
void AccessLog::append(const Batch& batch) {
  TimeUs now_us = context_.clock.now_us();
  bool full = !segment_path_.empty() &&
              (now_us - segment_started_us_ > kSegmentSeconds * kSecondUs ||
               segment_records_ >= kSegmentRecordsMax || segment_bytes_ >= limits_.bytes_max / kSegmentsMin);
  if (full) close_segment();
  std::string lines;
  for (const auto& [record, seen] : batch) {
    Json line = {{"first", to_iso8601(seen.first_us)},
                 {"last", to_iso8601(seen.last_us)},
                 {"count", seen.count},
                 {"action", record.action},
                 {"outcome", record.outcome},
                 {"target", record.target}};
    if (record.workspace) line["workspace_id"] = record.workspace.with_prefix(prefix::workspace);
    if (record.principal) line["principal_id"] = record.principal.with_prefix(prefix::principal);
    if (!record.address.empty()) line["address"] = record.address;
    lines += to_text(line) + "\n";
  }
  bool is_new = segment_path_.empty();
  auto path = is_new ? directory_ + "/" + context_.ids.next().hex() + ".open" : segment_path_;
  Fd file = open_file(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (is_new) {
    segment_started_us_ = now_us;
    segment_path_ = path;
  }
  auto size = ::lseek(file.get(), 0, SEEK_END);
  try {
    write_all(file.get(), as_bytes(lines), segment_path_);
  } catch (...) {
    if (size < 0 || ::ftruncate(file.get(), size) != 0) log::error("a part of the access log may repeat", {});
    throw;
  }
  segment_records_ += static_cast<int64_t>(batch.size());
  segment_bytes_ += lines.size();
}

void AccessLog::close_segment() {
  if (segment_path_.empty()) return;
  std::filesystem::path open_path(segment_path_);
  std::filesystem::path closed_path = open_path;
  closed_path.replace_extension(".jsonl");
  Sha256Stream hash;
  int64_t size = 0;
  {
    Fd file = open_file(segment_path_, O_RDONLY);
    // Sync before the journal records the hash. Otherwise a power cut would make the segment look tampered
    // with.
    fsync_or_die(file.get(), segment_path_);
    std::vector<std::byte> buffer(1 << 16);
    for (size_t got; (got = read_at(file.get(), buffer, static_cast<uint64_t>(size), segment_path_)) > 0;
         size += static_cast<int64_t>(got))
      hash.update(Bytes(buffer).first(got));
  }
  context_.db.write(catalog::Scope::installation(), [&](catalog::Tx& tx) {
    Journal::append(
        tx, context_, Id{}, Author(Id{}, "server"), "access_log.segment",
        {{"segment", closed_path.filename().string()}, {"sha256", hash.digest().hex()}, {"size", size}},
        Json::object());
  });
  // Rename after the record. A server killed in between closes the segment again and records the same hash.
  std::filesystem::rename(open_path, closed_path);
  fsync_directory(directory_);
  segment_path_.clear();
  segment_records_ = 0;
  segment_bytes_ = 0;
  delete_old_segments();
}

// Deletes what is older than the retention time, and then the oldest until the rest and another open segment
// have room. Ids, which are the names, sort by time.
void AccessLog::delete_old_segments() {
  std::map<Id, std::filesystem::directory_entry> segments;
  uint64_t bytes = 0;
  for (const auto& file : std::filesystem::directory_iterator(directory_)) {
    auto id = Id::from_hex(file.path().stem().string());
    if (!id || file.path().extension() != ".jsonl") continue;
    bytes += file.file_size();
    segments.emplace(*id, file);
  }
  auto oldest_us =
      context_.clock.now_us() - static_cast<int64_t>(limits_.retention_days) * 86'400 * kSecondUs;
  for (const auto& [id, file] : segments) {
    bool is_old = limits_.retention_days > 0 && id.time_us() < oldest_us;
    if (!is_old && bytes <= limits_.bytes_max - limits_.bytes_max / kSegmentsMin) break;
    bytes -= file.file_size();
    std::filesystem::remove(file.path());
  }
}

}  // namespace sk::workspace
