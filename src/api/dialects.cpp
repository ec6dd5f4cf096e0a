#include "api/dialects.h"

#include <string_view>

#include "api/azure/errors.h"
#include "api/librechat/errors.h"
#include "api/mcp/mcp.h"
#include "api/openai/errors.h"
#include "api/rest/errors.h"

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

// Returns the fact `retry_after_seconds`, or a second: by then, most queues have moved on.
std::string retry_after(const Error& error) {
  for (const auto& [name, value] : error.facts())
    if (auto* seconds = std::get_if<int64_t>(&value); seconds && name == "retry_after_seconds")
      return std::to_string(*seconds);
  return "1";
}

}  // namespace

http::Reply dialect_error_reply(const http::Request& request, const Error& error) {
  auto reply = writer_of(request.path)(request, error);
  if (error.code() != Code::too_many_requests) return reply;
  if (!reply.headers.has("Retry-After")) reply.headers.set("Retry-After", retry_after(error));
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
  constexpr std::string_view kBefore = "/librechat/";
  if (!path.starts_with(kBefore) || path.starts_with("/librechat/v1/")) return std::string(path);
  auto end = path.find('/', kBefore.size());
  std::string out(kBefore);
  out += "{key}";
  if (end != std::string_view::npos) out += path.substr(end);
  return out;
}

}  // namespace sk::api
