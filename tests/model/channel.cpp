#include "model/channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <ctime>

namespace sk::model {

namespace {

bool send_all(int fd, const char* bytes, size_t size) {
  while (size > 0) {
    auto sent = ::send(fd, bytes, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes += sent;
    size -= static_cast<size_t>(sent);
  }
  return true;
}

bool receive_all(int fd, char* bytes, size_t size) {
  while (size > 0) {
    auto got = ::recv(fd, bytes, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

}  // namespace

Channel& Channel::operator=(Channel&& other) noexcept {
  if (this != &other) {
    close();
    fd_ = other.fd_;
    other.fd_ = -1;
  }
  return *this;
}

void Channel::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

bool Channel::send(const std::string& message) {
  uint64_t size = message.size();
  std::string whole(reinterpret_cast<const char*>(&size), sizeof size);
  whole += message;
  return fd_ >= 0 && send_all(fd_, whole.data(), whole.size());
}

std::optional<std::string> Channel::receive() {
  uint64_t size = 0;
  if (fd_ < 0 || !receive_all(fd_, reinterpret_cast<char*>(&size), sizeof size)) return std::nullopt;
  std::string message(size, '\0');
  if (!receive_all(fd_, message.data(), size)) return std::nullopt;
  return message;
}

bool Channel::wait(int64_t timeout_us) const {
  pollfd fds{fd_, POLLIN, 0};
  timespec time{timeout_us / 1'000'000, (timeout_us % 1'000'000) * 1'000};
  return ::ppoll(&fds, 1, &time, nullptr) > 0;
}

}  // namespace sk::model
