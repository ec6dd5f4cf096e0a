#include "http/gzip.h"

#include <zlib.h>

#include "base/text.h"

namespace sk::http {

namespace {
constexpr size_t kGzipBytesMin = 1024;
}

bool accepts_gzip(std::string_view accept_encoding) {
  bool any = false;
  for (auto part : split(accept_encoding, ',')) {
    auto semicolon = part.find(';');
    auto name = ascii_lower(trim(part.substr(0, semicolon)));
    if (name != "gzip" && name != "x-gzip" && name != "*") continue;
    bool refused = false;
    if (semicolon != std::string_view::npos) {
      auto weight = ascii_lower(trim(part.substr(semicolon + 1)));
      // "q=0", "q=0.0", "q=0.000"
      refused = weight.starts_with("q=0") && weight.find_first_not_of("0.", 2) == std::string::npos;
    }
    if (name != "*") return !refused;
    any = !refused;
  }
  return any;
}

bool worth_gzip(const Reply& reply) {
  auto* text = std::get_if<std::string>(&reply.body);
  if (!text || text->size() < kGzipBytesMin || reply.status == 206) return false;
  // A validator or support for ranges marks a stored file, which must be sent unchanged.
  for (auto name : {"Content-Encoding", "Content-Range", "Accept-Ranges", "ETag", "Content-Disposition"})
    if (reply.headers.has(name)) return false;
  auto type = ascii_lower(reply.headers.get("Content-Type").value_or(""));
  return type.starts_with("text/") || type.starts_with("application/json") ||
         type.find("+json") != std::string::npos || type.find("xml") != std::string::npos ||
         type.starts_with("application/javascript");
}

std::string gzip(std::string_view data) {
  z_stream stream{};
  constexpr int kGzipWindow = 15 + 16;  // selects a gzip header instead of zlib's
  int status = ::deflateInit2(&stream, 4, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY);
  SK_CHECK(status == Z_OK, "deflateInit2");
  std::string out(::deflateBound(&stream, data.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  status = ::deflate(&stream, Z_FINISH);
  SK_CHECK(status == Z_STREAM_END, "deflate");
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  return out;
}

}  // namespace sk::http
