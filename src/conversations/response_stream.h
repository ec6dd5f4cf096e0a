// Assembles a response from the events that streamed it: the raw text of `text/event-stream`, complete or
// truncated. Pure functions; any thread.
#pragma once

#include <string_view>

#include "base/json.h"

namespace sk::conversations {

// Applies all events and returns the response: the final one in the stream, completed with streamed data that
// it lacks. Error(bad_request) if no event belongs to a response.
Json assemble_response(std::string_view text);

}  // namespace sk::conversations
