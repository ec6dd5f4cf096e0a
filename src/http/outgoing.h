// A Reply on its way out: what every reply gets (request id, CORS, compression), and its form for
// libmicrohttpd. Internal to this room.
#pragma once

#include <microhttpd.h>

#include <memory>
#include <string>

#include "http/message.h"
#include "http/server.h"

namespace sk::http {

class Exchange;

// Any thread. Adds X-Request-Id and the CORS headers, and compresses what is worth it and what the client
// accepts.
void finish_reply(const ServerOptions& options, const Request& request, Reply& reply);

// The answer to an OPTIONS request that no route serves: Allow, and for a CORS preflight what the browser
// asks.
Reply options_reply(const ServerOptions& options, const Request& request,
                    const std::vector<std::string>& allowed);

struct ResponseDeleter {
  void operator()(MHD_Response* response) const { MHD_destroy_response(response); }
};
using ResponsePtr = std::unique_ptr<MHD_Response, ResponseDeleter>;

// Loop thread. Consumes the body. `exchange` is kept by bodies that come piece by piece.
ResponsePtr make_response(Reply& reply, const std::shared_ptr<Exchange>& exchange);

// Status line, headers and body as bytes, with "Connection: close"; for replies that cannot go through
// libmicrohttpd. Only for string bodies.
std::string serialize_closing(const Reply& reply);

}  // namespace sk::http
