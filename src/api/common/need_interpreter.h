// The ways from a request to sessions: to the interpreter, where code is to run, and to what is written down
// of them, where it is not.
#pragma once

#include "api/app.h"
#include "api/common/fields.h"
#include "interpreter/sessions/session_directory.h"

namespace sk::api {

// For handlers whose every step needs running code: Error(unavailable) that says why, where none runs,
// before anything of the request is looked at.
interpreter::Interpreter& need_interpreter(const App& app);

// The query of a deletion: whether content that could not be kept goes with its session.
Fields force_field();
interpreter::Interpreter::OnUnkept unkept_by(const Query& query);

// Answers in any case: whose files are kept reads and lists them, whether or not code runs.
interpreter::SessionDirectory session_directory(const App& app);

}  // namespace sk::api
