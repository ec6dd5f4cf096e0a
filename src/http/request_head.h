// From what arrived on the wire to a Request: the target split and decoded, the headers checked for what
// smuggles or breaks. Pure functions.
#pragma once

#include "http/message.h"

namespace sk::http {

// How a request's body is delimited.
struct Framing {
  bool chunked = false;
  uint64_t length = 0;  // when not chunked
  bool expects_continue = false;

  bool has_body() const { return chunked || length > 0; }
};

// Throws Error(bad_request) when a name is not a token ("Content-Length :" is read differently by different
// parsers).
void check_header_names(const Headers& headers);

// Sets path and query from request.target. Throws Error(bad_request) on a target that is no path or has
// spaces, and on malformed escapes.
void parse_target(Request& request);

// Throws Error(bad_request) for headers by which two parsers could disagree where a request ends,
// Error(not_implemented) for a transfer coding other than chunked, Error(bad_request) for a missing or
// impossible Host.
Framing parse_framing(const Headers& headers, std::string_view version);

// The client's own X-Request-Id when it can stand in a log line and a header; nullopt otherwise.
std::optional<std::string> harmless_request_id(const Headers& headers);

}  // namespace sk::http
