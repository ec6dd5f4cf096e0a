// Requests that code in a session makes through `import sandkeep`: keep, link, versions, fetch. They have the
// session's own rights in its own folder; fetch reads the rest of the workspace.
#pragma once

#include <functional>
#include <string>
#include <variant>

#include "interpreter/copy/copy_keeper.h"
#include "sandbox/kernel.h"

namespace sk::interpreter {

// The requesting session. Its copy is open.
struct RequestContext {
  workspace::Keep& keep;
  CopyKeeper& keeper;
  std::string folder;  // the session's folder in the workspace
  workspace::Authority authority;
  std::string base_url;  // of links; empty: links are paths
  // Keeps everything touched so far, so that an answer matches the files that code sees.
  std::function<Settled()> capture;
};

// The reason for an exception in code: the name of an error, or the reason why a file could not be kept.
struct RequestRefused {
  std::string code, message;
};
using RequestAnswer = std::variant<Json, RequestRefused>;

// Call on the keeper's thread. The request comes from the sandbox and is untrusted.
RequestAnswer answer_request(const RequestContext& context, const sandbox::KernelRequest& request);

}  // namespace sk::interpreter
