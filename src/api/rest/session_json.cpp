#include "api/rest/session_json.h"

#include "api/common/shapes.h"
#include "workspace/links.h"

namespace sk::api::rest {

namespace {

constexpr size_t kKeptInAnswerMax = 1'000;

Json time_or_null(TimeUs time_us) { return time_us == 0 ? Json() : Json(to_iso8601(time_us)); }

const Fields kAddedFileFields = {{.name = "path", .about = ""},
                                 {.name = "version", .about = ""},
                                 {.name = "workspace", .about = ""},
                                 {.name = "as", .about = ""}};

Json added_json(const std::vector<std::pair<std::string, std::string>>& added) {
  Json list = Json::array();
  for (const auto& [asked, path] : added) list.push_back({{"asked", asked}, {"path", path}});
  return list;
}

}  // namespace

std::vector<interpreter::AddedFile> added_files(const Body& body, const workspace::Conditions& conditions) {
  std::vector<interpreter::AddedFile> files;
  for (const auto& item : body.objects("files")) {
    std::string where = "files[" + std::to_string(files.size()) + "].";
    Body fields(kAddedFileFields, item, where);
    interpreter::AddedFile file;
    file.conditions = conditions;
    file.workspace = fields.text("workspace").value_or("");
    file.path = fields.text("path").value_or("");
    file.as = fields.text("as").value_or("");
    if (auto version = fields.text("version"))
      file.version = parse_id(*version, workspace::prefix::version, fields.label("version"));
    if (file.path.empty() == !file.version)
      throw Error(Code::bad_request, where + "path or " + where + "version must be given, not both")
          .with("field", where + "path");
    files.push_back(std::move(file));
  }
  return files;
}

Field added_files_field() {
  return {.name = "files",
          .type = FieldType::object_list,
          .about =
              "Files and folders to copy into the folder: `path` or `version`, `workspace` if it is another "
              "one, `as` for another name. The answer's `added` has the new path of each."};
}

Id session_id(const Call& call) {
  return parse_id(call.request.param("session"), workspace::prefix::session, "session");
}

Id execution_id(const Call& call) {
  return parse_id(call.request.param("execution"), workspace::prefix::execution, "execution");
}

Json session_json(const interpreter::SessionInfo& session) {
  bool expires = session.status == interpreter::SessionStatus::running && session.idle_s > 0;
  return {
      {"id", session.id.with_prefix(workspace::prefix::session)},
      {"name", session.name},
      {"workspace_id", session.workspace.with_prefix(workspace::prefix::workspace)},
      {"folder", session.folder},
      {"status", interpreter::name_of(session.status)},
      {"memory_bytes", session.memory_bytes},
      {"timeout_s", session.timeout_s},
      {"idle_minutes", session.idle_s / 60},
      {"runtime", session.runtime},
      {"environment", session.environment},
      {"labels", session.labels},
      {"added", added_json(session.added)},
      {"execution_count", session.execution_count},
      {"created_at", to_iso8601(session.created_us)},
      {"active_at", to_iso8601(session.active_us)},
      {"expires_at", expires ? Json(to_iso8601(session.active_us + session.idle_s * kSecondUs)) : Json()}};
}

Json kept_json(const interpreter::KeptFile& file, const std::string& base_url) {
  return {{"path", file.path},
          {"file_id", file.file.with_prefix(workspace::prefix::file)},
          {"version_id", file.version.with_prefix(workspace::prefix::version)},
          {"link", base_url + workspace::Links::path_of(file.version, file.path)},
          {"size", file.size},
          {"sha256", file.sha256.hex()},
          {"mime", file.mime},
          {"change", interpreter::name_of(file.change)},
          {"complete", file.complete},
          {"diverged", file.diverged},
          {"locked", file.locked}};
}

Json unkept_json(const interpreter::Unkept& item, const std::string& base_url) {
  return {
      {"path", item.path},
      {"what", interpreter::name_of(item.what)},
      {"reason", interpreter::name_of(item.reason)},
      {"message", item.message},
      {"version_id", item.version ? Json(item.version.with_prefix(workspace::prefix::version)) : Json()},
      {"link", item.version ? Json(base_url + workspace::Links::path_of(item.version, item.path)) : Json()},
      {"only_copy", item.only_copy}};
}

Json execution_json(const interpreter::Execution& execution, const std::string& base_url) {
  Json kept = Json::array(), renamed = Json::array(), not_kept = Json::array();
  const size_t shown = execution.files.kept_to_show(kKeptInAnswerMax);
  for (size_t i = 0; i < shown; ++i) kept.push_back(kept_json(execution.files.kept[i], base_url));
  for (const auto& [from, to] : execution.files.renamed) renamed.push_back({{"from", from}, {"to", to}});
  for (const auto& item : execution.files.not_kept)
    not_kept.push_back({{"path", item.path},
                        {"reason", interpreter::name_of(item.reason)},
                        {"message", item.message.text()}});
  return {{"id", execution.id.with_prefix(workspace::prefix::execution)},
          {"session_id", execution.session.with_prefix(workspace::prefix::session)},
          {"number", execution.number},
          {"language", execution.language},
          {"code", execution.code},
          {"status", interpreter::name_of(execution.status)},
          {"end", execution.outcome ? Json(interpreter::name_of(*execution.outcome)) : Json()},
          {"message", execution.message},
          {"exit_code", execution.exit_code ? Json(*execution.exit_code) : Json()},
          {"woke", execution.woke},
          {"added", added_json(execution.added)},
          {"outputs", interpreter::to_json(execution.outputs)},
          {"kept", kept},
          {"kept_more", execution.files.kept.size() > kept.size()},
          {"folders", execution.files.folders},
          {"renamed", renamed},
          {"deleted", execution.files.deleted},
          {"not_kept", not_kept},
          {"left_out", execution.files.left_out},
          {"timings", execution.timings},
          {"created_at", to_iso8601(execution.created_us)},
          {"started_at", time_or_null(execution.started_us)},
          {"ended_at", time_or_null(execution.ended_us)}};
}

}  // namespace sk::api::rest
