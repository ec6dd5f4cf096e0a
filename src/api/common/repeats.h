// How clients say that they send a request again because they did not hear its answer.
#pragma once

#include "http/message.h"
#include "interpreter/types.h"

namespace sk::api {

// Says in an answer that it is about the execution of an earlier request.
inline constexpr std::string_view kReplayedHeader = "Idempotent-Replayed";

// Reads Idempotency-Key. Error(bad_request) when it is empty.
void read_idempotency_key(const http::Headers& headers, interpreter::NewExecution& wanted);

// The same, and x-stainless-retry-count, by which OpenAI's clients mark what they repeat of their own accord.
void read_openai_repeat(const http::Headers& headers, interpreter::NewExecution& wanted);

}  // namespace sk::api
