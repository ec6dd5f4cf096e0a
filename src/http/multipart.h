// A streaming parser of multipart/form-data (RFC 7578): bytes go in as they come, parts come out through
// callbacks, nothing larger than a part's headers is kept. One thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "http/message.h"

namespace sk::http {

struct MultipartPart {
  std::string name;
  std::optional<std::string>
      filename;              // from filename*, else filename; raw bytes as sent when they are not UTF-8
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

  // `boundary` as multipart_boundary() gives it.
  MultipartParser(std::string_view boundary, Callbacks callbacks, Limits limits);

  // Throws Error(bad_request) where the body is malformed, Error(too_large) over a limit, and whatever a
  // callback throws; the parser is then dead.
  void feed(std::string_view bytes);
  // Call at the end of the body: throws Error(bad_request) when the closing boundary has not come.
  void finish() const;

 private:
  enum class State { data, after_delimiter, headers, part_start, epilogue };

  // Each consumes from the front of `rest`; false when it needs more bytes.
  bool step_data(std::string_view& rest);
  bool step_after_delimiter(std::string_view& rest);
  bool step_headers(std::string_view& rest);
  bool step_part_start(std::string_view& rest);
  void emit(std::string_view bytes);

  const std::string delimiter_;  // "\r\n--boundary"
  const Callbacks callbacks_;
  const Limits limits_;
  State state_ = State::data;
  bool in_part_ = false;  // false before the first delimiter: the preamble is dropped
  size_t parts_ = 0;
  std::string held_;  // bytes that may belong to a delimiter or to unfinished headers
};

// The boundary of a Content-Type header. Throws Error(unsupported_media_type) when it is not
// multipart/form-data, Error(bad_request) when it has no valid boundary.
std::string multipart_boundary(const std::optional<std::string>& content_type);

}  // namespace sk::http
