// The second half of a workspace's purge: deletes everything that is kept of it. Workspaces::begin_purge() is
// the first half; between the two, the interpreter ends the sessions.
#pragma once

#include <functional>
#include <vector>

#include "workspace/files.h"
#include "workspace/keep_context.h"

namespace sk::workspace {

struct BegunPurge {
  Id workspace, owner;
};

// Purges that have begun and not ended, such as those that a kill interrupted.
std::vector<BegunPurge> begun_workspace_purges(KeepContext& context);

// Deletes a workspace whose purge has begun: files and versions, uploads, locks, what other rooms keep
// (KeepContext::on_workspace_purge), the journal, and at last the workspace itself. Its bytes and its place
// among the owner's workspaces are free then. The ids of its versions stay, so that their links answer 410.
//
// Works in many transactions, between which others write, and can be called again at any time. Its sessions
// must have ended. Asks `go_on` between the transactions; Error(unavailable) if it returns false.
PurgeResult purge_workspace(KeepContext& context, const BegunPurge& begun,
                            const std::function<bool()>& go_on);

}  // namespace sk::workspace
