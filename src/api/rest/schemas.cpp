// JSON Schema (2020-12) of every object in answers. api/common/shapes.cpp writes the objects; an end-to-end
// test compares the two.
#include "api/rest/openapi.h"

namespace sk::api::rest {

namespace {

using Properties = std::vector<std::pair<std::string, Json>>;

Json text() { return {{"type", "string"}}; }
Json text_or_null() { return {{"type", {"string", "null"}}}; }
Json number() { return {{"type", "integer"}}; }
Json number_or_null() { return {{"type", {"integer", "null"}}}; }
Json real() { return {{"type", "number"}}; }
Json real_or_null() { return {{"type", {"number", "null"}}}; }
Json boolean() { return {{"type", "boolean"}}; }
Json time() { return {{"type", "string"}, {"format", "date-time"}}; }
Json time_or_null() { return {{"type", {"string", "null"}}, {"format", "date-time"}}; }
Json url() { return {{"type", "string"}, {"format", "uri"}}; }
Json choice(std::vector<std::string> values) { return {{"type", "string"}, {"enum", std::move(values)}}; }
Json id(const std::string& prefix) {
  return {{"type", "string"}, {"pattern", "^" + prefix + "[0-9a-f]{32}$"}};
}
Json id_or_null(const std::string& prefix) {
  return {{"type", {"string", "null"}}, {"pattern", "^" + prefix + "[0-9a-f]{32}$"}};
}
Json sha256() { return {{"type", "string"}, {"pattern", "^[0-9a-f]{64}$"}}; }
Json list_of(Json items) { return {{"type", "array"}, {"items", std::move(items)}}; }

// A closed object. `optional` fields may be absent.
Json object(const Properties& required, const Properties& optional = {}) {
  Json properties = Json::object();
  Json names = Json::array();
  for (const auto& [name, schema] : required) {
    properties[name] = schema;
    names.push_back(name);
  }
  for (const auto& [name, schema] : optional) properties[name] = schema;
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(names)},
          {"additionalProperties", false}};
}

Json page_of(const std::string& name) {
  return object(
      {{"items", list_of(schema_ref(name))}, {"has_more", boolean()}, {"next_cursor", text_or_null()}});
}

Json named(const std::string& prefix) { return object({{"id", id(prefix)}, {"name", text()}}); }

Json entry_schema() {
  return object({{"id", id_or_null("f_")},
                 {"workspace_id", id("ws_")},
                 {"path", text()},
                 {"name", text()},
                 {"kind", choice({"file", "folder"})},
                 {"size", number()},
                 {"sha256", {{"type", {"string", "null"}}, {"pattern", "^[0-9a-f]{64}$"}}},
                 {"mime", text_or_null()},
                 {"mode", {{"type", "string"}, {"pattern", "^[0-7]{4}$"}}},
                 {"mtime", time()},
                 {"created_at", time()},
                 {"changed_at", time()},
                 {"version_id", id_or_null("v_")},
                 {"version_count", number()},
                 {"diverged", boolean()},
                 {"link", {{"type", {"string", "null"}}, {"format", "uri"}}}},
                {{"trashed_at", time()}});
}

Json version_schema() {
  Json source = {{"type", "object"},
                 {"properties", {{"kind", choice({"upload", "execution", "import", "restore", "copy"})}}},
                 {"required", {"kind"}}};
  return object({{"id", id("v_")},
                 {"file_id", id("f_")},
                 {"workspace_id", id("ws_")},
                 {"path", text()},
                 {"number", number()},
                 {"size", number()},
                 {"sha256", sha256()},
                 {"mime", text()},
                 {"mode", {{"type", "string"}, {"pattern", "^[0-7]{4}$"}}},
                 {"mtime", time()},
                 {"base_id", id_or_null("v_")},
                 {"created_at", time()},
                 {"author", named("p_")},
                 {"source", std::move(source)},
                 {"complete", boolean()},
                 {"is_head", boolean()},
                 {"link", url()}},
                {{"signed_link", url()}});
}

