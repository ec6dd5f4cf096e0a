#include "base/fd.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/error.h"
#include "base/hash.h"

namespace sk {

void Fd::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Fd open_file(const std::string& path, int flags, unsigned mode) {
  int fd;
  do fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  while (fd < 0 && errno == EINTR);
  if (fd < 0) throw system_error("cannot open " + path, errno);
  return Fd(fd);
}

void write_all(int fd, Bytes data, std::string_view what) {
  while (!data.empty()) {
    auto count = ::write(fd, data.data(), data.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw system_error("cannot write " + std::string(what), errno);
    data = data.subspan(static_cast<size_t>(count));
  }
}

void write_all_at(int fd, Bytes data, uint64_t offset, std::string_view what) {
  while (!data.empty()) {
    auto count = ::pwrite(fd, data.data(), data.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw system_error("cannot write " + std::string(what), errno);
    data = data.subspan(static_cast<size_t>(count));
    offset += static_cast<uint64_t>(count);
  }
}

size_t read_at(int fd, std::span<std::byte> out, uint64_t offset, std::string_view what) {
  size_t total = 0;
  while (total < out.size()) {
    auto count = ::pread(fd, out.data() + total, out.size() - total, static_cast<off_t>(offset + total));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw system_error("cannot read " + std::string(what), errno);
    if (count == 0) break;
    total += static_cast<size_t>(count);
  }
  return total;
}

std::string read_file(const std::string& path, size_t bytes_max) {
  Fd fd = open_file(path, O_RDONLY);
  std::string out;
  char buffer[65536];
  for (;;) {
    auto count = ::read(fd.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw system_error("cannot read " + path, errno);
    if (count == 0) return out;
    out.append(buffer, static_cast<size_t>(count));
    if (out.size() > bytes_max)
      throw Error(Code::too_large, path + " is larger than " + human_size(bytes_max));
  }
}

void write_file_durably(const std::string& path, std::string_view data, unsigned mode) {
  std::string aside = path + ".new-" + random_base64url(6);
  try {
    Fd fd = open_file(aside, O_WRONLY | O_CREAT | O_EXCL, mode);
    write_all(fd.get(), as_bytes(data), aside);
    fsync_or_die(fd.get(), aside);
    if (::rename(aside.c_str(), path.c_str()) != 0) throw system_error("cannot rename " + aside, errno);
  } catch (...) {
    ::unlink(aside.c_str());
    throw;
  }
  fsync_directory(std::filesystem::path(path).parent_path().string());
}

void fsync_or_die(int fd, std::string_view what) {
  int result;
  do result = ::fsync(fd);
  while (result != 0 && errno == EINTR);
  if (result == 0) return;
  if (errno == ENOSPC || errno == EDQUOT) throw system_error("cannot sync " + std::string(what), errno);
  die("cannot sync " + std::string(what) + ": " + std::system_category().message(errno) +
      "; what the disk holds is unknown, so the server stops");
}

void fsync_directory(const std::string& path) {
  Fd fd = open_file(path.empty() ? "." : path, O_RDONLY | O_DIRECTORY);
  fsync_or_die(fd.get(), path);
}

}  // namespace sk
