// Generates the OpenAPI 3.1 document from the descriptions of the operations. Pure functions; any thread.
#pragma once

#include "api/common/routes.h"

namespace sk::api::rest {

// Describes every operation that is not hidden. `base_url` is the URL at which the client reached this
// server.
Json openapi_document(const Operations& operations, const std::string& version, const std::string& base_url);

// Returns the schemas of answers, by the names that operations use. Objects are closed: no additional fields.
Json answer_schemas();
// Returns a reference to one of them.
Json schema_ref(const std::string& name);

}  // namespace sk::api::rest
