// write_file, edit_file and upload: new content. Every write creates a new version; none overwrites.
#include "api/common/upload.h"
#include "api/mcp/hub.h"
#include "api/mcp/tools/content.h"
#include "base/path.h"
#include "base/text.h"
#include "workspace/links.h"

namespace sk::api::mcp {

namespace {

using workspace::Right;
namespace prefix = workspace::prefix;

constexpr size_t kEditBytesMax = 8 << 20;
constexpr size_t kEditsMax = 100;

ToolResult written(ToolCall& call, const workspace::ChangeResult& change) {
  const auto& version = *change.version;
  ToolResult result;
  result.text = markdown_link(version.id, version.path, call.base_url());
  result.text.append(change.unchanged ? " has these bytes already: "
                     : change.created ? " created: "
                                      : " changed: ");
  result.text.append("version ").append(std::to_string(version.number)).append(", ");
  result.text.append(version.id.with_prefix(prefix::version))
      .append(", ")
      .append(human_size(version.size))
      .append("\n");
  if (!is_within(version.path, kCodeFolder))
    result.text += "Code does not see this path: only what is below `data/` is in /mnt/data.\n";
  result.structured = {{"path", version.path},
                       {"file_id", version.file.with_prefix(prefix::file)},
                       {"version_id", version.id.with_prefix(prefix::version)},
                       {"number", version.number},
                       {"size", version.size},
                       {"created", change.created},
                       {"unchanged", change.unchanged},
                       {"link", call.base_url() + workspace::Links::path_of(version)}};
  result.blocks.push_back(link_block(version.id, version.path, version.mime, version.size, call.base_url()));
  return result;
}

workspace::ChangeResult put(ToolCall& call, const workspace::Authority& workspace, std::string path,
                            std::string_view bytes, workspace::Conditions conditions) {
  workspace::PutChange change;
  change.path = std::move(path);
  change.conditions = std::move(conditions);
  change.source.detail = {{"via", "mcp"}};
  workspace::Intake intake(call.app().keep.context());
  intake.write(bytes);
  change.content = intake.finish();
  return call.app().keep.files().apply_one(workspace, std::move(change));
}

std::optional<ToolResult> write_file(ToolCall& call) {
  auto workspace = call.open_workspace(Right::write);
  auto path = call.file_path("path");
  auto text = call.text("text");
  auto base64 = call.text("base64");
  if (text.has_value() == base64.has_value())
    throw Error(Code::bad_request, "pass either 'text' or 'base64'");
  auto bytes = text ? text : from_base64(*base64);
  if (!bytes) throw Error(Code::bad_request, "'base64' is not valid base64 with padding");
  return written(call, put(call, workspace, path, *bytes, call.conditions()));
}

// Replaces each `old`, which must occur exactly once unless `all` is set.
std::string edited(std::string text, const Json& edits) {
  for (const auto& edit : edits) {
    auto old_text = edit["old"].get<std::string>(), new_text = edit["new"].get<std::string>();
    if (old_text.empty()) throw Error(Code::bad_request, "'old' must not be empty");
    bool all = field_in(edit, "all") == true;
    auto at = text.find(old_text);
    if (at == std::string::npos)
      throw Error(Code::bad_request,
                  "the text to replace is not in the file: " + as_code(old_text.substr(0, 200)))
          .hint("It must match exactly, with its spaces and line breaks; read_file shows the text.");
    if (!all && text.find(old_text, at + 1) != std::string::npos)
      throw Error(Code::bad_request,
                  "the text to replace is there more than once: " + as_code(old_text.substr(0, 200)))
          .hint("Give more of the text around it, or set 'all'.");
    for (; at != std::string::npos;
         at = all ? text.find(old_text, at + new_text.size()) : std::string::npos) {
      text.replace(at, old_text.size(), new_text);
      if (text.size() > 2 * kEditBytesMax) throw Error(Code::too_large, "the edited text is too large");
    }
  }
  return text;
}

std::optional<ToolResult> edit_file(ToolCall& call) {
  auto workspace = call.open_workspace(Right::write);
  auto& files = call.app().keep.files();
  auto entry = files.get(workspace, call.file_path("path"));
  if (entry.kind != workspace::EntryKind::file)
    throw Error(Code::bad_request, "'" + entry.path + "' is a folder");
  auto conditions = call.conditions();
  files.check_put(workspace, entry.path, conditions);
  auto version = files.find_version(workspace, entry.head);
  if (!version) throw Error(Code::not_found, "the file was purged just now");
  auto text = read_whole(call.app().keep.context(), *version, kEditBytesMax);
  if (!is_utf8(text))
    throw Error(Code::bad_request, "the file is not text in UTF-8").hint("Change it with run_python.");
  // Replaces only the version that was read. The write fails if another write came in between, instead of
  // reverting it.
  if (conditions.if_match.empty()) conditions.if_match.push_back(entry.head);
  auto bytes = edited(std::move(text), call.arguments["edits"]);
  return written(call, put(call, workspace, entry.path, bytes, std::move(conditions)));
}

std::optional<ToolResult> upload(ToolCall& call) {
  auto workspace = call.open_workspace(Right::write);
  auto [folder, name] = split_path(call.file_path("path"));
  std::string url =
      call.base_url() + "/blob?workspace=" + workspace.workspace_id().with_prefix(prefix::workspace);
  if (!folder.empty()) url += "&folder=" + percent_encode(folder);
  url += "&name=" + percent_encode(name);
  std::string curl =
      "curl --fail-with-body -X POST -H \"Authorization: Bearer $SANDKEEP_KEY\" "
      "-H \"Content-Type: application/octet-stream\" -T LOCAL_FILE '" +
      url + "'";
  ToolResult result;
  result.text =
      "Run this where the file is, with your key in SANDKEEP_KEY and its path instead of LOCAL_FILE; the "
      "answer has its version id and link. Any size; it is streamed.\n\n```sh\n" +
      curl + "\n```\n";
  result.structured = {{"url", url}, {"method", "POST"}, {"curl", curl}};
  return result;
}

Json precondition_fields(Json input) {
  input["if_version"] = field::text("Only if this is still the current version.");
  input["lock_token"] = field::text("The token of your lock.");
  input["workspace"] = field::workspace();
  return input;
}

Json written_schema() {
  return {{"path", field::any("string")},     {"version_id", field::any("string")},
          {"number", field::any("integer")},  {"size", field::any("integer")},
          {"created", field::any("boolean")}, {"unchanged", field::any("boolean")},
          {"link", field::any("string")}};
}

Json edits_schema() {
  return {{"type", "array"},
          {"maxItems", kEditsMax},
          {"items",
           {{"type", "object"},
            {"properties",
             {{"old", field::text("Exact text.")},
              {"new", field::text("The replacement.")},
              {"all", field::flag("Whether to replace every occurrence, instead of exactly one.")}}},
            {"required", {"old", "new"}},
            {"additionalProperties", false}}}};
}

}  // namespace

Tools write_tools() {
  auto write_input =
      precondition_fields({{"path", field::text("Missing folders are created.", "data/notes.md")},
                           {"text", field::text("The whole content.")},
                           {"base64", field::text("The whole content as base64, for bytes.")},
                           {"only_new", field::flag("Fail if the path exists.")}});
  return {
      {.name = "write_file",
       .title = "Write a file",
       .about = "Writes a file; an existing file gets a new version. Returns the version.",
       .input = write_input,
       .required = {"path"},
       .output = written_schema(),
       .repeatable = true,
       .run = write_file},
      {.name = "edit_file",
       .title = "Edit a file",
       .about = "Replaces exact text in a text file. Applies all edits or none; fails if another client "
                "wrote the file meanwhile.",
       .input = precondition_fields({{"path", field::text("The file.")}, {"edits", edits_schema()}}),
       .required = {"path", "edits"},
       .output = written_schema(),
       .run = edit_file},
      {.name = "upload",
       .title = "Upload a local file",
       .about =
           "Returns a curl command that uploads a local file of any size. For small content, use write_file.",
       .input = {{"path", field::text("The target path.", "data/sales.parquet")},
                 {"workspace", field::workspace()}},
       .required = {"path"},
       .output = {{"url", field::any("string")}, {"curl", field::any("string")}},
       .repeatable = true,
       .run = upload},
  };
}

}  // namespace sk::api::mcp
