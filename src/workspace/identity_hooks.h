// Implements the hooks that identity calls inside its transactions: journal entries, the first workspace of a
// principal, membership checks, the end of what goes on with a revoked key.
#pragma once

#include "identity/transaction_hooks.h"
#include "workspace/keep_context.h"

namespace sk::workspace {

// Any thread.
class IdentityHooks final : public identity::TransactionHooks {
 public:
  explicit IdentityHooks(KeepContext& context) : context_(context) {}

  void record(catalog::Tx& tx, const identity::Actor& actor, std::string_view kind, const Json& facts,
              const Json& personal) override;
  void create_first_workspace(catalog::Tx& tx, const identity::Author& owner) override;
  bool is_member(catalog::Tx& tx, const Id& principal, const Id& workspace) override;
  void end_use(const Id& key_or_principal) override;

 private:
  KeepContext& context_;
};

}  // namespace sk::workspace
