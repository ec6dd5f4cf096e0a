// Finds sessions by names that clients of other dialects choose. An Azure client chooses an identifier and
// expects its session to exist, even after a restart of the server.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "interpreter/sessions/session_directory.h"
#include "workspace/keep.h"

namespace sk::interpreter {

// Any thread. Create one where it is needed. A name belongs to one principal and one workspace, those of the
// authority, so two principals never share a session by choosing the same name. `kind` is the name's
// namespace: a dialect, or one pool of a dialect.
class Aliases {
 public:
  // Where code cannot run, existing names are found, but none is created.
  Aliases(workspace::Keep& keep, Interpreter& interpreter)
      : keep_(keep), interpreter_(interpreter), book_(keep, interpreter) {}

  // nullopt when the name was never used or its session was deleted.
  std::optional<SessionInfo> find(const workspace::Authority& authority, std::string_view kind,
                                  std::string_view alias);
  // Like find(); creates the session as `wanted` says if there is none. Concurrent callers all get the same
  // session. Error(unavailable) when one must be created and code cannot run.
  SessionInfo find_or_create(const workspace::Authority& authority, std::string_view kind,
                             std::string_view alias, const NewSession& wanted);

  struct Named {
    std::string alias;
    SessionInfo session;
  };
  // Sorted by name, without deleted sessions.
  std::vector<Named> list(const workspace::Authority& authority, std::string_view kind, size_t skip,
                          size_t limit);

 private:
  workspace::Keep& keep_;
  Interpreter& interpreter_;
  const SessionDirectory book_;
};

}  // namespace sk::interpreter
