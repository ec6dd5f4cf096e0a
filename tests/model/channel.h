// Messages between the driver and its children, over a pair of sockets. A child that is gone ends the
// conversation; nothing is thrown for that.
#pragma once

#include <optional>
#include <string>

namespace sk::model {

class Channel {
 public:
  Channel() = default;
  explicit Channel(int fd) : fd_(fd) {}
  Channel(Channel&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Channel& operator=(Channel&& other) noexcept;
  ~Channel() { close(); }

  bool send(const std::string& message);
  // nullopt when the other side is gone.
  std::optional<std::string> receive();
  // Whether a message (or the end) is there within that time.
  bool wait(int64_t timeout_us) const;
  void close();
  int fd() const { return fd_; }

 private:
  int fd_ = -1;
};

}  // namespace sk::model
