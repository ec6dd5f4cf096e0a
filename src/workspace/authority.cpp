#include "workspace/authority.h"

namespace sk::workspace {

Authority::Authority(Actor actor, Workspace workspace, Origin origin)
    : actor_(std::move(actor)), workspace_(std::move(workspace)), right_(workspace_.role), origin_(origin) {}

void Authority::need(Right right) const {
  if (allows(right)) return;
  if (right == Right::read) throw no_such_workspace(workspace_.id.with_prefix(prefix::workspace));
  throw Error(Code::forbidden,
              right == Right::own
                  ? "only the workspace's owner may do that, with a key that may write"
                  : "this key may read the workspace '" + workspace_.name + "', but not write to it");
}

Authority system_authority(const Id& workspace, Actor as, SystemReason reason) {
  Workspace described;
  described.id = workspace;
  described.role = Right::own;
  Authority made(std::move(as), std::move(described), Authority::Origin::system);
  made.reason_ = reason.text();
  return made;
}

Error no_such_workspace(std::string_view id_or_name) {
  return Error(Code::not_found,
               "there is no workspace '" + std::string(id_or_name) + "' that this key may open")
      .hint("GET /api/v1/workspaces or 'sandkeep workspace ls' lists yours.");
}

}  // namespace sk::workspace
