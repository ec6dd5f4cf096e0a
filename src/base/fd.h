// Owning file descriptors, and read and write helpers shared by all rooms. An Fd is move-only and closes its
// descriptor on destruction.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace sk {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~Fd() { reset(); }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset();

 private:
  int fd_ = -1;
};

// These functions throw the Error of system_error(), which names `path` or `what`.
Fd open_file(const std::string& path, int flags, unsigned mode = 0600);
void write_all(int fd, Bytes data, std::string_view what);
void write_all_at(int fd, Bytes data, uint64_t offset, std::string_view what);
// Reads until `out` is full or the file ends. Returns the number of bytes read.
size_t read_at(int fd, std::span<std::byte> out, uint64_t offset, std::string_view what);
// Throws Error(too_large) when the file is larger than `bytes_max`.
std::string read_file(const std::string& path, size_t bytes_max = 64 << 20);
// Replaces `path` atomically and durably: writes a temporary file, syncs it, renames it, syncs the directory.
// A crash or power loss leaves either the old content or all of `data`.
void write_file_durably(const std::string& path, std::string_view data, unsigned mode);
// Syncs a file. Dies when the sync fails, because the on-disk state is then unknown. Throws Error(disk_full)
// for ENOSPC and EDQUOT.
void fsync_or_die(int fd, std::string_view what);
void fsync_directory(const std::string& path);

}  // namespace sk
