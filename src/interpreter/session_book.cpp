#include "interpreter/session_book.h"

#include "interpreter/records.h"

namespace sk::interpreter {

std::optional<SessionInfo> SessionBook::find(const workspace::Actor& actor, const Id& session) const {
  if (interpreter_ != nullptr) return interpreter_->find(actor, session);
  auto found = Records(keep_.ground()).find(session);
  return found && is_of(*found, actor) ? found : std::nullopt;
}

std::vector<SessionInfo> SessionBook::list(const workspace::Actor& actor, const SessionQuery& query) const {
  if (interpreter_ != nullptr) return interpreter_->list(actor, query);
  return Records(keep_.ground()).list(actor.principal, actor.only_workspace, query);
}

}  // namespace sk::interpreter
