// Workspaces and their members. Workspaces creates the Authority that the rest of the domain requires.
#pragma once

#include <span>
#include <string>
#include <unordered_map>

#include "base/mutex.h"
#include "workspace/authority.h"
#include "workspace/keep_context.h"
#include "workspace/types.h"

namespace sk::workspace {

enum class Trashed { no, yes };

// Any thread. Every call throws Error(not_found) for a workspace that the actor may not read, as if it did
// not exist.
class Workspaces {
 public:
  explicit Workspaces(KeepContext& context) : context_(context) {}

  // Finds a workspace by id ("ws_…") or name: first the actor's own, then those it is a member of. Access
  // checks are cached; changes to names, members, quotas or trash invalidate the cache. A cached workspace
  // keeps the figures of its first lookup. Error(forbidden) if the actor may read but lacks `right`.
  Authority enter(const Actor& actor, std::string_view id_or_name, Right right = Right::read);
  // Like enter(), but reads current data and figures.
  Authority open(const Actor& actor, std::string_view id_or_name, Right right = Right::read);
  // Returns an authority to read, even for a trashed workspace. For permanent links. nullopt instead of
  // Error(not_found).
  std::optional<Authority> find_readable(const Actor& actor, const Id& workspace);
  // Like enter(), but the right is `none` if the actor may not enter the workspace. For calls about an own
  // object, such as a session, that stays the actor's own after its workspace was trashed.
  Authority standing(const Actor& actor, const Id& workspace);
  // Returns the current description and figures of the authority's workspace. Error(not_found) if it is
  // trashed.
  Workspace describe(const Authority& authority);
  bool may_read(const Actor& actor, const Id& workspace);  // whether find_readable() finds one
  // Like open() for `principal`; for creating a key. Error(forbidden) if `principal` is another one and the
  // actor is not an administrator.
  Workspace open_for(const Actor& actor, const Id& principal, std::string_view id_or_name);
  // Like open(). Administrators may also name any other workspace by id. Their authority then has the role
  // `none`. They see its name, owner and figures and may set its quota, but cannot access its files.
  Authority look_at(const Actor& actor, std::string_view id_or_name);
  // Enters the workspace named `default`, or the only one that a scoped key may open. Otherwise like enter().
  Authority open_default(const Actor& actor, Right right = Right::read);

  Workspace create(const Actor& actor, const std::string& name, std::optional<uint64_t> quota_bytes = {});
  std::vector<Workspace> list(const Actor& actor);
  std::vector<Workspace> list_trashed(const Actor& actor);
  // Lists the workspaces of all principals, as look_at() returns them. Error(forbidden) unless the actor is
  // an administrator.
  std::vector<Workspace> list_everybodys(const Actor& actor, Trashed trashed);
  // The names of these workspaces, also of trashed ones; unknown ones are left out. Error(forbidden) unless
  // the actor is an administrator.
  std::unordered_map<Id, std::string> names_of(const Actor& actor, std::span<const Id> workspaces);
  // The bytes that the workspaces of each owner use, trashed ones included. Reads every workspace. It names
  // nothing, so it needs no actor.
  std::unordered_map<Id, uint64_t> used_bytes_by_owner();
  // Changes the name (for owners), the quota (for administrators), or both in one transaction.
  Workspace change(const Authority& authority, const std::optional<std::string>& name,
                   std::optional<uint64_t> quota_bytes);
  // Moves the workspace to the trash: it is hidden, but its permanent links keep working. restore() brings it
  // back under its name, or as "name (2)" if that is taken. Error(locked) if `conditions` lack the token of a
  // lock in it, because the lock's holder relies on the path.
  void trash(const Authority& authority, const Conditions& conditions = {});
  Workspace restore(const Actor& actor, std::string_view id_or_name);
  // Begins to purge a trashed workspace: from now on it can neither be listed nor restored, and
  // purge_workspace() deletes it (workspace_purges.h), after a kill, too. The server's journal says who
  // asked, what the workspace held, and where its own journal ended. For owners, and for administrators by
  // its id. Error(conflict) for a workspace that is not in the trash, and for a name that several in the
  // trash have.
  Workspace begin_purge(const Actor& actor, std::string_view id_or_name);
  // Invalidates every signed link of the workspace that was created so far. Over a full quota, only the first
  // of several in a row is recorded.
  void revoke_links(const Authority& authority);

  void set_member(const Authority& authority, const Id& principal, std::optional<Right> right);

  // Forgets the cached access checks. Changes made through this object do so by themselves.
  void forget_cached();

 private:
  static Authority authority_of(const Actor& actor, Workspace workspace);
  // Invalidates the cache after the commit of `tx`. Called in every transaction that changes access.
  void forget_after(catalog::Tx& tx);
  // The same for a transaction that takes access away: also ends what goes on with it.
  void revoke_after(catalog::Tx& tx, const Id& workspace);

  KeepContext& context_;
  Mutex mutex_;
  int64_t changes_ SK_GUARDED_BY(mutex_) = 0;                                    // number of invalidations
  std::unordered_map<std::string, Workspace> remembered_ SK_GUARDED_BY(mutex_);  // see memory_key()
};

}  // namespace sk::workspace
