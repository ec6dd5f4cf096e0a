// The lines of a request's head, as they were sent. libmicrohttpd accepts lines that end without CR, folded
// lines, NUL bytes and empty names, and does not tell. A proxy that reads them in another way can be made to
// pass on a request that it did not see. Internal to this room.
#pragma once

#include <microhttpd.h>

#include <string_view>

#include "http/message.h"

namespace sk::http {

class HeadLines {
 public:
  // Loop thread, in the first call of the access handler, whose arguments `method` and `version` are.
  // `target` is the whole request target.
  HeadLines(MHD_Connection* handle, const char* method, std::string_view target, const char* version);

  // In the order in which they were sent.
  Headers& headers() { return headers_; }
  // Throws Error(bad_request) unless the head was the method, the target and the version with one space
  // between them, then one line per header, and an empty line, each ended by CR LF.
  void check() const;

 private:
  static MHD_Result add_header(void* self, MHD_ValueKind kind, const char* name, const char* value);
  void add_line(const char* start, const char* end);

  Headers headers_;
  const char* next_;  // where the next line must start
  bool is_seamless_;
};

}  // namespace sk::http
