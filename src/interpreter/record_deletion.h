// Deletes the records of finished executions (code, outputs, lists of files), which count for the quota.
// Files that the executions wrote stay, and their versions still name the execution.
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

}  // namespace sk::interpreter
