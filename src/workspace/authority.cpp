#include "workspace/authority.h"

#include "identity/access.h"

namespace sk::workspace {

namespace {

Error missing_right(const Workspace& workspace, Right right) {
  if (right == Right::read) return no_such_workspace(workspace.id.with_prefix(prefix::workspace));
  return Error(Code::forbidden,
               right == Right::own
                   ? "only the workspace's owner may do that, with a key that may write"
                   : "this key may read the workspace '" + workspace.name + "', but not write to it");
}

}  // namespace

Authority::Authority(Actor actor, Workspace workspace, Origin origin)
    : actor_(std::move(actor)), workspace_(std::move(workspace)), right_(workspace_.role), origin_(origin) {}

void Authority::need(Right right) const {
  if (!allows(right)) throw missing_right(workspace_, right);
}

Authority system_authority(const Id& workspace, Actor as, SystemReason reason) {
  Workspace described;
  described.id = workspace;
  described.role = Right::own;
  Authority made(std::move(as), std::move(described), Authority::Origin::system);
  made.reason_ = reason.text();
  return made;
}

void check_still_holds(catalog::Tx& tx, const Authority& authority, Right right) {
  authority.need(right);
  if (authority.origin() == Authority::Origin::system) return;
  identity::Access::check_key(tx, authority.actor(), tx.now_us());
  auto role = tx.one(
      "SELECT m.role FROM members m JOIN workspaces w ON w.id = m.workspace WHERE m.principal = $1 AND "
      "m.workspace = $2 AND w.trashed_us IS NULL",
      {authority.actor().principal(), authority.workspace_id()},
      [](const catalog::Row& row) { return static_cast<Right>(row.integer(0)); });
  if (!role) throw no_such_workspace(authority.workspace().name);
  if (*role < right) throw missing_right(authority.workspace(), right);
}

Error no_such_workspace(std::string_view id_or_name) {
  return Error(Code::not_found,
               "there is no workspace '" + std::string(id_or_name) + "' that this key may open")
      .advise(Advice::list_workspaces);
}

}  // namespace sk::workspace
