// Preconditions of a write, read from headers or from JSON. Pure functions; any thread.
#pragma once

#include "api/common/fields.h"
#include "http/message.h"
#include "workspace/types.h"

namespace sk::api {

// Reads If-Match, If-None-Match, If-Unmodified-Since, X-Sandkeep-Lock and X-Sandkeep-Fence.
// Error(bad_request) for a malformed value.
workspace::Conditions conditions_from_headers(const http::Headers& headers);

// Reads only X-Sandkeep-Lock and X-Sandkeep-Fence, for changes to many files at once.
workspace::Conditions lock_tokens_from_headers(const http::Headers& headers);
// As above; the JSON fields of lock_fields() override the headers.
workspace::Conditions lock_tokens_from_body(const http::Headers& headers, const Body& body);

// Error(bad_request) for a precondition in the headers of a write that supports none. Ignoring it would let
// through a write that the client wanted to be refused. Lock tokens are allowed on every request.
void refuse_conditions(const Operation& operation, const http::Headers& headers);

// Reads the headers; the JSON fields of condition_fields() override them.
workspace::Conditions conditions_from_body(const http::Headers& headers, const Body& body);
// Starts from the conditions of a whole batch; the fields of one of its changes override them.
workspace::Conditions conditions_from_fields(workspace::Conditions conditions, const Body& body);

}  // namespace sk::api
