#include "api/rest/errors.h"

#include "api/common/advice_words.h"
#include "http/server.h"

namespace sk::api::rest {

http::Reply error_reply(const http::Request& request, const Error& error) {
  // Status and headers are those of every dialect.
  http::Reply reply = http::error_to_reply(request, error);
  Json body = {{"code", info(error.code()).name},
               {"message", error.message()},
               {"hint", hint_for(Audience::rest, error)},
               {"request_id", request.request_id}};
  if (auto advice = error.advice()) body["advice"] = info(*advice).name;
  for (const auto& [name, value] : error.facts())
    std::visit([&, &key = name](const auto& v) { body[key] = v; }, value);
  reply.body = to_text(Json{{"error", std::move(body)}});
  return reply;
}

}  // namespace sk::api::rest
