// Principals and their API keys: authentication, creation and revocation. Reads and writes the catalog;
// errors are thrown as Error.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/hash.h"
#include "base/json.h"
#include "base/mutex.h"
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

// A change of one limit: unset leaves it, empty returns to the server's setting.
using LimitChange = std::optional<std::optional<uint64_t>>;

struct LimitChanges {
  LimitChange quota_bytes, workspaces_max, keys_max, sessions_max, sessions_kept_max;
};

struct MadeKey {
  KeyInfo info;
  std::string secret;  // shown once, never stored
};

// Thread-safe. Keys are stored as the SHA-256 of their secret, which has 256 random bits. An operator's own
// root key has at least 16 characters.
class Access {
 public:
  // All references must outlive this object. `keys_max` is the limit on the valid keys of one principal.
  Access(catalog::Database& db, const Clock& clock, IdMaker& ids, TransactionHooks& hooks, size_t keys_max);

  // Returns whether anyone may manage principals and keys.
  bool has_administrator();
  // Creates the first principal with its workspace `default`, unless one exists, and adds this key to it if
  // missing.
  void ensure_first_principal(const std::string& root_key);

  // Returns the actor of a key. Throws Error(unauthorized) for unknown, revoked or expired keys, and for keys
  // of a suspended principal. The message says which only if the secret is right.
  Actor authenticate(std::string_view secret);

  // Returns whether there is such a key, valid or not. Reads only memory, so a wrong guess costs no more than
  // a hash. True for one wrong secret in 2^64 / number of keys, and false for a key that another server made.
  bool may_exist(std::string_view secret);

  // Returns the actor of a verified third-party token: the principal for `subject` of `source`. The first
  // call creates the principal with its own workspace `default`. It is named "source:subject", plus a number
  // if that name is taken; names prove nothing. Error(unauthorized) for a suspended principal.
  Actor actor_of_subject(const std::string& source, const std::string& subject);

  // Returns the actor of an execution that was accepted before a restart, by the key that asked for it.
  // Throws like authenticate(). A zero key (a token, or a record of an earlier version) stands for the
  // principal's own rights.
  Actor recorded_actor(ReplayKey replay, const Id& principal, const Id& key);

  // Admins only. A new principal gets its own workspace `default`.
  Principal create_principal(const Actor& actor, const std::string& name, const std::string& kind);
  std::vector<Principal> list_principals(const Actor& actor);
  // Admins only. The names of these principals; unknown ones are left out.
  std::unordered_map<Id, std::string> names_of(const Actor& actor, std::span<const Id> principals);
  // Admins only. A suspended principal's keys and tokens are refused, and what goes on with them ends; its
  // workspaces, files and links stay. Error(conflict) for an administrator, who could not be resumed by
  // anyone. Suspending or resuming twice changes nothing.
  Principal suspend(const Actor& actor, const Id& principal);
  Principal resume(const Actor& actor, const Id& principal);

  // Admins only. A principal that has more than a new limit keeps it, and cannot add to it.
  Principal set_limits(const Actor& actor, const Id& principal, const LimitChanges& changes);

  // As the static one, in a read of its own.
  PrincipalLimits limits_of(const Id& principal);

  // Creates a key for the actor or, for admins, for another principal. The scope of the key can only be
  // narrower than the actor's. A key created with an expiring key expires no later, and by default at the
  // same time. If limited to one workspace, the principal must be a member of it. Error(quota_exceeded) at
  // the principal's limit.
  MadeKey create_key(const Actor& actor, const Id& principal, const NewKey& asked);
  std::vector<KeyInfo> list_keys(const Actor& actor);
  void revoke_key(const Actor& actor, const Id& key);

  // Forgets the cached keys. revoke_key() of this object does so by itself.
  void forget_cached();

  // Saves when keys were last used. Called every minute and at stop.
  void flush_last_use();

  // Throws as authenticate() would, if the actor's key has been revoked or has expired since, or its
  // principal was suspended. For transactions that write. An actor without a key is checked for its principal
  // only.
  static void check_key(catalog::Statements& statements, const Actor& actor, TimeUs now_us);

  // Returns the limits that were set for this principal; none for an unknown one.
  static PrincipalLimits limits_of(catalog::Statements& statements, const Id& principal);
  // Counts the keys that are neither revoked nor expired.
  static uint64_t valid_keys(catalog::Statements& statements, const Id& principal, TimeUs now_us);

  static bool has_principal(catalog::Statements& statements, const Id& principal);

 private:
  enum class Suspended { no, yes };
  Principal set_suspended(const Actor& actor, const Id& principal, Suspended wanted);
  static Actor read_actor(const catalog::Row& row);
  // Makes may_exist() true for the key once the transaction is committed.
  void mark_after_commit(catalog::Tx& tx, std::string_view secret);
  // Error(quota_exceeded) if the principal has as many valid keys as it may. Otherwise deletes its oldest
  // invalid keys, so that one that is replaced every minute leaves a limited number of rows.
  void make_room_for_key(catalog::Tx& tx, const Id& principal);
  Actor insert_subject(catalog::Tx& tx, const std::string& source, const std::string& subject);

  catalog::Database& db_;
  const Clock& clock_;
  IdMaker& ids_;
  TransactionHooks& hooks_;
  const size_t keys_max_;
  Mutex mutex_;
  std::unordered_map<Id, TimeUs> last_use_us_ SK_GUARDED_BY(mutex_);
  std::unordered_map<std::string, Actor> subjects_ SK_GUARDED_BY(mutex_);  // keyed by "source\nsubject"
  std::unordered_map<Sha256, Actor> cache_ SK_GUARDED_BY(mutex_);          // cleared by each revocation
  int64_t revocations_ SK_GUARDED_BY(mutex_) = 0;
  std::unordered_set<uint64_t> marks_ SK_GUARDED_BY(mutex_);  // the first bytes of the hashes of all keys
};

// Returns the limits as the API and the journal show them; null: the server's setting applies.
Json limits_json(const PrincipalLimits& limits);

}  // namespace sk::identity
