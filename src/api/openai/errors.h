// Errors in OpenAI's envelope: {"error": {message, type, param, code}}.
#pragma once

#include "base/error.h"
#include "http/message.h"

namespace sk::api::openai {

// Statuses are those that its clients know what to do with: they retry 408, 409, 429 and 5xx, so what another
// try cannot mend says `x-should-retry: false`.
http::Reply error_reply(const http::Request& request, const Error& error);

}  // namespace sk::api::openai
