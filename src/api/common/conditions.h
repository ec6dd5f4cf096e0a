// The conditions that a write carries, from headers or from JSON.
#pragma once

#include "api/common/fields.h"
#include "http/message.h"
#include "workspace/types.h"

namespace sk::api {

// If-Match, If-None-Match, If-Unmodified-Since, X-Sandkeep-Lock, X-Sandkeep-Fence. Error(bad_request) for
// what cannot be read.
workspace::Conditions conditions_from_headers(const http::Headers& headers);

// Only what opens locks: X-Sandkeep-Lock and X-Sandkeep-Fence, for changes of many files at once.
workspace::Conditions lock_tokens_from_headers(const http::Headers& headers);
// The same, with what the JSON fields of lock_fields() say put over them.
workspace::Conditions lock_tokens_from_body(const http::Headers& headers, const Body& body);

// Error(bad_request) for a condition in the headers of a write that takes none: one that is dropped would let
// a write through that its writer wanted to be refused. Lock tokens may come with every request.
void refuse_conditions(const Operation& operation, const http::Headers& headers);

// Those of the headers, with what the JSON fields of condition_fields() say put over them.
workspace::Conditions conditions_from_body(const http::Headers& headers, const Body& body);
// What holds for a whole batch, with what the fields of one of its changes say put over it.
workspace::Conditions conditions_from_fields(workspace::Conditions conditions, const Body& body);

}  // namespace sk::api
