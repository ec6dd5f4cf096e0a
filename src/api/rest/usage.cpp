// Routes that report the usage of a principal and of a workspace, with the limit of each figure.
#include "workspace/usage.h"

#include "api/common/shapes.h"
#include "api/rest/rest.h"

namespace sk::api::rest {

namespace {

using http::Reply;
using workspace::Amount;
namespace prefix = workspace::prefix;

Json amount_json(const Amount& amount) { return {{"bytes", amount.bytes}, {"count", amount.count}}; }

Json usage_json(const workspace::PrincipalUsage& usage, size_t sessions_running) {
  const auto& limits = usage.limits;
  // A quota of 0 is none.
  bool has_quota = limits.quota_bytes.value_or(0) > 0;
  return {{"principal_id", usage.principal.with_prefix(prefix::principal)},
          {"bytes", usage.bytes},
          {"quota_bytes", has_quota ? Json(*limits.quota_bytes) : Json()},
          {"contents", {{"bytes", usage.contents_bytes}}},
          {"versions", amount_json(usage.versions)},
          {"uploads", amount_json(usage.uploads)},
          {"messages", amount_json(usage.messages)},
          {"executions", amount_json(usage.executions)},
          {"journal", amount_json(usage.journal)},
          {"entries", amount_json(usage.entries)},
          {"trashed_workspaces", amount_json(usage.trashed_workspaces)},
          {"purged_workspaces", amount_json(usage.purged_workspaces)},
          {"workspaces",
           {{"count", usage.workspaces},
            {"in_trash", usage.trashed_workspaces.count},
            {"max", *limits.workspaces_max}}},
          {"keys", {{"count", usage.keys}, {"max", *limits.keys_max}}},
          {"sessions_kept", {{"count", usage.sessions_kept}, {"max", *limits.sessions_kept_max}}},
          {"sessions_running", {{"count", sessions_running}, {"max", *limits.sessions_max}}}};
}

Reply get_usage(Call& call) {
  auto principal = call.actor.principal();
  if (auto text = call.query.text("principal")) principal = parse_id(*text, prefix::principal, "principal");
  call.note("read", "usage");
  auto usage = call.app.keep.quotas().of_principal(call.actor, principal,
                                                   call.app.settings.sessions_per_principal_max);
  return Reply::json(usage_json(usage, call.app.interpreter.count_awake(principal)));
}

Reply get_workspace_usage(Call& call) {
  auto authority = call.look_at_workspace();
  auto usage = call.app.keep.quotas().of_workspace(authority);
  call.note("read", "usage");
  return Reply::json({{"workspace_id", authority.workspace_id().with_prefix(prefix::workspace)},
                      {"quota_bytes", usage.quota_bytes},
                      {"counted_bytes", usage.counted_bytes},
                      {"contents", amount_json(usage.contents)},
                      {"versions", amount_json(usage.versions)},
                      {"trash", amount_json(usage.trash)},
                      {"uploads", amount_json(usage.uploads)},
                      {"messages", amount_json(usage.messages)},
                      {"executions", amount_json(usage.executions)},
                      {"journal", amount_json(usage.journal)},
                      {"entries", amount_json(usage.entries)}});
}

}  // namespace

void add_usage_routes(Routes& routes) {
  routes.add({.method = "GET",
              .pattern = kRoot + "/usage",
              .id = "get_usage",
              .tag = "workspaces",
              .summary = "Returns what your workspaces keep together, and your limits",
              .details = "`bytes` is the sum of contents, messages, executions, journal and entries of all "
                         "workspaces that you own, whoever wrote to them, and of purged_workspaces; "
                         "`quota_bytes` is its limit, or null. `versions` and `uploads` are parts of "
                         "`contents`, with the sizes that files have; `trashed_workspaces` is the part of "
                         "`bytes` that workspaces in the trash hold.",
              .query = {{.name = "principal", .about = "The id of another principal; for administrators."}},
              .answers = {{200, "The figures.", "Usage"}},
              .errors = {Code::forbidden, Code::not_found}},
             get_usage);
  routes.add(
      {.method = "GET",
       .pattern = kWorkspace + "/usage",
       .id = "get_workspace_usage",
       .tag = "workspaces",
       .summary = "Returns what a workspace keeps, by kind",
       .details = "`counted_bytes` counts for the quota: `contents`, which are the distinct bytes of "
                  "all versions, trash and unfinished uploads, and messages, executions, journal and "
                  "entries (the rows of files, versions and their former places) beyond their first "
                  "MiB. `versions`, `trash` and `uploads` are parts of `contents`, with the sizes that "
                  "files have. Administrators may ask for every workspace by its id.",
       .answers = {{200, "The figures.", "WorkspaceUsage"}},
       .errors = {Code::forbidden, Code::not_found}},
      get_workspace_usage);
}

}  // namespace sk::api::rest
