// Recorded sessions: their owners and their folders. Also works where code cannot run; every session is then
// asleep.
#pragma once

#include <optional>
#include <vector>

#include "base/error.h"
#include "interpreter/interpreter.h"
#include "interpreter/record_deletion.h"

namespace sk::interpreter {

// Any thread. Create one where it is needed. `keep` and `interpreter` outlive it.
class SessionDirectory {
 public:
  SessionDirectory(workspace::Keep& keep, Interpreter& interpreter)
      : keep_(keep), interpreter_(interpreter) {}

  // nullopt for a session that does not exist or is not the caller's. Also finds deleted sessions.
  std::optional<SessionInfo> find(const workspace::Actor& actor, const Id& session) const;
  // Like find(), with Error(not_found) instead of nullopt.
  SessionInfo get(const workspace::Actor& actor, const Id& session) const;
  // Returns the actor's authority in the workspace of a session, for calls about that session. Its right is
  // `none` where the actor may not enter the workspace any more, or has no such session; the calls then
  // throw.
  workspace::Authority authority_over(const workspace::Actor& actor, const Id& session) const;
  // Leaves out deleted sessions.
  std::vector<SessionInfo> list(const workspace::Actor& actor, const SessionQuery& query) const;

  // Lists content that is not in the workspace, or not as the head (refused, kept aside or recovered), by
  // path. Error(not_found) like get(), Error(bad_request) for an invalid cursor.
  workspace::Page<Unkept> unkept(const workspace::Authority& authority, const Id& session,
                                 std::string_view cursor, size_t limit) const;
  // Removes items from that list whose bytes are versions of the workspace; the versions stay. With a path,
  // only the item at it: Error(not_found) when there is none, Error(conflict) when it was refused, since its
  // bytes are nowhere else. Returns the number of removed items.
  size_t dismiss_unkept(const workspace::Authority& authority, const Id& session,
                        const std::optional<std::string>& path) const;
  // Deletes records of finished executions in the authority's workspace, of all its sessions (see
  // record_deletion.h).
  DeletedRecords delete_records(const workspace::Authority& authority, const RecordFilter& filter) const;

 private:
  SessionInfo need_own(const workspace::Authority& authority, const Id& session) const;

  workspace::Keep& keep_;
  Interpreter& interpreter_;
};

// Error(forbidden) if the authority's key is read-only: such a key cannot do `what`.
void refuse_read_only(const workspace::Authority& authority, const std::string& what);
// Error(not_found) if the actor may not enter the workspace any more. Error(forbidden) if it may only read.
void need_write(const workspace::Authority& authority);

// The error for a session that does not exist or is not the caller's.
Error no_session(const Id& session);

Error deleted_error();

// The files that an execution kept, after the first `after` of them. Error(not_found) without an execution.
std::vector<KeptFile> kept_page(const std::optional<Execution>& execution, int64_t after, size_t limit);

}  // namespace sk::interpreter
