#include "interpreter/session_key.h"

#include "base/error.h"

namespace sk::interpreter {

void check_owner(catalog::Tx& tx, const SessionKey& session) {
  if (!tx.exists("SELECT 1 FROM sessions WHERE id = $1 AND epoch = $2", {session.id, session.epoch}))
    throw Error(Code::conflict, "another owner has taken over the session, so this was not written");
}

}  // namespace sk::interpreter
