// list_workspaces and create_workspace.
#include "api/common/shapes.h"
#include "api/mcp/hub.h"
#include "base/text.h"

namespace sk::api::mcp {

namespace {

namespace prefix = workspace::prefix;

Json facts_of(const workspace::Workspace& workspace) {
  return {{"id", workspace.id.with_prefix(prefix::workspace)},
          {"name", workspace.name},
          {"role", role_name(workspace.role)},
          {"used_bytes", workspace.used_bytes},
          {"quota_bytes", workspace.quota_bytes}};
}

std::string line_of(const workspace::Workspace& workspace) {
  std::string out = "- " + as_code(workspace.name) + " " + workspace.id.with_prefix(prefix::workspace);
  out.append(", your role is ")
      .append(role_name(workspace.role))
      .append(", ")
      .append(human_size(workspace.used_bytes));
  return out.append(" of ").append(human_size(workspace.quota_bytes)).append("\n");
}

std::optional<ToolResult> list_workspaces(ToolCall& call) {
  ToolResult result;
  Json items = Json::array();
  for (const auto& workspace : call.app().keep.workspaces().list(call.actor())) {
    items.push_back(facts_of(workspace));
    result.text += line_of(workspace);
  }
  if (items.empty()) result.text = "No workspace yet; create one with create_workspace.\n";
  result.structured = {{"workspaces", std::move(items)}};
  return result;
}

std::optional<ToolResult> create_workspace(ToolCall& call) {
  auto workspace = call.app().keep.workspaces().create(call.actor(), call.need_text("name"));
  ToolResult result;
  result.text = "Created:\n" + line_of(workspace) + "Pass its name as `workspace` to the other tools.\n";
  result.structured = facts_of(workspace);
  return result;
}

}  // namespace

Tools workspace_tools() {
  return {
      {.name = "list_workspaces",
       .title = "List workspaces",
       .about = "Lists the workspaces that you may use.",
       .input = Json::object(),
       .output = {{"workspaces", field::list_of({"id", "name", "role", "used_bytes", "quota_bytes"})}},
       .reads_only = true,
       .run = list_workspaces},
      {.name = "create_workspace",
       .title = "Make a workspace",
       .about = "Creates a workspace. You are its owner.",
       .input = {{"name", field::text("For people.", "quarterly report")}},
       .required = {"name"},
       .output = {{"id", field::any("string")}, {"name", field::any("string")}},
       .run = create_workspace},
  };
}

}  // namespace sk::api::mcp
