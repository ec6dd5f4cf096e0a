// From the call of a command to the server that it means.
#pragma once

#include "cli/client/remote.h"
#include "cli/frame/command.h"

namespace sk::cli {

// The server that flags, environment and saved login name.
Target target_of(const Invocation& call);
Remote connect(const Invocation& call);

// For a write to the workspace of `where`: from --lock, $SANDKEEP_LOCK, --if-match, --if-new and --fence,
// where the command has them. The token of a 'lock run' goes to the workspace of its lock only.
WriteConditions write_conditions(const Invocation& call, Remote& remote, const RemotePath& where);

}  // namespace sk::cli
