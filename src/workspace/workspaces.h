// Workspaces: the durable homes of files, and who may enter them.
#pragma once

#include "workspace/ground.h"
#include "workspace/types.h"

namespace sk::workspace {

// Any thread. A workspace that the actor may not read is Error(not_found), as one that does not exist.
class Workspaces {
 public:
  explicit Workspaces(Ground& ground) : ground_(ground) {}

  // By id ("ws_…") or name: the actor's own first, then those it is a member of. Error(forbidden) when it may
  // read but not `right`.
  Workspace open(const Actor& actor, std::string_view id_or_name, Right right = Right::read);
  // Whether it may be read, also from the trash: what permanent links ask.
  bool may_read(const Actor& actor, const Id& workspace);
  // The one named `default`, or the only one that a scoped key opens.
  Workspace open_default(const Actor& actor, Right right = Right::read);

  Workspace create(const Actor& actor, const std::string& name, std::optional<uint64_t> quota_bytes = {});
  std::vector<Workspace> list(const Actor& actor);
  std::vector<Workspace> list_trashed(const Actor& actor);
  // Its name (for owners), its quota (for administrators), or both at once.
  Workspace change(const Actor& actor, const Workspace& workspace, const std::optional<std::string>& name,
                   std::optional<uint64_t> quota_bytes);
  // To the trash: hidden, but its permanent links keep working; restore brings it back under its name (or
  // "name (2)").
  // Error(locked) while a lock is held in it that no token opens: its holder counts on the path being there.
  void trash(const Actor& actor, const Workspace& workspace, const Conditions& conditions = {});
  Workspace restore(const Actor& actor, std::string_view id_or_name);
  // Makes every signed link of the workspace that was minted so far invalid.
  void revoke_links(const Actor& actor, const Workspace& workspace);

  void set_member(const Actor& actor, const Workspace& workspace, const Id& principal,
                  std::optional<Right> right);

 private:
  Ground& ground_;
};

}  // namespace sk::workspace
