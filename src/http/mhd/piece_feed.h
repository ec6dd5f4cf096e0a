// Sends a Reply::Pieces body. Workers fetch pieces, one ahead of the piece being sent. The loop thread only
// copies memory and reads from the page cache, and never waits for a disk. Internal to this room.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "http/message.h"

namespace sk::http {

class Exchange;

class PieceFeed : public std::enable_shared_from_this<PieceFeed> {
 public:
  PieceFeed(std::shared_ptr<Exchange> exchange, std::shared_ptr<PieceSource> source)
      : exchange_(std::move(exchange)), source_(std::move(source)) {}

  // Loop thread, called when libmicrohttpd needs body bytes. Returns the byte count, 0 when the connection
  // was parked, or an MHD_CONTENT_READER_ error.
  ssize_t read(char* out, size_t size);

 private:
  // The next task for a worker.
  enum class Need { piece, file_bytes };

  ssize_t read_file(FileRange& file, char* out, size_t size) SK_REQUIRES(mutex_);
  ssize_t park_for(Need need) SK_REQUIRES(mutex_);
  void start_locked(Need need) SK_REQUIRES(mutex_);
  void fetch_piece();
  void fetch_file_bytes(FileRange from);
  void fail(std::string_view why);
  void advance_locked() SK_REQUIRES(mutex_);

  const std::shared_ptr<Exchange> exchange_;
  const std::shared_ptr<PieceSource> source_;  // used by one job at a time

  Mutex mutex_;
  std::optional<PieceSource::Piece> current_ SK_GUARDED_BY(mutex_);
  // Offset into a string piece. A file piece advances its own offset.
  size_t current_at_ SK_GUARDED_BY(mutex_) = 0;
  std::optional<PieceSource::Piece> next_ SK_GUARDED_BY(mutex_);
  // Bytes of the current file that a worker read because they were not cached.
  std::string staged_ SK_GUARDED_BY(mutex_);
  size_t staged_at_ SK_GUARDED_BY(mutex_) = 0;
  bool fetching_ SK_GUARDED_BY(mutex_) = false;
  bool ended_ SK_GUARDED_BY(mutex_) = false;
  bool failed_ SK_GUARDED_BY(mutex_) = false;
  bool parked_ SK_GUARDED_BY(mutex_) = false;
};

}  // namespace sk::http
