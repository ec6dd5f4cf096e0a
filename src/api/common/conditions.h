// The conditions that a write carries, from headers or from JSON.
#pragma once

#include "api/common/fields.h"
#include "http/message.h"
#include "workspace/types.h"

namespace sk::api {

// If-Match, If-None-Match, X-Sandkeep-Lock, X-Sandkeep-Fence. Error(bad_request) for what cannot be read.
workspace::Conditions conditions_from_headers(const http::Headers& headers);

// Only what opens locks: X-Sandkeep-Lock and X-Sandkeep-Fence, for changes of many files at once.
workspace::Conditions lock_tokens_from_headers(const http::Headers& headers);

// Those of the headers, with what the JSON fields of condition_fields() say put over them.
workspace::Conditions conditions_from_body(const http::Headers& headers, const Body& body);
// Of the JSON fields alone, as for one change of a batch.
workspace::Conditions conditions_from_fields(const Body& body);

}  // namespace sk::api
