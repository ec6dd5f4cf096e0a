// A response out of the events that streamed it: the raw text of `text/event-stream`, whole or cut short.
// Pure functions; any thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/json.h"

namespace sk::conversations {

// Calls `on_event` with each event's name (may be empty) and data. Any line ends; comments are passed over; a
// last event without its empty line counts.
void read_server_sent_events(
    std::string_view text,
    const std::function<void(std::string_view name, const std::string& data)>& on_event);

// What the response is once all events were applied: the final one that the stream itself carries, completed
// by what was streamed and is missing there. Error(bad_request) when no event belongs to a response.
Json assemble_response(std::string_view text);

}  // namespace sk::conversations
