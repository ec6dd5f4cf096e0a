// Assembles a response from the events that streamed it: the raw text of `text/event-stream`, complete or
// truncated. Pure functions; any thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/json.h"

namespace sk::conversations {

// Calls `on_event` with each event's name (may be empty) and data. Accepts all line endings and skips
// comments. A last event without its empty line counts.
void read_server_sent_events(
    std::string_view text,
    const std::function<void(std::string_view name, const std::string& data)>& on_event);

// Applies all events and returns the response: the final one in the stream, completed with streamed data that
// it lacks. Error(bad_request) if no event belongs to a response.
Json assemble_response(std::string_view text);

}  // namespace sk::conversations
