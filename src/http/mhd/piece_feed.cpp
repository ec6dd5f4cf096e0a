#include "http/mhd/piece_feed.h"

#include <fcntl.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>

#include "base/fair_queue.h"
#include "base/log.h"
#include "http/mhd/exchange.h"

namespace sk::http {

namespace {
constexpr size_t kStageBytes = 1 << 20;
}

ssize_t PieceFeed::read(char* out, size_t size) {
  MutexLock lock(mutex_);
  for (;;) {
    if (failed_) return MHD_CONTENT_READER_END_WITH_ERROR;
    if (staged_at_ < staged_.size()) {
      size_t count = std::min(size, staged_.size() - staged_at_);
      std::memcpy(out, staged_.data() + staged_at_, count);
      staged_at_ += count;
      return static_cast<ssize_t>(count);
    }
    if (!current_) {
      if (!next_ && !ended_) return park_for(Need::piece);
      if (!next_) return MHD_CONTENT_READER_END_WITH_ERROR;  // fewer bytes than announced
      advance_locked();
      continue;
    }
    if (auto* text = std::get_if<std::string>(&*current_)) {
      size_t count = std::min(size, text->size() - current_at_);
      std::memcpy(out, text->data() + current_at_, count);
      current_at_ += count;
      if (current_at_ == text->size()) current_.reset();
      if (count > 0) return static_cast<ssize_t>(count);
      continue;
    }
    auto& file = std::get<FileRange>(*current_);
    if (file.size == 0) {
      current_.reset();
      continue;
    }
    return read_file(file, out, size);
  }
}

void PieceFeed::advance_locked() {
  current_ = std::exchange(next_, std::nullopt);
  current_at_ = 0;
  if (!ended_ && !fetching_) start_locked(Need::piece);
}

ssize_t PieceFeed::read_file(FileRange& file, char* out, size_t size) {
  iovec into{out, static_cast<size_t>(std::min<uint64_t>(size, file.size))};
  ssize_t count = ::preadv2(file.file->get(), &into, 1, static_cast<off_t>(file.offset), RWF_NOWAIT);
  if (count > 0) {
    file.offset += static_cast<uint64_t>(count);
    file.size -= static_cast<uint64_t>(count);
    return count;
  }
  // The data is not cached, the filesystem cannot tell, or the file is too short. A worker finds out.
  return park_for(Need::file_bytes);
}

ssize_t PieceFeed::park_for(Need need) {
  if (!exchange_->park()) return MHD_CONTENT_READER_END_WITH_ERROR;
  parked_ = true;
  if (!fetching_) start_locked(need);
  return 0;
}

void PieceFeed::start_locked(Need need) {
  fetching_ = true;
  exchange_->submit([self = shared_from_this(), need] {
    try {
      if (need == Need::piece) return self->fetch_piece();
      FileRange from;
      {
        MutexLock lock(self->mutex_);
        from = std::get<FileRange>(*self->current_);
      }
      self->fetch_file_bytes(std::move(from));
    } catch (const std::exception& failure) {
      self->fail(failure.what());
    }
  });
}

void PieceFeed::fetch_piece() {
  auto piece = source_->next();
  MutexLock lock(mutex_);
  fetching_ = false;
  ended_ = !piece;
  next_ = std::move(piece);
  // Meanwhile the loop may have found that bytes of the current file are not cached.
  if (parked_ && current_ && std::holds_alternative<FileRange>(*current_))
    return start_locked(Need::file_bytes);
  if (std::exchange(parked_, false)) exchange_->unpark();
}

void PieceFeed::fetch_file_bytes(FileRange from) {
  std::string bytes(static_cast<size_t>(std::min<uint64_t>(kStageBytes, from.size)), '\0');
  size_t count = 0;
  {
    FairPool::Pause pause;  // for the disk
    count = read_at(from.file->get(), std::as_writable_bytes(std::span(bytes)), from.offset, "a stored file");
  }
  if (count < bytes.size()) return fail("a stored file is shorter than its record says");
  MutexLock lock(mutex_);
  fetching_ = false;
  auto& file = std::get<FileRange>(*current_);
  file.offset += count;
  file.size -= count;
  staged_ = std::move(bytes);
  staged_at_ = 0;
  if (std::exchange(parked_, false)) exchange_->unpark();
}

void PieceFeed::fail(std::string_view why) {
  log::error("reply cut short", {{"reason", why}});
  MutexLock lock(mutex_);
  fetching_ = false;
  failed_ = true;
  if (std::exchange(parked_, false)) exchange_->unpark();
}

}  // namespace sk::http
