#include "api/mcp/tool.h"

#include "api/common/advice_words.h"
#include "api/common/fields.h"
#include "api/mcp/resource_uri.h"
#include "base/object_writer.h"
#include "base/path.h"
#include "base/text.h"
#include "workspace/links.h"

namespace sk::api::mcp {

namespace {

constexpr std::string_view kMount = "/mnt/data";

}  // namespace

Json ToolResult::to_json() const {
  if (!raw.is_null()) return raw;
  Json content = Json::array();
  content.push_back({{"type", "text"}, {"text", text}});
  if (!meta.is_null()) content[0]["_meta"] = meta;
  for (const auto& block : blocks) content.push_back(block);
  ObjectWriter out(4);
  out.add("content", std::move(content)).add("structuredContent", structured).add("isError", is_error);
  if (!meta.is_null()) out.add("_meta", meta);
  return out.take();
}

ToolResult failed(const Error& error) {
  auto hint = hint_for(Audience::tools, error);
  Json facts = {{"code", info(error.code()).name}, {"message", error.message()}, {"hint", hint}};
  ToolResult result;
  result.text.append("**").append(info(error.code()).name).append("**: ").append(error.message());
  if (!hint.empty()) result.text.append("\n\n").append(hint);
  for (const auto& [name, value] : error.facts()) {
    std::visit([&, &key = name](const auto& fact) { facts[key] = fact; }, value);
    const auto& fact = facts[name];
    if (fact == "") continue;
    result.text.append("\n- ").append(name).append(": ");
    result.text.append(fact.is_string() ? as_code(fact.get<std::string>()) : fact.dump());
  }
  result.structured = {{"error", std::move(facts)}};
  result.is_error = true;
  return result;
}

ToolResult failed(std::string_view code, std::string message, std::string hint) {
  ToolResult result;
  result.text.append("**").append(code).append("**: ").append(message);
  if (!hint.empty()) result.text.append("\n\n").append(hint);
  result.structured = {{"error", {{"code", code}, {"message", message}, {"hint", hint}}}};
  result.is_error = true;
  return result;
}

std::optional<std::string> ToolCall::text(std::string_view name) const {
  const auto& value = field_in(arguments, name);
  return value.is_string() ? std::optional(value.get<std::string>()) : std::nullopt;
}

std::string ToolCall::need_text(std::string_view name) const {
  auto value = text(name);
  if (!value) throw Error(Code::bad_request, "'" + std::string(name) + "' is missing");
  return *value;
}

std::optional<int64_t> ToolCall::integer(std::string_view name) const {
  const auto& value = field_in(arguments, name);
  if (value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX) return INT64_MAX;
  // The schema was validated: a float is an integer value.
  return value.is_number() ? std::optional(value.get<int64_t>()) : std::nullopt;
}

bool ToolCall::flag(std::string_view name) const { return field_in(arguments, name) == true; }

std::vector<std::string> ToolCall::texts(std::string_view name) const {
  std::vector<std::string> out;
  for (const auto& item : field_in(arguments, name))
    if (item.is_string()) out.push_back(item.get<std::string>());
  return out;
}

workspace::Authority ToolCall::open_workspace(workspace::Right right) const {
  if (auto name = text("workspace")) return turn.call.open_workspace(*name, right);
  auto id = app().keep.workspaces().open_default(actor(), right).workspace_id();
  return turn.call.open_workspace(id.with_prefix(workspace::prefix::workspace), right);
}

std::string from_code_path(std::string_view path) {
  if (!path.starts_with(kMount)) return std::string(path);
  auto rest = path.substr(kMount.size());
  if (!rest.empty() && rest.front() != '/') return std::string(path);
  return std::string(kCodeFolder).append(rest);
}

std::string ToolCall::path(std::string_view name) const {
  return clean_path(from_code_path(text(name).value_or("")));
}

std::string ToolCall::file_path(std::string_view name) const {
  return clean_file_path(from_code_path(need_text(name)));
}

workspace::Conditions ToolCall::conditions() const {
  workspace::Conditions conditions;
  if (auto version = text("if_version"))
    conditions.if_match.push_back(parse_id(*version, workspace::prefix::version, "if_version"));
  conditions.if_none_match_any = flag("only_new");
  if (auto token = text("lock_token")) conditions.lock_tokens.push_back(*token);
  return conditions;
}

Json Tool::input_schema() const {
  if (!raw_input.is_null()) return raw_input;
  Json schema = {{"type", "object"}, {"properties", input.is_null() ? Json::object() : input}};
  if (!required.empty()) schema["required"] = required;
  schema["additionalProperties"] = false;
  return schema;
}

Json Tool::to_json(const std::string& version) const {
  Json out = {{"name", name}};
  if (!title.empty()) out["title"] = title;
  out["description"] = about;
  out["inputSchema"] = input_schema();
  if (!output.is_null()) out["outputSchema"] = {{"type", "object"}, {"properties", output}};
  Json hints = {{"readOnlyHint", reads_only}};
  if (!reads_only) {
    hints["destructiveHint"] = destroys;
    hints["idempotentHint"] = repeatable;
  }
  hints["openWorldHint"] = false;
  out["annotations"] = std::move(hints);
  if (has_tasks && version == kNewestLegacyVersion) out["execution"] = {{"taskSupport", "optional"}};
  return out;
}

Tools all_tools() {
  Tools all;
  for (auto group : {run_tools, unkept_tools, file_tools, write_tools, change_tools, history_tools,
                     lock_tools, workspace_tools, conversation_tools})
    for (auto& tool : group()) all.push_back(std::move(tool));
  return all;
}

std::string as_code(std::string_view name) {
  std::string out = "`";
  for (char c : name) {
    auto byte = static_cast<unsigned char>(c);
    out += byte < 0x20 || byte == 0x7f ? ' ' : c == '`' ? '\'' : c;
  }
  return out + "`";
}

Json link_block(const Id& version, std::string_view path, std::string_view mime, uint64_t size,
                const std::string& base_url) {
  return {{"type", "resource_link"},
          {"uri", version_uri(version)},
          {"name", split_path(path).second},
          {"title", path},
          {"mimeType", mime},
          {"size", size},
          {"_meta",
           {{"link", base_url + workspace::Links::path_of(version, path)},
            {"version_id", version.with_prefix(workspace::prefix::version)},
            {"file_id", version.with_prefix("cfile_")}}}};
}

std::string markdown_link(const Id& version, std::string_view path, const std::string& base_url) {
  std::string out = "[";
  for (char c : path) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '[' || c == ']' || c == '\\' || c == '`' || c == '*' || c == '_' || c == '<') out += '\\';
    out += byte < 0x20 || byte == 0x7f ? ' ' : c;
  }
  return out.append("](").append(base_url).append(workspace::Links::path_of(version, path)).append(")");
}

