#include "api/librechat/errors.h"

#include "api/vendor/error_words.h"
#include "http/server.h"

namespace sk::api::librechat {

http::Reply error_reply(const http::Request& request, const Error& domain_error) {
  Error error = with_mounted_paths(request, domain_error);
  http::Reply reply = http::error_to_reply(request, error);
  Json body = {{"error", error.message()},
               {"details", vendor_hint(request, error)},
               {"code", info(error.code()).name},
               {"request_id", request.request_id}};
  for (const auto& [name, value] : error.facts())
    std::visit([&, &key = name](const auto& v) { body[key] = v; }, value);
  if (error.code() == Code::too_many_requests) {
    body["error"] = "rate_limited";
    body["message"] = error.message();
    body[Error::kRetryAfter] = error.retry_after_s().value();
  }
  reply.body = to_text(body);
  return reply;
}

}  // namespace sk::api::librechat
