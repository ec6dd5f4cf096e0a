// Detects requests that clients repeat because they did not receive the answer. Pure functions; any thread.
#pragma once

#include "http/message.h"
#include "interpreter/types.h"

namespace sk::api {

// Marks a reply that is about the execution of an earlier request.
inline constexpr std::string_view kReplayedHeader = "Idempotent-Replayed";

// Reads Idempotency-Key into `wanted`. Error(bad_request) when it is empty.
void read_idempotency_key(const http::Headers& headers, interpreter::NewExecution& wanted);

// As above; also reads x-stainless-retry-count, which OpenAI's clients set on automatic retries.
void read_openai_repeat(const http::Headers& headers, interpreter::NewExecution& wanted);

}  // namespace sk::api
