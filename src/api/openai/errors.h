// Errors in OpenAI's envelope: {"error": {message, type, param, code}}.
#pragma once

#include "base/error.h"
#include "http/message.h"

namespace sk::api::openai {

// Uses statuses that OpenAI's clients handle. They retry 408, 409, 429 and 5xx, so errors that a retry cannot
// fix have `x-should-retry: false`.
http::Reply error_reply(const http::Request& request, const Error& error);

}  // namespace sk::api::openai