void add_file_schemas(Json& out) {
  out["Entry"] = entry_schema();
  out["EntryPage"] = page_of("Entry");
  out["Version"] = version_schema();
  out["VersionPage"] = page_of("Version");
  out["ChangeResult"] = object({{"entry", schema_ref("Entry")},
                                {"created", boolean()},
                                {"unchanged", boolean()},
                                {"diverged", boolean()},
                                {"kept_aside", boolean()}},
                               {{"version", schema_ref("Version")}});
  out["ChangeResultList"] = object({{"items", list_of(schema_ref("ChangeResult"))}});
  out["RestoreResult"] = object({{"restored", number()},
                                 {"trashed", number()},
                                 {"unchanged", number()},
                                 {"purged", number()},
                                 {"dry_run", boolean()}});
  auto broken = object({{"version_id", id("v_")}, {"path", text()}, {"link", url()}});
  out["PurgeResult"] = object({{"files", number()},
                               {"versions", number()},
                               {"freed_bytes", number()},
                               {"broken_links", list_of(std::move(broken))}});
  out["BlobResult"] = object({{"file_id", id("f_")},
                              {"version_id", id("v_")},
                              {"blob_id", id("v_")},
                              {"size", number()},
                              {"sha256", sha256()},
                              {"mime", text()},
                              {"path", text()},
                              {"link", url()},
                              {"signed_link", url()}});
}

void add_access_schemas(Json& out) {
  out["PrincipalLimits"] = object({{"quota_bytes", number_or_null()},
                                   {"workspaces_max", number_or_null()},
                                   {"keys_max", number_or_null()},
                                   {"sessions_max", number_or_null()},
                                   {"sessions_kept_max", number_or_null()}});
  out["Principal"] = object({{"id", id("p_")},
                             {"name", text()},
                             {"kind", choice({"person", "agent"})},
                             {"admin", boolean()},
                             {"created_at", time()},
                             {"suspended_at", time_or_null()},
                             {"limits", schema_ref("PrincipalLimits")}});
  out["PrincipalList"] = page_of("Principal");
  out["Key"] = object({{"id", id("key_")},
                       {"principal", named("p_")},
                       {"name", text()},
                       {"hint", text()},
                       {"read_only", boolean()},
                       {"workspace_id", id_or_null("ws_")},
                       {"expires_at", time_or_null()},
                       {"revoked_at", time_or_null()},
                       {"last_used_at", time_or_null()},
                       {"created_at", time()}});
  out["KeyList"] = page_of("Key");
  out["MadeKey"] = object({{"key", schema_ref("Key")}, {"secret", text()}});
  out["Me"] = object({{"principal", object({{"id", id("p_")}, {"name", text()}, {"admin", boolean()}})},
                      {"key", object({{"id", id("key_")}, {"expires_at", time_or_null()}})},
                      {"scope", object({{"read_only", boolean()}, {"workspace_id", id_or_null("ws_")}})}});
}

