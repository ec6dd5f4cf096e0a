#include "api/dialects.h"

#include <string_view>
#include <vector>

#include "api/azure/errors.h"
#include "api/librechat/errors.h"
#include "api/mcp/mcp.h"
#include "api/openai/errors.h"
#include "api/rest/errors.h"
#include "base/log.h"
#include "base/redaction.h"
#include "base/text.h"
#include "http/server.h"

namespace sk::api {

namespace {

using ErrorWriter = http::Reply (*)(const http::Request&, const Error&);

// The first matching prefix decides. A path without a match belongs to Sandkeep's own dialect.
struct Dialect {
  std::string_view prefix;
  ErrorWriter write_error;
};
constexpr Dialect kDialects[] = {
    {"/api/v1/", rest::error_reply},   {"/v1/", openai::error_reply},
    {"/openai/", openai::error_reply}, {"/api/projects/", openai::error_reply},
    {"/mcp", mcp::write_error},        {"/azure/mcp", mcp::write_error},
    {"/azure/", azure::error_reply},   {"/librechat/", librechat::error_reply},
};

// Also matches "/v1" itself, the base of everything below "/v1/".
bool is_below(std::string_view path, std::string_view prefix) {
  return path.starts_with(prefix) || (prefix.ends_with('/') && path == prefix.substr(0, prefix.size() - 1));
}

ErrorWriter writer_of(std::string_view path) {
  for (const auto& dialect : kDialects)
    if (is_below(path, dialect.prefix)) return dialect.write_error;
  return rest::error_reply;
}

struct PathPart {
  size_t at;
  std::string_view text;
};

// Splits at slashes of both kinds, and leaves out empty parts and dots.
std::vector<PathPart> parts_of(std::string_view path) {
  std::vector<PathPart> parts;
  for (size_t at = 0; at < path.size();) {
    size_t end = std::min(path.find_first_of("/\\", at), path.size());
    auto text = path.substr(at, end - at);
    if (!text.empty() && text != "." && text != "..") parts.push_back({at, text});
    at = end + 1;
  }
  return parts;
}

}  // namespace

http::Reply dialect_error_reply(const http::Request& request, const Error& error) {
  auto reply = writer_of(request.path)(request, error);
  http::set_retry_after(error, reply.headers);
  if (error.code() != Code::too_many_requests) return reply;
  // The client has to wait, and holds no connection meanwhile that others need.
  reply.headers.set("Connection", "close");
  return reply;
}

http::Request without_content(const http::Request& request) {
  http::Request out;
  out.request_id = request.request_id;
  out.method = request.method;
  out.path = request.path;
  out.route = request.route;
  out.mounted_folder = request.mounted_folder;
  return out;
}

std::string loggable_path(std::string_view path) {
  auto decoded = decode_fully(path);
  auto parts = parts_of(decoded.text);
  std::string out;
  size_t done = 0;
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    if (ascii_lower(parts[i].text) != "librechat") continue;
    // The key is everything up to "v1", because one that an operator chose may contain slashes.
    size_t end = i + 1;
    while (end < parts.size() && parts[end].text != "v1") ++end;
    // Without "v1" and elsewhere in a path, it may be the name of a folder.
    bool holds_key = end > i + 1 && (i == 0 || end < parts.size());
    if (!holds_key) continue;
    const auto &first = parts[i + 1], &last = parts[end - 1];
    out += path.substr(done, decoded.begins[first.at] - done);
    out += "{key}";
    done = decoded.begins[last.at + last.text.size()];
    i = end - 1;
  }
  return log::loggable(out.append(path.substr(done)));
}

}  // namespace sk::api
