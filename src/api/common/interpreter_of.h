// The way from a request to the interpreter.
#pragma once

#include "api/common/call.h"
#include "interpreter/interpreter.h"

namespace sk::api {

// Error(unavailable) that says why, where no code runs.
interpreter::Interpreter& interpreter_of(const Call& call);

}  // namespace sk::api
