// Converts the request head to a Request: splits and decodes the target, and rejects malformed or smuggling
// headers. Pure functions.
#pragma once

#include "base/id.h"
#include "http/message.h"

namespace sk::http {

// How a request's body is delimited.
struct Framing {
  bool chunked = false;
  uint64_t length = 0;  // if not chunked
  bool expects_continue = false;

  bool has_body() const { return chunked || length > 0; }
};

// Throws Error(bad_request) when a name is not a token, a value contains a control character, or there are
// several Authorization or Content-Type headers. Parsers disagree about these.
void check_headers(const Headers& headers);

// Sets path and query from request.target. Throws Error(bad_request) for a target that is not a path or
// contains spaces, and for malformed escapes.
void parse_target(Request& request);

// Determines how the body is delimited. Throws Error(bad_request) for headers that let two parsers disagree
// about where a request ends, and for a missing or invalid Host. Throws Error(not_implemented) for a transfer
// coding other than chunked.
Framing parse_framing(const Headers& headers, std::string_view version);

// Returns the client's X-Request-Id if it is safe to use in logs and headers, otherwise nullopt.
std::optional<std::string> harmless_request_id(const Headers& headers);

// Whose turn a request takes on the workers: that of its credential, before anybody has checked it, or of its
// address. Only the first header counts, since the request has the rights of that one: other headers that
// change with each request give no further turns. A wrong credential costs little.
Id turn_of(const Request& request);

}  // namespace sk::http
