// Frames on a session's channel: a four-byte little-endian length, then that many bytes of JSON. Data from a
// session is untrusted and may be any bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sk::sandbox {

constexpr size_t kFrameBytesMax = 16 << 20;

// Throws Error(too_large) when the text exceeds the frame limit.
std::string make_frame(std::string_view text);

// Splits a stream into frames. Buffers at most one frame and the bytes appended after it. Not thread-safe.
class FrameReader {
 public:
  explicit FrameReader(size_t frame_bytes_max = kFrameBytesMax) : frame_bytes_max_(frame_bytes_max) {}
  void append(std::string_view bytes) { buffer_.append(bytes); }
  // Returns the text of the next frame, or nullopt when more bytes are needed. Throws Error(bad_request) when
  // its length exceeds the limit; the stream is unusable afterwards.
  std::optional<std::string> next();
  size_t bytes_held() const { return buffer_.size() - at_; }

 private:
  const size_t frame_bytes_max_;
  std::string buffer_;
  size_t at_ = 0;  // start of the next frame
};

}  // namespace sk::sandbox
