// Principals and their API keys: authentication, creation and revocation.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "catalog/database.h"
#include "identity/transaction_hooks.h"
#include "identity/types.h"

namespace sk::identity {

struct NewKey {
  std::string name;
  bool read_only = false;
  std::optional<Id> only_workspace;
  std::optional<TimeUs> expires_us;
};

struct MadeKey {
  KeyInfo info;
  std::string secret;  // shown once, never stored
};

// Any thread. Keys are stored as SHA-256 of their secret, which has 256 random bits (a chosen root key has at
// least 16 characters).
class Access {
 public:
  // All of them outlive it.
  Access(catalog::Database& db, const Clock& clock, IdMaker& ids, TransactionHooks& hooks);

  // Whether there is anybody who may manage principals and keys.
  bool has_administrator();
  // The first principal with its workspace `default`, if there is none yet, and this key of it, if it is
  // missing.
  void ensure_first_principal(const std::string& root_key);

  // Throws Error(unauthorized) for unknown, revoked or expired keys; the message tells which only where the
  // secret was right.
  Actor authenticate(std::string_view secret);

  // Who a token of somebody else's is about, once its signature was checked: the principal that stands for
  // `subject` of `source`, made on first sight with a workspace `default` of its own. Its name is
  // "source:subject", with a number behind it where somebody has that name already: names prove nothing.
  Actor actor_of_subject(const std::string& source, const std::string& subject);

  // For admins. A new principal gets a workspace `default` of its own.
  Principal create_principal(const Actor& actor, const std::string& name, const std::string& kind);
  std::vector<Principal> list_principals(const Actor& actor);

  // A key for oneself, or, for admins, for another principal; a key's scope can only be narrower than the
  // actor's: made by a key that expires, it expires no later (with it, unless said otherwise). The one
  // workspace that it opens must be one that its principal may enter.
  MadeKey create_key(const Actor& actor, const Id& principal, const NewKey& asked);
  std::vector<KeyInfo> list_keys(const Actor& actor);
  void revoke_key(const Actor& actor, const Id& key);

  // Writes when keys were last used; called each minute and at stop.
  void flush_last_use();

  // Throws as authenticate() would now, when the actor's key was revoked or has expired since then. For
  // transactions that write; an actor without a key passes.
  static void check_key(catalog::Statements& statements, const Actor& actor, TimeUs now_us);

  static bool has_principal(catalog::Statements& statements, const Id& principal);

 private:
  Actor insert_subject(catalog::Tx& tx, const std::string& source, const std::string& subject);

  catalog::Database& db_;
  const Clock& clock_;
  IdMaker& ids_;
  TransactionHooks& hooks_;
  std::mutex mutex_;
  std::unordered_map<Id, TimeUs> last_use_us_;       // guarded by mutex_
  std::unordered_map<std::string, Actor> subjects_;  // guarded by mutex_; by "source\nsubject"
  std::unordered_map<Sha256, Actor> cache_;          // guarded by mutex_; emptied by each revocation
  int64_t revocations_ = 0;                          // guarded by mutex_
};

}  // namespace sk::identity
