#include "workspace/identity_hooks.h"

#include "workspace/journal.h"
#include "workspace/revocations.h"
#include "workspace/workspace_rows.h"

namespace sk::workspace {

void IdentityHooks::record(catalog::Tx& tx, const identity::Actor& actor, std::string_view kind,
                           const Json& facts, const Json& personal) {
  Journal::append(tx, context_, Id{}, actor, kind, facts, personal);
}

void IdentityHooks::create_first_workspace(catalog::Tx& tx, const identity::Author& owner) {
  insert_workspace(tx, context_, owner, "default", context_.limits.quota_default_bytes);
}

bool IdentityHooks::is_member(catalog::Tx& tx, const Id& principal, const Id& workspace) {
  return tx.query("SELECT 1 FROM members WHERE principal = $1 AND workspace = $2", {principal, workspace},
                  [](const catalog::Row&) { return false; }) > 0;
}

void IdentityHooks::end_use(const Id& key_or_principal) { context_.revocations.announce(key_or_principal); }

}  // namespace sk::workspace
