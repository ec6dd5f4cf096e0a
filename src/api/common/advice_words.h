// Wording of an error's Advice in the API's dialects: one table per audience. A client of REST sends
// requests to our routes; a model calls tools; a client of another vendor's API knows that API and nothing of
// ours; a person looks at the page. Pure functions; any thread.
#pragma once

#include <string>

#include "base/error.h"

namespace sk::api {

enum class Audience { rest, tools, vendor, page };

// The error's hint for this audience; empty where there is nothing that it could do.
std::string hint_for(Audience audience, const Error& error);

}  // namespace sk::api
