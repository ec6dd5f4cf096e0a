#include "http/request_head.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include "base/text.h"
#include "http/forwarded.h"

namespace sk::http {

namespace {

std::string decode_query(std::string_view text) {
  std::string spaced(text);
  for (char& c : spaced)
    if (c == '+') c = ' ';
  auto decoded = percent_decode(spaced);
  if (!decoded) throw Error(Code::bad_request, "The query has a malformed percent escape.");
  if (decoded->find('\0') != std::string::npos)
    throw Error(Code::bad_request, "The query contains a NUL byte (%00).");
  return std::move(*decoded);
}

// A proxy may have used another one than this server would.
void need_one_at_most(const Headers& headers, const std::string& name) {
  if (headers.count(name) > 1)
    throw Error(Code::bad_request, "The request has several " + name + " headers.");
}

// Removes the authority from an absolute target such as "http://host/path", which proxies send. Host has the
// same value.
std::string_view without_authority(std::string_view target) {
  for (std::string_view scheme : {"http://", "https://"}) {
    if (ascii_lower(target.substr(0, scheme.size())) != scheme) continue;
    auto rest = target.substr(scheme.size());
    auto slash = rest.find_first_of("/?");
    if (slash == std::string_view::npos) return "/";
    return rest.substr(slash);
  }
  return target;
}

uint64_t content_length(const Headers& headers) {
  auto text = headers.get("Content-Length");
  if (!text) return 0;
  auto length = parse_unsigned(trim(*text));
  if (!length) throw Error(Code::bad_request, "Content-Length is not a number.");
  return *length;
}

}  // namespace

void check_headers(const Headers& headers) {
  need_one_at_most(headers, "Authorization");
  need_one_at_most(headers, "Content-Type");
  for (const auto& [name, value] : headers.all()) {
    bool has_control = std::any_of(value.begin(), value.end(), [](char c) {
      return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
    });
    if (has_control) throw Error(Code::bad_request, "A header's value contains a control character.");
    bool token = !name.empty();
    for (char c : name)
      token = token && static_cast<unsigned char>(c) > 0x20 && static_cast<unsigned char>(c) < 0x7f;
    if (!token)
      throw Error(Code::bad_request, "A header's name contains a space or another invalid character.");
  }
}

void parse_target(Request& request) {
  for (char c : request.target)
    if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7f)
      throw Error(Code::bad_request,
                  "The request target contains a space or a control character: write it as %20.");
  auto target = without_authority(request.target);
  auto question = target.find('?');
  request.path = target.substr(0, question);
  if (request.path.empty() && question == 0) request.path = "/";
  bool asterisk = request.path == "*" && request.method == "OPTIONS";
  if (!asterisk && !request.path.starts_with('/'))
    throw Error(Code::bad_request, "The request target is not a path.");
  if (question == std::string_view::npos) return;
  for (auto part : split(target.substr(question + 1), '&')) {
    if (part.empty()) continue;
    auto equals = part.find('=');
    auto value = equals == std::string_view::npos ? std::string_view() : part.substr(equals + 1);
    request.query.emplace_back(decode_query(part.substr(0, equals)), decode_query(value));
  }
}

Framing parse_framing(const Headers& headers, std::string_view version) {
  Framing framing;
  bool http_1_1 = version != "HTTP/1.0";
  need_one_at_most(headers, "Host");
  need_one_at_most(headers, "Content-Length");
  auto host = headers.get("Host");
  if (!host && http_1_1) throw Error(Code::bad_request, "The request has no Host header.");
  if (host && !host->empty() && !is_host(*host))
    throw Error(Code::bad_request, "The Host header is not a host name.");
  if (auto coding = headers.get_list("Transfer-Encoding")) {
    if (ascii_lower(trim(*coding)) != "chunked")
      throw Error(Code::not_implemented, "The only supported transfer coding is 'chunked'.");
    if (headers.has("Content-Length"))
      throw Error(Code::bad_request, "The request has both Transfer-Encoding and Content-Length.");
    if (!http_1_1) throw Error(Code::bad_request, "Transfer-Encoding needs HTTP/1.1.");
    framing.chunked = true;
  } else {
    framing.length = content_length(headers);
  }
  framing.expects_continue = ascii_lower(headers.get("Expect").value_or("")) == "100-continue" && http_1_1;
  return framing;
}

std::optional<std::string> harmless_request_id(const Headers& headers) {
  auto id = headers.get("X-Request-Id");
  if (!id || id->empty() || id->size() > 64) return std::nullopt;
  for (char c : *id) {
    bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                c == '_' || c == '.';
    if (!fine) return std::nullopt;
  }
  return id;
}

Id turn_of(const Request& request) {
  std::string text = request.remote_address;
  for (const char* name : {"Authorization", "X-Api-Key", "Api-Key", "X-Ms-Apikey", "Cookie"})
    if (auto value = request.headers.get(name)) {
      text = std::move(*value);
      break;
    }
  size_t hash = std::hash<std::string>()(text);
  Id turn;
  std::memcpy(turn.bytes.data() + 8, &hash, sizeof hash);
  return turn;
}

}  // namespace sk::http
