// File descriptors that close themselves, and the reads and writes that every room would otherwise write
// again.
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

// All throw Error through system_error(), naming `path` or `what`.
Fd open_file(const std::string& path, int flags, unsigned mode = 0600);
void write_all(int fd, Bytes data, std::string_view what);
void write_all_at(int fd, Bytes data, uint64_t offset, std::string_view what);
// Reads until `out` is full or the file ends; the count that was read.
size_t read_at(int fd, std::span<std::byte> out, uint64_t offset, std::string_view what);
std::string read_file(const std::string& path, size_t bytes_max = 64 << 20);
// Written aside, fsynced, renamed, directory fsynced: after it returns, `path` has all of `data` or the old
// content, also after power loss.
void write_file_durably(const std::string& path, std::string_view data, unsigned mode);
// Dies when the kernel says that it could not sync: what is then on disk is unknown (only ENOSPC/EDQUOT are
// thrown as Error).
void fsync_or_die(int fd, std::string_view what);
void fsync_directory(const std::string& path);

}  // namespace sk
