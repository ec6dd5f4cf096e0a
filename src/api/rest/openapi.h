// The OpenAPI 3.1 document, written from the operations' descriptions.
#pragma once

#include "api/common/routes.h"

namespace sk::api::rest {

// Every operation that is not hidden. `base_url` is where this server was asked.
Json openapi_document(const Operations& operations, const std::string& version, const std::string& base_url);

// The shapes of answers, by the names that operations use; closed: an object has no other fields.
Json answer_schemas();
// A reference to one of them.
Json schema_ref(const std::string& name);

}  // namespace sk::api::rest