void add_workspace_schemas(Json& out) {
  auto role = choice({"read", "write", "own"});
  out["Workspace"] = object({{"id", id("ws_")},
                             {"name", text()},
                             {"owner", named("p_")},
                             {"role", choice({"none", "read", "write", "own"})},
                             {"quota_bytes", number()},
                             {"used_bytes", number()},
                             {"created_at", time()}},
                            {{"trashed_at", time()}});
  out["WorkspaceList"] = page_of("Workspace");
  auto amount = object({{"bytes", number()}, {"count", number()}});
  out["WorkspaceUsage"] = object({{"workspace_id", id("ws_")},
                                  {"quota_bytes", number()},
                                  {"counted_bytes", number()},
                                  {"contents", amount},
                                  {"versions", amount},
                                  {"trash", amount},
                                  {"messages", amount},
                                  {"executions", amount},
                                  {"journal", amount}});
  auto part = object({{"count", number()}, {"max", number()}});
  out["Usage"] =
      object({{"principal_id", id("p_")},
              {"bytes", number()},
              {"quota_bytes", number_or_null()},
              {"contents", object({{"bytes", number()}})},
              {"messages", amount},
              {"executions", amount},
              {"journal", amount},
              {"workspaces", object({{"count", number()}, {"in_trash", number()}, {"max", number()}})},
              {"keys", part},
              {"sessions_kept", part},
              {"sessions_running", object({{"max", number()}})}});
  out["Member"] = object({{"principal_id", id("p_")}, {"role", role}});
  out["Lock"] = object({{"id", id("lock_")},
                        {"path", text()},
                        {"deep", boolean()},
                        {"shared", boolean()},
                        {"owner", named("p_")},
                        {"purpose", text()},
                        {"fence", number()},
                        {"created_at", time()},
                        {"expires_at", time()}},
                       {{"token", text()}});
  out["LockList"] = page_of("Lock");
  out["Event"] = object({{"seq", number()},
                         {"time", time()},
                         {"kind", text()},
                         {"actor_id", id_or_null("p_")},
                         {"facts", {{"type", "object"}}},
                         {"personal", {{"type", {"object", "null"}}}},
                         {"hash", sha256()}});
  out["EventPage"] =
      object({{"items", list_of(schema_ref("Event"))}, {"cursor", number()}, {"has_more", boolean()}});
}

void add_server_schemas(Json& out) {
  Json numbers = {{"type", "object"}, {"additionalProperties", number()}};
  Json links = {{"type", "object"}, {"additionalProperties", url()}};
  out["Status"] = object({{"status", choice({"ok"})}});
  out["Server"] = object({{"name", text()}, {"version", text()}, {"limits", numbers}, {"links", links}});
  out["OpenApi"] = {{"type", "object"}, {"required", {"openapi", "info", "paths"}}};
  out["CollectResult"] = object({{"blobs", number()}, {"orphans", number()}, {"freed_bytes", number()}});
  out["VerifyResult"] = object({{"ok", boolean()},
                                {"blobs", number()},
                                {"versions", number()},
                                {"entries", number()},
                                {"journal_entries", number()},
                                {"bytes", number()},
                                {"problems", list_of(text())}});
  Json codes = Json::array();
  for (const auto& code : all_codes()) codes.push_back(code.name);
  // An error may have further fields, such as `current_version_id`.
  Json error = {{"type", "object"},
                {"properties",
                 {{"code", {{"type", "string"}, {"enum", std::move(codes)}}},
                  {"message", text()},
                  {"hint", text()},
                  {"advice", text()},
                  {"request_id", text()}}},
                {"required", {"code", "message", "hint", "request_id"}}};
  out["Error"] = object({{"error", std::move(error)}});
}

