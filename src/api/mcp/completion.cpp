// completion/complete: names of workspaces, paths and sessions while a person types them.
#include "api/mcp/hub.h"
#include "api/mcp/resources.h"
#include "base/path.h"
#include "base/text.h"

namespace sk::api::mcp {

namespace {

constexpr size_t kValuesMax = 100;  // required by the protocol
constexpr size_t kLookMax = 1000;

using Values = std::vector<std::string>;

Values workspaces(Turn& turn, const std::string& typed) {
  Values values;
  for (const auto& workspace : turn.call.app.keep.workspaces().list(turn.call.actor)) {
    auto id = workspace.id.with_prefix(workspace::prefix::workspace);
    if (workspace.name.starts_with(typed)) values.push_back(workspace.name);
    if (!typed.empty() && id.starts_with(typed)) values.push_back(id);
  }
  return values;
}

// Returns the entries of the folder typed so far. Folders end with '/', so that the person can continue.
Values paths(Turn& turn, const std::string& workspace_name, const std::string& typed) {
  auto& keep = turn.call.app.keep;
  auto workspace = workspace_name.empty() ? keep.workspaces().open_default(turn.call.actor)
                                          : keep.workspaces().open(turn.call.actor, workspace_name);
  auto slash = typed.rfind('/');
  std::string folder = slash == std::string::npos ? "" : typed.substr(0, slash);
  workspace::ListOptions options{
      .folder = clean_path(folder), .recursive = false, .glob = {}, .cursor = {}, .limit = kLookMax};
  Values values;
  for (const auto& entry : keep.files().list(workspace, options).items) {
    auto value = entry.kind == workspace::EntryKind::folder ? entry.path + "/" : entry.path;
    if (value.starts_with(typed)) values.push_back(value);
  }
  return values;
}

Values sessions(Turn& turn, const std::string& typed) {
  Values values;
  auto& interpreter = turn.call.app.interpreter;
  if (!interpreter.runs_code()) return values;
  interpreter::SessionQuery newest;
  newest.limit = kValuesMax;
  for (const auto& session : interpreter.list(turn.call.actor, newest)) {
    auto id = session.id.with_prefix(workspace::prefix::session);
    if (id.starts_with(typed)) values.push_back(id);
  }
  return values;
}

Values values_for(Turn& turn, const std::string& argument, const std::string& typed) {
  const auto& given = field_in(field_in(turn.params(), "context"), "arguments");
  auto text_of = [&](std::string_view name) {
    const auto& value = field_in(given, name);
    return value.is_string() ? value.get<std::string>() : std::string();
  };
  try {
    if (argument == "ws" || argument == "workspace") return workspaces(turn, typed);
    if (argument == "path") return paths(turn, text_of("ws") + text_of("workspace"), typed);
    if (argument == "session") return sessions(turn, typed);
  } catch (const Error& error) {
    // A missing workspace or folder has no completions.
    if (error.code() != Code::not_found && error.code() != Code::bad_request) throw;
  }
  return {};
}

}  // namespace

std::optional<Json> complete(Turn& turn) {
  const auto& argument = field_in(turn.params(), "argument");
  const auto& reference = field_in(turn.params(), "ref");
  auto type = need_text(reference, "type");
  if (type != "ref/prompt" && type != "ref/resource")
    throw RpcError(rpc_code::invalid_params, "params.ref.type must be ref/prompt or ref/resource");
  need_text(reference, type == "ref/prompt" ? "name" : "uri");
  auto values = values_for(turn, need_text(argument, "name"), need_text(argument, "value"));
  auto total = values.size();
  if (values.size() > kValuesMax) values.resize(kValuesMax);
  return Json{{"completion", {{"values", values}, {"total", total}, {"hasMore", total > values.size()}}}};
}

}  // namespace sk::api::mcp
