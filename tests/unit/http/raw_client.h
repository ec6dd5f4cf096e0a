// A socket that says exactly what the test wants, byte by byte, and reads what comes back. Every wait has a
// limit, after which the test fails.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/text.h"

namespace sk::http::testing {

constexpr int kPatienceMs = 20'000;

struct RawReply {
  int status = 0;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  std::string header(const std::string& name) const {
    auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }
};

class RawClient {
 public:
  explicit RawClient(uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }

  int fd() const { return fd_.get(); }

  // False when the other side no longer takes bytes.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      auto sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }

  void half_close() { ::shutdown(fd_.get(), SHUT_WR); }
  void close() { fd_.reset(); }

  // Reads until `end` was seen; everything up to and with it. What follows stays for the next call.
  std::string read_until(std::string_view end) {
    for (;;) {
      auto at = buffer_.find(end);
      if (at != std::string::npos) return take(at + end.size());
      if (!fill()) return take(buffer_.size());
    }
  }

  std::string read_exactly(size_t size) {
    while (buffer_.size() < size && fill()) {
    }
    return take(std::min(size, buffer_.size()));
  }

  // Reads until the other side closes.
  std::string read_all() {
    while (fill()) {
    }
    return take(buffer_.size());
  }

  // True when the other side closed and nothing is left.
  bool closed() { return buffer_.empty() && !fill(); }

  // One reply; a body without a length goes to the end of the connection. `head`: there is none.
  RawReply read_reply(bool head = false) {
    RawReply reply = read_head();
    if (head || reply.status < 200 || reply.status == 204 || reply.status == 304) return reply;
    if (reply.header("transfer-encoding") == "chunked") {
      for (;;) {
        auto line = read_until("\r\n");
        size_t size = std::stoul("0" + line, nullptr, 16);
        if (size == 0) break;
        reply.body += read_exactly(size);
        read_until("\r\n");
      }
      read_until("\r\n");
    } else if (!reply.header("content-length").empty()) {
      reply.body = read_exactly(std::stoul(reply.header("content-length")));
    } else {
      reply.body = read_all();
    }
    return reply;
  }

  RawReply read_head() {
    RawReply reply;
    auto text = read_until("\r\n\r\n");
    auto lines = split(text, '\n');
    if (lines[0].size() > 12) reply.status = std::atoi(std::string(lines[0].substr(9, 3)).c_str());
    for (size_t i = 1; i < lines.size(); ++i) {
      auto colon = lines[i].find(':');
      if (colon == std::string_view::npos) continue;
      reply.headers[ascii_lower(lines[i].substr(0, colon))] = std::string(trim(lines[i].substr(colon + 1)));
    }
    return reply;
  }

  RawReply request(std::string_view text) {
    send(text);
    return read_reply(text.starts_with("HEAD "));
  }

  RawReply get(const std::string& path, const std::string& headers = "") {
    std::string text = "GET ";
    text.append(path).append(" HTTP/1.1\r\nHost: test\r\n").append(headers).append("\r\n");
    return request(text);
  }

  // False when the other side closed or reset, or nothing came in time (which is a failure).
  bool fill() {
    pollfd wait{fd_.get(), POLLIN, 0};
    int ready = ::poll(&wait, 1, kPatienceMs);
    EXPECT_EQ(ready, 1) << "nothing came in time; so far: " << buffer_.substr(0, 500);
    if (ready != 1) return false;
    char bytes[65536];
    auto got = ::recv(fd_.get(), bytes, sizeof bytes, 0);
    if (got <= 0) return false;
    buffer_.append(bytes, static_cast<size_t>(got));
    return true;
  }

 private:
  std::string take(size_t size) {
    std::string out = buffer_.substr(0, size);
    buffer_.erase(0, size);
    return out;
  }

  Fd fd_;
  std::string buffer_;
};

}  // namespace sk::http::testing
