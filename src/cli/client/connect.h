// Finds the server for a command and connects to it.
#pragma once

#include "cli/client/remote.h"
#include "cli/frame/command.h"

namespace sk::cli {

// Returns the server given by flags, environment and saved login.
Target target_of(const Invocation& call);
Remote connect(const Invocation& call);

// Returns the conditions for a write to the workspace of `where`, from those of --lock, $SANDKEEP_LOCK,
// --if-match, --if-new and --fence that the command has. The token of a 'lock run' is sent to the workspace
// of its lock only.
WriteConditions write_conditions(const Invocation& call, Remote& remote, const RemotePath& where);

}  // namespace sk::cli
