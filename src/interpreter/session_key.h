// A session as the writes of its owner name it. The owner is the part of a server that has the session awake
// or works on its copy. The session's epoch grows whenever another one takes over (Records::claim).
#pragma once

#include "catalog/database.h"

namespace sk::interpreter {

struct SessionKey {
  Id id;
  Id workspace;
  int64_t epoch = 0;  // when the owner took over, or when the row was read

  catalog::Scope scope() const { return catalog::Scope::workspace(workspace); }
};

// Every write of a session's owner calls this in its transaction. Error(conflict) if another owner took over:
// nothing of the transaction is kept.
void check_owner(catalog::Tx& tx, const SessionKey& session);

}  // namespace sk::interpreter
