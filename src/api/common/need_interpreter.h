// Access to sessions: the interpreter for requests that run code, and the session directory for requests that
// do not.
#pragma once

#include "api/app.h"
#include "api/common/fields.h"
#include "interpreter/sessions/session_directory.h"

namespace sk::api {

// Returns the interpreter. Error(unavailable) with the reason when code execution is disabled. Handlers that
// cannot work without it call this before they examine the request.
interpreter::Interpreter& need_interpreter(const App& app);

// The `force` query parameter of a deletion: whether to discard content that could not be kept.
Fields force_field();
interpreter::Interpreter::OnUnkept unkept_by(const Query& query);

// Also works when code execution is disabled: kept files can always be read and listed.
interpreter::SessionDirectory session_directory(const App& app);

// The caller's authority over one of its sessions; see SessionDirectory::authority_over().
workspace::Authority session_authority(const App& app, const workspace::Actor& actor, const Id& session);

}  // namespace sk::api