// Load of the server, of tenants and of sessions.
void add_top_schemas(Json& out) {
  auto numbers = [](const std::vector<std::string>& names) {
    Properties properties;
    for (const auto& name : names) properties.emplace_back(name, number());
    return object(properties);
  };
  auto used = numbers({"used_bytes", "max_bytes"});
  auto jobs = numbers({"running", "waiting"});
  auto with_figures = [&](Properties first) {
    Properties figures = {{"sessions", numbers({"awake", "asleep"})},
                          {"executions", jobs},
                          {"jobs", jobs},
                          {"memory_bytes", number()},
                          {"cpu_percent", real_or_null()},
                          {"processes", number()},
                          {"calls_refused", number()},
                          {"kept_bytes", number()},
                          {"requests_per_s", real()}};
    first.insert(first.end(), figures.begin(), figures.end());
    return object(first);
  };
  auto server = object({{"memory_bytes", number()},
                        {"threads", number()},
                        {"cpu_percent", real_or_null()},
                        {"connections", numbers({"open", "idle", "with_request"})},
                        {"requests", object({{"per_s", real()},
                                             {"without_thread", number()},
                                             {"p50_ms", real_or_null()},
                                             {"p99_ms", real_or_null()}})},
                        {"body_memory", used},
                        {"output_memory", used},
                        {"catalog_writes", number()}});
  auto queue =
      object({{"name", text()}, {"threads", number()}, {"running", number()}, {"waiting", number()}});
  auto session = object({{"id", id("s_")},
                         {"name", text()},
                         {"workspace", named("ws_")},
                         {"principal", named("p_")},
                         {"state", choice({"idle", "starting", "running", "ending", "asleep"})},
                         {"running_since", time_or_null()},
                         {"awake_since", time_or_null()},
                         {"active_at", time()},
                         {"executions_waiting", number()},
                         {"memory_bytes", number()},
                         {"memory_max_bytes", number()},
                         {"cpu_percent", real_or_null()},
                         {"processes", number()},
                         {"calls_refused", number()}});
  auto other_sessions = object({{"count", number()},
                                {"executions", jobs},
                                {"memory_bytes", number()},
                                {"cpu_percent", real_or_null()},
                                {"processes", number()},
                                {"calls_refused", number()}});
  out["Top"] = object(
      {{"time", time()},
       {"uptime_s", number()},
       {"server", server},
       {"disk", numbers({"free_bytes", "total_bytes", "reserve_bytes", "catalog_bytes", "kept_bytes"})},
       {"queues", list_of(queue)},
       {"all", with_figures({{"sessions_awake_max", number()}})},
       {"tenants", list_of(with_figures({{"principal", named("p_")}}))},
       {"other_tenants", with_figures({{"count", number()}})},
       {"sessions", list_of(session)},
       {"other_sessions", other_sessions}});
}

void add_session_schemas(Json& out) {
  Json texts = {{"type", "object"}, {"additionalProperties", text()}};
  Json added = object({{"asked", text()}, {"path", text()}});
  out["Session"] = object({{"id", id("s_")},
                           {"name", text()},
                           {"workspace_id", id("ws_")},
                           {"folder", text()},
                           {"status", choice({"running", "asleep", "deleted"})},
                           {"memory_bytes", number()},
                           {"timeout_s", number()},
                           {"idle_minutes", number()},
                           {"runtime", text()},
                           {"environment", texts},
                           {"labels", {{"type", "object"}}},
                           {"added", list_of(added)},
                           {"execution_count", number()},
                           {"created_at", time()},
                           {"active_at", time()},
                           {"expires_at", time_or_null()}});
  out["SessionPage"] = page_of("Session");
  Json link_or_null = {{"type", {"string", "null"}}, {"format", "uri"}};
  out["Unkept"] = object({{"path", text()},
                          {"what", choice({"refused", "aside", "recovered"})},
                          {"reason", text()},
                          {"message", text()},
                          {"version_id", id_or_null("v_")},
                          {"link", link_or_null},
                          {"only_copy", boolean()}});
  out["UnkeptPage"] = page_of("Unkept");
  Json retried = page_of("Unkept");
  retried["properties"]["settled"] = retried["properties"]["remaining"] = number();
  retried["required"].push_back("settled");
  retried["required"].push_back("remaining");
  out["Retried"] = std::move(retried);
  out["DeletedExecutions"] = object(
      {{"executions", number()}, {"sessions", number()}, {"bytes", number()}, {"has_more", boolean()}});
  out["Dismissed"] = object({{"dismissed", number()}});
  out["KeptFile"] = object({{"path", text()},
                            {"file_id", id("f_")},
                            {"version_id", id("v_")},
                            {"link", url()},
                            {"size", number()},
                            {"sha256", sha256()},
                            {"mime", text()},
                            {"change", choice({"created", "changed", "unchanged", "recovered"})},
                            {"complete", boolean()},
                            {"diverged", boolean()},
                            {"locked", boolean()}});
  out["KeptFilePage"] = page_of("KeptFile");
  Json renamed = object({{"from", text()}, {"to", text()}});
  Json output = {
      {"type", "object"},
      {"properties", {{"type", choice({"stdout", "stderr", "display", "result", "error", "note"})}}},
      {"required", {"type"}}};
  out["Execution"] =
      object({{"id", id("x_")},
              {"session_id", id("s_")},
              {"number", number()},
              {"language", choice({"python", "bash"})},
              {"code", text()},
              {"status", choice({"queued", "running", "done"})},
              {"end", text_or_null()},
              {"message", text()},
              {"exit_code", {{"type", {"integer", "null"}}}},
              {"woke", boolean()},
              {"added", list_of(added)},
              {"outputs", list_of(output)},
              {"kept", list_of(schema_ref("KeptFile"))},
              {"kept_more", boolean()},
              {"folders", list_of(text())},
              {"renamed", list_of(renamed)},
              {"deleted", list_of(text())},
              {"not_kept", list_of(object({{"path", text()}, {"reason", text()}, {"message", text()}}))},
              {"left_out", number()},
              {"timings", {{"type", "object"}, {"additionalProperties", number()}}},
              {"created_at", time()},
              {"started_at", time_or_null()},
              {"ended_at", time_or_null()}});
  out["ExecutionPage"] = page_of("Execution");
}

