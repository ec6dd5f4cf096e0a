// Frames on a session's channel: a length of four bytes, least first, then so many bytes of JSON. What comes
// out of a session is untrusted: any bytes at all may come.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sk::sandbox {

constexpr size_t kFrameBytesMax = 16 << 20;

// Throws Error(too_large) when the text is longer than a frame may be.
std::string make_frame(std::string_view text);

// Cuts a stream into frames. Holds no more than one frame and what was appended after it.
class FrameReader {
 public:
  explicit FrameReader(size_t frame_bytes_max = kFrameBytesMax) : frame_bytes_max_(frame_bytes_max) {}
  void append(std::string_view bytes) { buffer_.append(bytes); }
  // The text of the next frame, nullopt when more bytes are needed. Throws Error(bad_request) when its length
  // is over the limit; the stream is then of no more use.
  std::optional<std::string> next();
  size_t bytes_held() const { return buffer_.size() - at_; }

 private:
  const size_t frame_bytes_max_;
  std::string buffer_;
  size_t at_ = 0;  // where the next frame begins
};

}  // namespace sk::sandbox
