// Columns of sessions, executions and unkept files in the catalog, and how a row is read; for records.cpp.
#pragma once

#include <string>

#include "catalog/columns.h"
#include "interpreter/types.h"

namespace sk::interpreter {

// How the detail of an execution that woke its session begins: a query can ask for that.
#define SK_WOKE "{\"woke\":true"

// Those that an INSERT names.
#define SK_SESSION_COLUMNS                                                                              \
  "id, workspace, folder, name, owner, memory_bytes, timeout_s, idle_s, runtime, environment, labels, " \
  "execution_count, created_us, active_us, deleted_us, awake_max_s, epoch"
// The columns of a SessionInfo for read_session().
#define SK_SESSION_LIST(FIRST, NEXT)                                                               \
  FIRST(id, "id")                                                                                  \
  NEXT(workspace, "workspace")                                                                     \
  NEXT(folder, "folder")                                                                           \
  NEXT(name, "name")                                                                               \
  NEXT(owner, "owner")                                                                             \
  NEXT(memory_bytes, "memory_bytes")                                                               \
  NEXT(timeout_s, "timeout_s")                                                                     \
  NEXT(idle_s, "idle_s")                                                                           \
  NEXT(runtime, "runtime")                                                                         \
  NEXT(environment, "environment")                                                                 \
  NEXT(labels, "labels")                                                                           \
  /* A server that died has not written how many executions there were; their own records tell. */ \
  NEXT(execution_count,                                                                            \
       "(SELECT COALESCE(MAX(x.number), 0) FROM executions x WHERE x.session = sessions.id)")      \
  NEXT(created_us, "created_us")                                                                   \
  NEXT(active_us, "active_us")                                                                     \
  NEXT(deleted_us, "deleted_us")                                                                   \
  NEXT(awake_max_s, "awake_max_s")                                                                 \
  NEXT(epoch, "epoch")                                                                             \
  NEXT(woke_us,                                                                                    \
       "CASE WHEN awake_max_s > 0 THEN (SELECT x.created_us FROM executions x WHERE x.session = "  \
       "sessions.id AND (x.number = 1 OR x.detail LIKE '" SK_WOKE "%') ORDER BY x.number DESC LIMIT 1) END")
#define SK_SESSION_VALUES SK_COLUMN_TEXT(SK_SESSION_LIST)
SK_COLUMN_NAMES(SessionColumn, SK_SESSION_LIST);
SessionInfo read_session(const catalog::Row& row);

// Rows of the node $1. Rows without a node were written when there was only one.
#define SK_OF_NODE "(node = $1 OR node IS NULL)"

#define SK_EXECUTION_LIST(FIRST, NEXT) \
  FIRST(id, "id")                      \
  NEXT(session, "session")             \
  NEXT(number, "number")               \
  NEXT(author, "author")               \
  NEXT(language, "language")           \
  NEXT(code, "code")                   \
  NEXT(status, "status")               \
  NEXT(outcome, "outcome")             \
  NEXT(detail, "detail")               \
  NEXT(created_us, "created_us")       \
  NEXT(started_us, "started_us")       \
  NEXT(ended_us, "ended_us")           \
  NEXT(outputs, "(SELECT o.outputs FROM execution_outputs o WHERE o.execution = executions.id)")
// Those that an INSERT names.
#define SK_EXECUTION_COLUMNS \
  "id, session, number, author, language, code, status, outcome, detail, created_us, started_us, ended_us"
// The columns of an Execution for read_execution().
#define SK_EXECUTION_READ SK_COLUMN_TEXT(SK_EXECUTION_LIST)
SK_COLUMN_NAMES(ExecutionColumn, SK_EXECUTION_LIST);
Execution read_execution(const catalog::Row& row);
// The column `detail` of an execution, without the outputs.
Json detail_of(const Execution& execution);
// The outputs as a record holds them: to_json(), and where its notes name paths.
Json stored_outputs(const Outputs& outputs);

#define SK_UNKEPT_LIST(FIRST, NEXT) \
  FIRST(path, "path")               \
  NEXT(what, "what")                \
  NEXT(reason, "reason")            \
  NEXT(message, "message")          \
  NEXT(version, "version")          \
  NEXT(only_copy, "only_copy")
#define SK_UNKEPT_COLUMNS SK_COLUMN_TEXT(SK_UNKEPT_LIST)
SK_COLUMN_NAMES(UnkeptColumn, SK_UNKEPT_LIST);
Unkept read_unkept(const catalog::Row& row);

}  // namespace sk::interpreter
