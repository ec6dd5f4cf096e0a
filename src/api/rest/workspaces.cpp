// Workspaces, their members and their links.
#include "api/common/await.h"
#include "api/common/conditions.h"
#include "api/common/shapes.h"
#include "api/rest/rest.h"

namespace sk::api::rest {

namespace {

using http::Reply;
using workspace::Right;

uint64_t quota_of(const Body& body) {
  return static_cast<uint64_t>(within(*body.integer("quota_bytes"), 0, INT64_MAX, "quota_bytes"));
}

Reply list_workspaces(Call& call) {
  auto& workspaces = call.app.keep.workspaces();
  bool trashed = call.query.flag("trashed");
  auto found =
      call.query.flag("all")
          ? workspaces.list_everybodys(call.actor, trashed ? workspace::Trashed::yes : workspace::Trashed::no)
      : trashed ? workspaces.list_trashed(call.actor)
                : workspaces.list(call.actor);
  call.note("list", "workspaces");
  return Reply::json(list_json(found, workspace_json));
}

Reply create_workspace(Call& call) {
  std::optional<uint64_t> quota;
  if (call.body.has("quota_bytes")) quota = quota_of(call.body);
  auto made = call.app.keep.workspaces().create(call.actor, call.body.need_text("name"), quota);
  return Reply::json(workspace_json(made), 201);
}

Reply get_workspace(Call& call) {
  auto workspace = call.look_at_workspace();
  call.note("read", "workspace");
  return Reply::json(workspace_json(workspace.workspace()));
}

Reply change_workspace(Call& call) {
  auto& workspaces = call.app.keep.workspaces();
  auto name = call.body.text("name");
  bool has_quota = call.body.has("quota_bytes");
  if (!name && !has_quota) throw Error(Code::bad_request, "pass 'name' or 'quota_bytes'");
  auto workspace = call.look_at_workspace();
  auto quota = has_quota ? std::optional(quota_of(call.body)) : std::nullopt;
  return Reply::json(workspace_json(workspaces.change(workspace, name, quota)));
}

// The answer comes when the workspace is gone. An administrator who is no owner sees no names of files.
Reply purge_workspace(Call& call) {
  call.hold_connection();
  bool is_owner = false;
  auto purged = call.app.workspace_purger.purge([&] {
    auto workspace = call.app.keep.workspaces().begin_purge(call.actor, call.request.param("ws"));
    is_owner = workspace.role == Right::own;
    return workspace;
  });
  return when_known<workspace::PurgeResult>(
      call, purged, [is_owner, url = call.request.base_url](workspace::PurgeResult result) {
        if (!is_owner) result.broken_links.clear();
        return Reply::json(purge_json(result, url));
      });
}

Reply trash_workspace(Call& call) {
  if (call.query.flag("purge")) return purge_workspace(call);
  call.app.keep.workspaces().trash(call.open_workspace(Right::own),
                                   lock_tokens_from_headers(call.request.headers));
  return Reply::empty(204);
}

Reply restore_workspace(Call& call) {
  return Reply::json(
      workspace_json(call.app.keep.workspaces().restore(call.actor, call.request.param("ws"))));
}

Right parse_role(const std::string& name) {
  return name == "own" ? Right::own : name == "write" ? Right::write : Right::read;
}

Id principal_of(const Call& call) {
  return parse_id(call.request.param("principal"), workspace::prefix::principal, "principal");
}

Reply set_member(Call& call) {
  auto workspace = call.open_workspace(Right::own);
  auto role = call.body.need_text("role");
  auto principal = principal_of(call);
  call.app.keep.workspaces().set_member(workspace, principal, parse_role(role));
  return Reply::json({{"principal_id", principal.with_prefix(workspace::prefix::principal)}, {"role", role}});
}

Reply remove_member(Call& call) {
  auto workspace = call.open_workspace(Right::own);
  call.app.keep.workspaces().set_member(workspace, principal_of(call), std::nullopt);
  return Reply::empty(204);
}

Reply revoke_links(Call& call) {
  call.app.keep.workspaces().revoke_links(call.open_workspace(Right::own));
  return Reply::empty(204);
}

void add_member_routes(Routes& routes) {
  routes.add(
      {.method = "PUT",
       .pattern = kWorkspace + "/members/{principal}",
       .id = "set_member",
       .tag = "workspaces",
       .summary = "Makes a principal a member, or changes its role",
       .body_kind = BodyKind::json,
       .body =
           {{.name = "role", .about = "The role.", .required = true, .choices = {"read", "write", "own"}}},
       .answers = {{200, "The member.", "Member"}},
       .errors = {Code::forbidden, Code::not_found, Code::quota_exceeded}},
      set_member);
  routes.add({.method = "DELETE",
              .pattern = kWorkspace + "/members/{principal}",
              .id = "remove_member",
              .tag = "workspaces",
              .summary = "Removes a member",
              .answers = {{204, "The principal can no longer open the workspace."}},
              .errors = {Code::forbidden, Code::not_found}},
             remove_member);
  routes.add({.method = "POST",
              .pattern = kWorkspace + "/revoke-links",
              .id = "revoke_links",
              .tag = "workspaces",
              .summary = "Revokes all signed links created so far",
              .details = "Links without a signature keep working for members of the workspace.",
              .body_kind = BodyKind::json,
              .answers = {{204, "The signed links now answer 404."}},
              .errors = {Code::forbidden, Code::not_found}},
             revoke_links);
}

void add_one_workspace_routes(Routes& routes) {
  routes.add({.method = "GET",
              .pattern = kWorkspace,
              .id = "get_workspace",
              .tag = "workspaces",
              .summary = "Returns one workspace, by id or name",
              .details = "Administrators see the figures of every workspace by its id, with the role `none` "
                         "if they are not a member. They cannot read its files.",
              .answers = {{200, "The workspace.", "Workspace"}},
              .errors = {Code::not_found}},
             get_workspace);
  routes.add({.method = "PATCH",
              .pattern = kWorkspace,
              .id = "change_workspace",
              .tag = "workspaces",
              .summary = "Renames a workspace (owners), sets its quota (administrators), or both",
              .details = "An administrator sets the quota of any workspace, by its id.",
              .body_kind = BodyKind::json,
              .body = {{.name = "name", .about = "Its new name."},
                       {.name = "quota_bytes", .type = FieldType::integer, .about = "Its new quota."}},
              .answers = {{200, "The workspace.", "Workspace"}},
              .errors = {Code::forbidden, Code::not_found, Code::conflict, Code::quota_exceeded}},
             change_workspace);
  routes.add({.method = "DELETE",
              .pattern = kWorkspace,
              .id = "trash_workspace",
              .tag = "workspaces",
              .summary = "Moves a workspace to the trash, or purges a trashed one with `purge=true`",
              .details = "In the trash, its permanent links keep working. A lock in the workspace prevents "
                         "it, as for every write. A purge deletes a workspace that is in the trash for ever, "
                         "with everything in it; its sessions end first. Links to its versions answer 410. "
                         "The server's journal keeps that it existed, who purged it and what it held. For "
                         "the owner, and for administrators by its id. If the client leaves or the server is "
                         "killed, the purge goes on.",
              .query = {{.name = "purge",
                         .type = FieldType::boolean,
                         .about = "Permanently deletes a workspace that is in the trash."}},
              .answers = {{204, "It is in the trash."}, {200, "What was purged.", "PurgeResult"}},
              .errors = {Code::forbidden, Code::not_found, Code::conflict, Code::precondition_failed,
                         Code::locked, Code::too_many_requests, Code::unavailable},
              .opens_locks = true},
             trash_workspace);
  routes.add({.method = "POST",
              .pattern = kWorkspace + "/restore",
              .id = "restore_workspace",
              .tag = "workspaces",
              .summary = "Restores a workspace from the trash",
              .body_kind = BodyKind::json,
              .answers = {{200, "The workspace, under its name or \"name (2)\".", "Workspace"}},
              .errors = {Code::forbidden, Code::not_found, Code::quota_exceeded}},
             restore_workspace);
}

}  // namespace

void add_workspace_routes(Routes& routes) {
  routes.add({.method = "GET",
              .pattern = kWorkspaces,
              .id = "list_workspaces",
              .tag = "workspaces",
              .summary = "Lists the workspaces that the key opens",
              .query = {{.name = "trashed",
                         .type = FieldType::boolean,
                         .about = "List the trashed workspaces instead."},
                        {.name = "all",
                         .type = FieldType::boolean,
                         .about = "All workspaces of the server, with their figures; for administrators."}},
              .answers = {{200, "The workspaces.", "WorkspaceList"}},
              .errors = {Code::forbidden}},
             list_workspaces);
  routes.add({.method = "POST",
              .pattern = kWorkspaces,
              .id = "create_workspace",
              .tag = "workspaces",
              .summary = "Makes a workspace",
              .body_kind = BodyKind::json,
              .body = {{.name = "name", .about = "Unique among yours.", .required = true},
                       {.name = "quota_bytes",
                        .type = FieldType::integer,
                        .about = "Default: the server's setting."}},
              .answers = {{201, "The workspace.", "Workspace"}},
              .errors = {Code::forbidden, Code::conflict, Code::quota_exceeded}},
             create_workspace);
  add_one_workspace_routes(routes);
  add_member_routes(routes);
}

}  // namespace sk::api::rest