namespace field {

Json text(std::string_view about) { return {{"type", "string"}, {"description", about}}; }

Json text(std::string_view about, Json example) {
  return {{"type", "string"}, {"description", about}, {"examples", Json::array({std::move(example)})}};
}

Json integer(std::string_view about, int64_t least) {
  return {{"type", "integer"}, {"description", about}, {"minimum", least}};
}

Json integer(std::string_view about, int64_t least, int64_t most) {
  return {{"type", "integer"}, {"description", about}, {"minimum", least}, {"maximum", most}};
}

Json flag(std::string_view about) { return {{"type", "boolean"}, {"description", about}}; }

Json choice(std::string_view about, std::vector<std::string> choices) {
  return {{"type", "string"}, {"description", about}, {"enum", std::move(choices)}};
}

Json texts(std::string_view about) {
  return {{"type", "array"}, {"items", {{"type", "string"}}}, {"description", about}};
}

Json workspace() { return text("Id or name. Default: your default workspace."); }

Json any(std::string_view type) { return {{"type", type}}; }

Json list_of(std::vector<std::string> names) {
  Json properties = Json::object();
  for (auto& name : names) properties[name] = Json::object();
  return {{"type", "array"}, {"items", {{"type", "object"}, {"properties", std::move(properties)}}}};
}

}  // namespace field

}  // namespace sk::api::mcp
