// A Reply::Pieces body on the wire: pieces are pulled on worker threads, one ahead of what is being sent; the
// loop thread copies memory and reads what the page cache already has, and never waits for a disk. Internal
// to this room.
#pragma once

#include <sys/types.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "http/message.h"

namespace sk::http {

class Exchange;

class PieceFeed : public std::enable_shared_from_this<PieceFeed> {
 public:
  PieceFeed(std::shared_ptr<Exchange> exchange, std::shared_ptr<PieceSource> source)
      : exchange_(std::move(exchange)), source_(std::move(source)) {}

  // Loop thread, as libmicrohttpd asks for body bytes: the count, 0 when the connection was parked, or a
  // MHD_CONTENT_READER_ error.
  ssize_t read(char* out, size_t size);

 private:
  // What a worker is asked for next.
  enum class Need { piece, file_bytes };

  ssize_t read_file(FileRange& file, char* out, size_t size);
  ssize_t park_for(Need need);
  void start_locked(Need need);
  void fetch_piece();
  void fetch_file_bytes(FileRange from);
  void fail(std::string_view why);
  void advance_locked();

  const std::shared_ptr<Exchange> exchange_;
  const std::shared_ptr<PieceSource> source_;  // used by one job at a time

  std::mutex mutex_;  // guards all below
  std::optional<PieceSource::Piece> current_;
  size_t current_at_ = 0;  // into a string piece; a file piece moves its own offset
  std::optional<PieceSource::Piece> next_;
  std::string staged_;  // bytes of the current file that a worker read because they were not cached
  size_t staged_at_ = 0;
  bool fetching_ = false;
  bool ended_ = false;
  bool failed_ = false;
  bool parked_ = false;
};

}  // namespace sk::http
