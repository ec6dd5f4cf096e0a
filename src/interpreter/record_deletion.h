// Deletes the records of finished executions (code, outputs, lists of files), which count for the quota.
// Files that the executions wrote stay, and their versions still name the execution. The purge of a workspace
// deletes all its records.
#pragma once

#include "workspace/authority.h"
#include "workspace/keep_context.h"

namespace sk::interpreter {

struct RecordFilter {
  TimeUs ended_before_us = 0;
  std::optional<Id> session = {};  // of any owner; nullopt: all sessions of the workspace
};

struct DeletedRecords {
  size_t executions = 0;
  size_t sessions = 0;  // deleted ones without executions, of which nothing is left
  int64_t bytes = 0;
  bool has_more = false;  // call it again
};

// Any thread. Deletes at most some thousand records, in transactions of a few hundred or thousand rows, so
// that other writers get their turn. Executions that are queued or running stay. Never refused for a quota.
// Error(forbidden) unless the authority is the owner's.
DeletedRecords delete_records(workspace::KeepContext& context, const workspace::Authority& authority,
                              const RecordFilter& filter);

// The sessions of a workspace that are not deleted, of any owner.
std::vector<Id> undeleted_sessions(workspace::KeepContext& context, const Id& workspace);

// For KeepContext::on_workspace_purge: deletes about `rows_max` rows of sessions and executions of a
// workspace that is being purged. Returns how many; 0: none is left. Its sessions are deleted already.
size_t purge_session_rows(catalog::Tx& tx, const Id& workspace, size_t rows_max);

}  // namespace sk::interpreter
