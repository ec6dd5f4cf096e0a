// The environment variables that a session may be given.
#pragma once

#include "base/json.h"

namespace sk::interpreter {

// Throws Error(bad_request), with the field, for names that a shell would not take and values that are no
// text.
void check_environment(const Json& environment);

}  // namespace sk::interpreter
