// The parts of a change to principals and keys that other rooms own. Access calls these inside its own
// transaction, so the journal entry, the first workspace and the new row are committed together or not at
// all. Implemented by workspace/identity_hooks.h.
#pragma once

#include <string_view>

#include "base/json.h"
#include "catalog/database.h"
#include "identity/types.h"

namespace sk::identity {

// Called on the transaction's thread. An Error rolls back the transaction.
class TransactionHooks {
 public:
  virtual ~TransactionHooks() = default;

  // Appends an entry to the server's journal.
  virtual void record(catalog::Tx& tx, const Actor& actor, std::string_view kind, const Json& facts,
                      const Json& personal) = 0;
  // Creates the workspace `default` of a new principal.
  virtual void create_first_workspace(catalog::Tx& tx, const Author& owner) = 0;
  virtual bool is_member(catalog::Tx& tx, const Id& principal, const Id& workspace) = 0;
  // Ends what goes on with a key, or with all keys of a principal, that gives no right any more. Called after
  // the commit. Must not throw.
  virtual void end_use(const Id& key_or_principal) = 0;
};

}  // namespace sk::identity
