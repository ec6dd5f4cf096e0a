// Finishes replies (request id, CORS, compression) and converts them to libmicrohttpd responses. Internal to
// this room.
#pragma once

#include <microhttpd.h>

#include <memory>
#include <string>

#include "http/message.h"
#include "http/server.h"

namespace sk::http {

class Exchange;

// Adds X-Request-Id, the headers of rate limits and the CORS headers. Compresses the reply if that is useful
// and the client accepts it. Any thread.
void finish_reply(const ServerOptions& options, const Request& request, Reply& reply);

// Creates the reply to an OPTIONS request that no route serves: Allow, and the CORS headers for a preflight.
Reply options_reply(const ServerOptions& options, const Request& request,
                    const std::vector<std::string>& allowed);

struct ResponseDeleter {
  void operator()(MHD_Response* response) const { MHD_destroy_response(response); }
};
using ResponsePtr = std::unique_ptr<MHD_Response, ResponseDeleter>;

// Converts the reply and consumes its body. Bodies sent in pieces keep a reference to `exchange`. Loop
// thread.
ResponsePtr make_response(Reply& reply, const std::shared_ptr<Exchange>& exchange);

// Serializes status line, headers and body, with "Connection: close", for replies that cannot go through
// libmicrohttpd. Supports only string bodies.
std::string serialize_closing(const Reply& reply);

}  // namespace sk::http
