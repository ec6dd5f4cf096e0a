#include "api/azure/errors.h"

#include "api/vendor/error_words.h"
#include "http/server.h"

namespace sk::api::azure {

namespace {

std::string_view azure_code(Code code) {
  switch (code) {
    case Code::bad_request:
      return "BadRequest";
    case Code::unauthorized:
      return "Unauthorized";
    case Code::forbidden:
      return "Forbidden";
    case Code::not_found:
      return "NotFound";
    case Code::method_not_allowed:
      return "MethodNotAllowed";
    case Code::request_timeout:
      return "RequestTimeout";
    case Code::conflict:
      return "Conflict";
    case Code::gone:
      return "Gone";
    case Code::precondition_failed:
      return "PreconditionFailed";
    case Code::too_large:
      return "RequestEntityTooLarge";
    case Code::unsupported_media_type:
      return "UnsupportedMediaType";
    case Code::range_not_satisfiable:
      return "RequestedRangeNotSatisfiable";
    case Code::locked:
      return "Locked";
    case Code::too_many_requests:
      return "TooManyRequests";
    case Code::headers_too_large:
      return "RequestHeaderFieldsTooLarge";
    case Code::not_implemented:
      return "NotImplemented";
    case Code::unavailable:
      return "ServiceUnavailable";
    case Code::quota_exceeded:
    case Code::disk_full:
      return "InsufficientStorage";
    case Code::internal:
    case Code::corrupt:
      break;
  }
  return "InternalServerError";
}

}  // namespace

http::Reply error_reply(const http::Request& request, const Error& domain_error) {
  Error error = with_mounted_paths(request, domain_error);
  // Status and headers are the same in every dialect.
  http::Reply reply = http::error_to_reply(request, error);
  auto code = std::string(azure_code(error.code()));
  Json body = {{"code", code}, {"message", error.message()}};
  Json inner = {{"code", info(error.code()).name}};
  if (auto hint = vendor_hint(request, error); !hint.empty()) inner["hint"] = hint;
  inner["requestId"] = request.request_id;
  for (const auto& [name, value] : error.facts()) {
    if (name == "field" && std::holds_alternative<std::string>(value))
      body["target"] = std::get<std::string>(value);
    std::visit([&, &key = name](const auto& v) { inner[key] = v; }, value);
  }
  body["innererror"] = inner;
  reply.body = to_text(Json{{"error", body}});
  reply.headers.set("x-ms-error-code", code);
  return reply;
}

}  // namespace sk::api::azure
