#include "http/mhd/head_lines.h"

#include <cstring>

#include "base/error.h"

namespace sk::http {

namespace {

// libmicrohttpd 0.9.75 reads a head in place: it overwrites the byte after each part, and both bytes of CR
// LF, with zeros, and its pointers show where each part stands. The parts must therefore follow each other
// without a gap. A line that ends in LF has one zero; a folded line or a NUL leaves bytes between two parts.
// Versions from 0.9.77 on check this themselves.
constexpr bool kReadsInPlace = MHD_VERSION < 0x00097701;
constexpr size_t kLineEndBytes = 2;  // CR LF

}  // namespace

HeadLines::HeadLines(MHD_Connection* handle, const char* method, std::string_view target, const char* version)
    : next_(method), is_seamless_(method + std::strlen(method) + 1 + target.size() + 1 == version) {
  add_line(method, version + std::strlen(version));
  MHD_get_connection_values(handle, MHD_HEADER_KIND, &add_header, this);
  auto* info = MHD_get_connection_info(handle, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  is_seamless_ = is_seamless_ && info && next_ + kLineEndBytes == method + info->header_size;
}

MHD_Result HeadLines::add_header(void* self, MHD_ValueKind, const char* name, const char* value) {
  auto& lines = *static_cast<HeadLines*>(self);
  lines.headers_.add(name, value ? value : "");
  lines.add_line(name, value ? value + std::strlen(value) : name + std::strlen(name));
  return MHD_YES;
}

void HeadLines::add_line(const char* start, const char* end) {
  is_seamless_ = is_seamless_ && start == next_;
  next_ = end + kLineEndBytes;
}

void HeadLines::check() const {
  if (kReadsInPlace && !is_seamless_)
    throw Error(Code::bad_request,
                "The head of the request is malformed: each line ends with CR LF and is not continued on the "
                "next one, a header has a name, and there are no NUL bytes.");
}

}  // namespace sk::http
