// Workspaces: the durable homes of files, and who may enter them.
#pragma once

#include <mutex>
#include <string>
#include <unordered_map>

#include "workspace/authority.h"
#include "workspace/ground.h"
#include "workspace/types.h"

namespace sk::workspace {

enum class Trashed { no, yes };

// Any thread. A workspace that the actor may not read is Error(not_found), as one that does not exist.
class Workspaces {
 public:
  explicit Workspaces(Ground& ground) : ground_(ground) {}

  // By id ("ws_…") or name: the actor's own first, then those it is a member of. Error(forbidden) when it may
  // read but not `right`. Who may enter is remembered until a name, a member or the trash changes; the
  // figures of a workspace that was remembered are those of the first look.
  Authority enter(const Actor& actor, std::string_view id_or_name, Right right = Right::read);
  // The same as it is now, figures included.
  Authority open(const Actor& actor, std::string_view id_or_name, Right right = Right::read);
  // The right to read, also from the trash: what permanent links ask. nullopt instead of Error(not_found).
  std::optional<Authority> find_readable(const Actor& actor, const Id& workspace);
  bool may_read(const Actor& actor, const Id& workspace);  // whether there is one
  // The same for an administrator who makes a key for somebody else: one that `principal` may enter.
  Workspace open_for(const Actor& actor, const Id& principal, std::string_view id_or_name);
  // For whoever may open it as open() does; for administrators also every other workspace by its id, with the
  // role `none`: its name, owner and figures are theirs to see and its quota theirs to set, its files are
  // not.
  Authority look_at(const Actor& actor, std::string_view id_or_name);
  // The one named `default`, or the only one that a scoped key opens; as enter() does.
  Authority open_default(const Actor& actor, Right right = Right::read);

  Workspace create(const Actor& actor, const std::string& name, std::optional<uint64_t> quota_bytes = {});
  std::vector<Workspace> list(const Actor& actor);
  std::vector<Workspace> list_trashed(const Actor& actor);
  // Everybody's, as look_at() shows them; for administrators.
  std::vector<Workspace> list_everybodys(const Actor& actor, Trashed trashed);
  // Its name (for owners), its quota (for administrators), or both at once.
  Workspace change(const Authority& authority, const std::optional<std::string>& name,
                   std::optional<uint64_t> quota_bytes);
  // To the trash: hidden, but its permanent links keep working; restore brings it back under its name (or
  // "name (2)").
  // Error(locked) while a lock is held in it that no token opens: its holder counts on the path being there.
  void trash(const Authority& authority, const Conditions& conditions = {});
  Workspace restore(const Actor& actor, std::string_view id_or_name);
  // Makes every signed link of the workspace that was minted so far invalid.
  void revoke_links(const Authority& authority);

  void set_member(const Authority& authority, const Id& principal, std::optional<Right> right);

 private:
  static Authority authority_of(const Actor& actor, Workspace workspace);
  // Called in every transaction that changes who may enter what.
  void forget_after(catalog::Tx& tx);

  Ground& ground_;
  std::mutex mutex_;
  int64_t changes_ = 0;                                    // guarded by mutex_; how often all was forgotten
  std::unordered_map<std::string, Workspace> remembered_;  // guarded by mutex_; see memory_key()
};

}  // namespace sk::workspace
