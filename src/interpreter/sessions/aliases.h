// Sessions by the names that clients of other dialects give them: an Azure client chooses an identifier and
// expects its session to be there, now and after a restart of the server.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "interpreter/sessions/session_directory.h"
#include "workspace/keep.h"

namespace sk::interpreter {

// Any thread; made where it is needed. A name belongs to one principal and one workspace, those of the
// authority, so nobody meets anybody in a session by choosing the same name. `kind` is the name's
// family: a dialect, or one pool of a dialect.
class Aliases {
 public:
  // Where no code runs, names are found, and none is made.
  Aliases(workspace::Keep& keep, Interpreter& interpreter)
      : keep_(keep), interpreter_(interpreter), book_(keep, interpreter) {}

  // nullopt where nobody used the name yet, or its session was deleted.
  std::optional<SessionInfo> find(const workspace::Authority& authority, std::string_view kind,
                                  std::string_view alias);
  // The same, made as `wanted` says where there is none. Of two who ask at once both get the one that stays.
  // Error(unavailable) where one must be made and no code runs.
  SessionInfo find_or_create(const workspace::Authority& authority, std::string_view kind,
                             std::string_view alias, const NewSession& wanted);

  struct Named {
    std::string alias;
    SessionInfo session;
  };
  // By name, without those that were deleted.
  std::vector<Named> list(const workspace::Authority& authority, std::string_view kind, size_t skip,
                          size_t limit);

 private:
  workspace::Keep& keep_;
  Interpreter& interpreter_;
  const SessionDirectory book_;
};

}  // namespace sk::interpreter
