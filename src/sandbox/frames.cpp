#include "sandbox/frames.h"

#include "base/error.h"
#include "base/text.h"

namespace sk::sandbox {

namespace {
constexpr size_t kLengthBytes = 4;
}

std::string make_frame(std::string_view text) {
  if (text.size() > kFrameBytesMax)
    throw Error(Code::too_large, "a message of " + human_size(text.size()) + " does not fit into a frame");
  std::string out;
  out.reserve(kLengthBytes + text.size());
  for (size_t i = 0; i < kLengthBytes; ++i) out += static_cast<char>(text.size() >> (8 * i) & 0xff);
  out += text;
  return out;
}

std::optional<std::string> FrameReader::next() {
  if (bytes_held() < kLengthBytes) return std::nullopt;
  size_t length = 0;
  for (size_t i = 0; i < kLengthBytes; ++i)
    length |= static_cast<size_t>(static_cast<unsigned char>(buffer_[at_ + i])) << (8 * i);
  if (length > frame_bytes_max_)
    throw Error(Code::bad_request, "a frame of " + human_size(length) + " from a session");
  if (bytes_held() < kLengthBytes + length) {
    // Move the remaining bytes to the front, so the buffer does not grow with consumed bytes.
    if (at_ > 0) {
      buffer_.erase(0, at_);
      at_ = 0;
    }
    return std::nullopt;
  }
  std::string out = buffer_.substr(at_ + kLengthBytes, length);
  at_ += kLengthBytes + length;
  if (at_ == buffer_.size()) {
    buffer_.clear();
    if (buffer_.capacity() > 64 << 10) buffer_.shrink_to_fit();
    at_ = 0;
  }
  return out;
}

}  // namespace sk::sandbox