void add_conversation_schemas(Json& out) {
  auto kind = choice({"link", "citation", "image", "attachment"});
  Json url_or_null = {{"type", {"string", "null"}}, {"format", "uri"}};
  out["Conversation"] = object({{"conversation", text()},
                                {"workspace_id", id("ws_")},
                                {"title", text()},
                                {"message_count", number()},
                                {"created_at", time()},
                                {"changed_at", time()}});
  out["ConversationPage"] = page_of("Conversation");
  auto attachment = object({{"name", text()},
                            {"kind", kind},
                            {"mime", text()},
                            {"size", number()},
                            {"link", url()},
                            {"thumbnail", url_or_null},
                            {"version_id", id("v_")},
                            {"file_id", id("f_")},
                            {"workspace_id", id("ws_")},
                            {"path", text()},
                            {"sha256", sha256()},
                            {"container", text_or_null()},
                            {"original_file_id", text_or_null()}});
  auto problem = object(
      {{"name", text()},
       {"kind", kind},
       {"state", choice({"missing", "not_captured", "pending"})},
       {"reason", {{"type", {"string", "null"}}, {"enum", {"gone", "denied", "cannot_tell", nullptr}}}},
       {"message", text()},
       {"container", text_or_null()},
       {"original_file_id", text_or_null()}});
  out["Message"] = object({{"conversation", text()},
                           {"message", text()},
                           {"role", text()},
                           {"time", time()},
                           {"stored_at", time()},
                           {"response_id", text_or_null()},
                           {"model", text_or_null()},
                           {"text", text()},
                           {"markdown", text()},
                           {"html", text()},
                           {"attachments", list_of(std::move(attachment))},
                           {"problems", list_of(std::move(problem))}});
  out["MessagePage"] = page_of("Message");
  out["BackfillResult"] = object({{"items", list_of(object({{"conversation", text()},
                                                            {"message", text()},
                                                            {"stored", boolean()},
                                                            {"kept", number()},
                                                            {"missing", number()},
                                                            {"not_captured", number()},
                                                            {"pending", number()},
                                                            {"error", {{"type", {"object", "null"}}}}}))}});
}

}  // namespace

Json schema_ref(const std::string& name) { return {{"$ref", "#/components/schemas/" + name}}; }

Json answer_schemas() {
  Json out = Json::object();
  add_server_schemas(out);
  add_top_schemas(out);
  add_access_schemas(out);
  add_workspace_schemas(out);
  add_file_schemas(out);
  add_session_schemas(out);
  add_conversation_schemas(out);
  return out;
}

}  // namespace sk::api::rest
