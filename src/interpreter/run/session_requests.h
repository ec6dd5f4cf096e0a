// What code in a session asks for through `import sandkeep`: keep, link, versions, fetch. It acts with the
// session's own rights in its own folder; fetch reads the rest of the workspace.
#pragma once

#include <functional>
#include <string>
#include <variant>

#include "interpreter/copy/copy_keeper.h"
#include "sandbox/kernel.h"

namespace sk::interpreter {

// The session that asks. Its copy is open.
struct RequestContext {
  workspace::Keep& keep;
  CopyKeeper& keeper;
  std::string folder;  // of the session, in the workspace
  workspace::Authority authority;
  // Keeps what was touched until now: an answer must be about the files as code sees them.
  std::function<Settled()> capture;
};

// Why code gets an exception: the name of an error, or the reason for which a file could not be kept.
struct RequestRefused {
  std::string code, message;
};
using RequestAnswer = std::variant<Json, RequestRefused>;

// The thread of the keeper. The request comes from inside and may be anything.
RequestAnswer answer_request(const RequestContext& context, const sandbox::KernelRequest& request);

}  // namespace sk::interpreter
