// Sessions as they are written down: whose they are, and where their files lie. Also works where no code
// runs; every session is then asleep.
#pragma once

#include <optional>
#include <vector>

#include "base/error.h"
#include "interpreter/interpreter.h"

namespace sk::interpreter {

// Any thread; made where it is needed. `keep` and `interpreter` outlive it.
class SessionDirectory {
 public:
  SessionDirectory(workspace::Keep& keep, Interpreter& interpreter)
      : keep_(keep), interpreter_(interpreter) {}

  // nullopt for a session that is not there or not the caller's; also a deleted one is found.
  std::optional<SessionInfo> find(const workspace::Actor& actor, const Id& session) const;
  // Error(not_found) instead.
  SessionInfo get(const workspace::Actor& actor, const Id& session) const;
  // Returns the actor's authority in the workspace of a session, for calls about that session. Its right is
  // `none` where the actor may not enter the workspace any more, or has no such session; the calls then
  // throw.
  workspace::Authority authority_over(const workspace::Actor& actor, const Id& session) const;
  // Without deleted ones.
  std::vector<SessionInfo> list(const workspace::Actor& actor, const SessionQuery& query) const;

  // Lists what is not, or not as the head, in the workspace: refused, kept aside or recovered; by path.
  // Error(not_found) as above, Error(bad_request) for a cursor that no page gave.
  workspace::Page<Unkept> unkept(const workspace::Authority& authority, const Id& session,
                                 std::string_view cursor, size_t limit) const;
  // Removes items from that list whose bytes are versions of the workspace; the versions stay. With a path
  // only the item at it: Error(not_found) when there is none, Error(conflict) when it was refused, since its
  // bytes are nowhere else. Returns how many were removed.
  size_t dismiss_unkept(const workspace::Authority& authority, const Id& session,
                        const std::optional<std::string>& path) const;

 private:
  void need_own(const workspace::Authority& authority, const Id& session) const;

  workspace::Keep& keep_;
  Interpreter& interpreter_;
};

// Error(forbidden) if the authority's key is read-only: such a key cannot do `what`.
void refuse_read_only(const workspace::Authority& authority, const std::string& what);
// Error(not_found) if the actor may not enter the workspace any more. Error(forbidden) if it may only read.
void need_write(const workspace::Authority& authority);

// What somebody is told who has no such session.
Error no_session(const Id& session);

Error deleted_error();

}  // namespace sk::interpreter
