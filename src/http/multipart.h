// Streaming parser for multipart/form-data (RFC 7578). Parts are reported through callbacks as bytes arrive.
// Buffers at most the headers of one part. Not thread-safe.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "http/message.h"

namespace sk::http {

struct MultipartPart {
  std::string name;
  // From filename*, or else filename. Raw bytes as sent when they are not UTF-8.
  std::optional<std::string> filename;
  std::string content_type;  // empty when not given
  Headers headers;
};

class MultipartParser {
 public:
  struct Callbacks {
    std::function<void(const MultipartPart&)> begin;
    std::function<void(std::string_view)> data;  // any number of times per part
    std::function<void()> end;
  };
  struct Limits {
    size_t header_bytes_max = 16 << 10;  // of one part
    size_t parts_max;
  };

  // `boundary` is the result of multipart_boundary().
  MultipartParser(std::string_view boundary, Callbacks callbacks, Limits limits);

  // Throws Error(bad_request) for a malformed body, Error(too_large) over a limit, and anything that a
  // callback throws. The parser is unusable afterwards.
  void feed(std::string_view bytes);
  // Call at the end of the body. Throws Error(bad_request) when the closing boundary is missing.
  void finish() const;

 private:
  enum class State { data, after_delimiter, headers, part_start, epilogue };

  // Each consumes bytes from the front of `rest`. Returns false when it needs more bytes.
  bool step_data(std::string_view& rest);
  bool step_after_delimiter(std::string_view& rest);
  bool step_headers(std::string_view& rest);
  bool step_part_start(std::string_view& rest);
  void emit(std::string_view bytes);

  const std::string delimiter_;  // "\r\n--boundary"
  const Callbacks callbacks_;
  const Limits limits_;
  State state_ = State::data;
  bool in_part_ = false;  // false in the preamble, which is dropped
  size_t parts_ = 0;
  std::string held_;  // bytes that may belong to a delimiter or to incomplete headers
};

// Extracts the boundary from a Content-Type header. Throws Error(unsupported_media_type) when it is not
// multipart/form-data, Error(bad_request) when it has no valid boundary.
std::string multipart_boundary(const std::optional<std::string>& content_type);

}  // namespace sk::http
