// Any text in the headers that we read: conditions, dates, dispositions, forwarded addresses, framing. Only
// Error may be thrown.
#include <cstdint>
#include <cstdlib>

#include "base/text.h"
#include "http/conditional.h"
#include "http/content_disposition.h"
#include "http/forwarded.h"
#include "http/gzip.h"
#include "http/request_head.h"

namespace {

using namespace sk::http;

template <class Step>
void tolerate(Step step) {
  try {
    step();
  } catch (const sk::Error&) {
  }
}

void disposition_survives(const std::string& name) {
  auto header = content_disposition(Disposition::download, name);
  if (header.find_first_of("\r\n") != std::string::npos) std::abort();
  auto parsed = parse_content_disposition(header);
  if (!parsed || parsed->type != "attachment") std::abort();
  if (sk::is_utf8(name) && !name.empty() && parsed->params.at("filename") != name) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  static const TrustedProxies proxies({"10.0.0.0/8", "2001:db8::/32"});
  Request request;
  request.method = size % 2 ? "GET" : "PUT";
  request.target = text;
  auto lines = sk::split(text, '\n');
  constexpr std::string_view kNames[] = {"If-Match",         "If-None-Match",  "If-Modified-Since",
                                         "If-Range",         "Host",           "X-Forwarded-For",
                                         "X-Forwarded-Host", "Content-Length", "Transfer-Encoding",
                                         "Expect",           "X-Request-Id",   "Accept-Encoding"};
  for (size_t i = 0; i < lines.size() && i < 64; ++i)
    request.headers.add(std::string(kNames[i % std::size(kNames)]), std::string(lines[i]));
  Validators validators{"v1", 784111777 * sk::kSecondUs};
  tolerate([&] { evaluate_conditions(request, validators); });
  tolerate([&] { if_range_holds(request.headers, validators); });
  tolerate([&] { parse_framing(request.headers, "HTTP/1.1"); });
  tolerate([&] { check_headers(request.headers); });
  tolerate([&] { parse_target(request); });
  if (auto date = parse_http_date(text); date && parse_http_date(to_http_date(*date)) != date) std::abort();
  auto forwarded = resolve_forwarded(
      proxies, {.peer_address = "10.1.1.1", .public_url = "", .scheme = "http"}, request.headers);
  if (forwarded.base_url.find_first_of("\r\n \"<>") != std::string::npos) std::abort();
  harmless_request_id(request.headers);
  accepts_gzip(text);
  parse_content_disposition(text);
  disposition_survives(text);
  return 0;
}
