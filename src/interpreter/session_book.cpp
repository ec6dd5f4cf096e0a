#include "interpreter/session_book.h"

#include "interpreter/records.h"

namespace sk::interpreter {

std::optional<SessionInfo> SessionBook::find(const workspace::Actor& actor, const Id& session) const {
  if (interpreter_ != nullptr) return interpreter_->find(actor, session);
  auto found = Records(keep_.ground()).find(session);
  return found && is_of(*found, actor) ? found : std::nullopt;
}

Error no_session(const Id& session) {
  return Error(Code::not_found, "there is no session " + session.with_prefix(workspace::prefix::session))
      .hint("'sandkeep sessions' lists yours.");
}

SessionInfo SessionBook::get(const workspace::Actor& actor, const Id& session) const {
  auto found = find(actor, session);
  if (!found) throw no_session(session);
  return *found;
}

std::vector<SessionInfo> SessionBook::list(const workspace::Actor& actor, const SessionQuery& query) const {
  if (interpreter_ != nullptr) return interpreter_->list(actor, query);
  return Records(keep_.ground()).list(actor.principal, actor.only_workspace, query);
}

}  // namespace sk::interpreter
