#include "workspace/authority.h"

#include "base/path.h"
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
    : actor_(std::move(actor)),
      author_(actor_),
      workspace_(std::move(workspace)),
      right_(workspace_.role),
      origin_(origin) {}

Authority Authority::limited_to(std::string_view path) const {
  std::string wanted = clean_path(path);
  if (!covers(wanted)) throw out_of_scope(*this, wanted);
  Authority limited = *this;
  limited.path_scope_ = std::move(wanted);
  return limited;
}

bool Authority::covers(std::string_view path) const { return is_within(path, path_scope_); }

bool Authority::covers_place(std::string_view path) const {
  return covers(path) && (!is_limited() || path.size() > path_scope_.size());
}

void Authority::need_in_scope(Right right) const {
  if (!allows(right)) throw missing_right(workspace_, right);
}

void Authority::need(Right right) const {
  need_in_scope(right);
  if (is_limited()) throw out_of_scope(*this, "");
}

void Authority::need_at(Right right, std::string_view path) const {
  need_in_scope(right);
  if (!covers(path)) throw out_of_scope(*this, path);
}

Authority system_authority(const Id& workspace, Author as, SystemReason reason) {
  Workspace described;
  described.id = workspace;
  described.role = Right::own;
  Authority made(Actor{}, std::move(described), Authority::Origin::system);
  made.author_ = std::move(as);
  made.reason_ = reason.text();
  return made;
}

void check_key_still_holds(catalog::Tx& tx, const Authority& authority) {
  if (authority.origin() != Authority::Origin::system)
    identity::Access::check_key(tx, authority.actor(), tx.now_us());
}

void check_still_holds(catalog::Tx& tx, const Authority& authority, Right right) {
  check_still_holds(tx, tx.now_us(), authority, right);
}

void check_still_holds(catalog::Statements& statements, TimeUs now_us, const Authority& authority,
                       Right right) {
  authority.need_in_scope(right);
  if (authority.origin() == Authority::Origin::system) return;
  identity::Access::check_key(statements, authority.actor(), now_us);
  auto role = statements.one(
      "SELECT m.role FROM members m JOIN workspaces w ON w.id = m.workspace WHERE m.principal = $1 AND "
      "m.workspace = $2 AND w.trashed_us IS NULL",
      {authority.actor().principal(), authority.workspace_id()},
      [](const catalog::Row& row) { return static_cast<Right>(row.integer(0)); });
  if (!role) throw no_such_workspace(authority.workspace().name);
  if (*role < right) throw missing_right(authority.workspace(), right);
}

Error out_of_scope(const Authority& authority, std::string_view path) {
  Sentence what = path.empty() ? Sentence("the whole workspace") : quoted_path(path);
  return Error(Code::forbidden, "this access is limited to " + quoted_path(authority.path_scope()) +
                                    " and does not extend to " + what);
}

Error no_such_workspace(std::string_view id_or_name) {
  return Error(Code::not_found,
               "there is no workspace '" + std::string(id_or_name) + "' that this key may open")
      .advise(Advice::list_workspaces);
}

}  // namespace sk::workspace
