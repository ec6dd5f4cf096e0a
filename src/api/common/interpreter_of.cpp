#include "api/common/interpreter_of.h"

namespace sk::api {

interpreter::Interpreter& interpreter_of(const Call& call) {
  if (call.app.interpreter == nullptr)
    throw Error(Code::unavailable, call.app.why_no_sessions)
        .hint("The message says what is missing on the server; ask its operator.");
  return *call.app.interpreter;
}

}  // namespace sk::api
