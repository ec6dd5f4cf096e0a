// Rules for the environment variables of a session.
#pragma once

#include "base/json.h"

namespace sk::interpreter {

// Error(bad_request), with the field, for names that a shell does not accept and values that are not text.
void check_environment(const Json& environment);

}  // namespace sk::interpreter
