// Sessions, in which code runs. Their files belong to the workspace and stay when a session sleeps or is
// deleted.
#include "api/common/await.h"
#include "api/common/conditions.h"
#include "api/common/need_interpreter.h"
#include "api/common/shapes.h"
#include "api/rest/rest.h"
#include "api/rest/session_json.h"
#include "base/text.h"
#include "http/content_disposition.h"

namespace sk::api::rest {

namespace {

using http::Reply;

constexpr size_t kLabelsMax = 32;
constexpr size_t kLabelBytesMax = 1'024;

Json labels_of(const Body& body) {
  const Json& labels = body.object("labels");
  if (labels.size() > kLabelsMax)
    throw Error(Code::bad_request, "the number of labels is limited to " + std::to_string(kLabelsMax))
        .with("field", "labels");
  for (const auto& [name, value] : labels.items())
    if (!value.is_string() || name.size() + value.get_ref<const std::string&>().size() > kLabelBytesMax)
      throw Error(Code::bad_request, "labels must be short strings").with("field", "labels." + name);
  return labels;
}

Reply create_session(Call& call) {
  interpreter::NewSession wanted;
  wanted.name = call.body.text("name").value_or("");
  wanted.folder = call.body.text("folder");
  if (auto memory = call.body.text("memory")) {
    wanted.memory_bytes = parse_size(*memory);
    if (!wanted.memory_bytes)
      throw Error(Code::bad_request, "memory must be a size such as '1g' or '512 MiB'");
  }
  wanted.timeout_s = call.body.integer("timeout_s");
  if (auto minutes = call.body.integer("idle_minutes"))
    wanted.idle_s = within(*minutes, 0, 1'000'000, "idle_minutes") * 60;
  wanted.runtime = call.body.text("runtime").value_or("");
  wanted.environment = call.body.object("environment");
  wanted.labels = labels_of(call.body);
  wanted.files = added_files(call.body, lock_tokens_from_headers(call.request.headers));
  auto& interpreter = need_interpreter(call.app);
  auto& workspaces = call.app.keep.workspaces();
  auto name = call.body.text("workspace").value_or("");
  auto authority = name.empty() ? workspaces.open_default(call.actor, workspace::Right::write)
                                : workspaces.enter(call.actor, name, workspace::Right::write);
  return Reply::json(session_json(interpreter.create(authority, wanted)), 201);
}

Reply list_sessions(Call& call) {
  interpreter::SessionQuery query;
  if (auto cursor = call.query.text("cursor"))
    query.after = parse_id(*cursor, workspace::prefix::session, "cursor");
  size_t limit = call.limit(call.app.settings.list_page_max);
  query.limit = limit + 1;
  workspace::Page<interpreter::SessionInfo> page;
  page.items = session_directory(call.app).list(call.actor, query);
  if (page.items.size() > limit) {
    page.items.resize(limit);
    page.has_more = true;
    page.next_cursor = page.items.back().id.with_prefix(workspace::prefix::session);
  }
  return Reply::json(page_json(page, session_json));
}

Reply export_session(Call& call) {
  auto& interpreter = call.app.interpreter;
  Id id = session_id(call);
  bool script = call.query.text("format").value_or("ipynb") == "py";
  auto exported = interpreter.export_history(
      session_authority(call.app, call.actor, id), id,
      script ? interpreter::ExportFormat::script : interpreter::ExportFormat::notebook);
  Reply reply;
  reply.headers.set("Content-Type", script ? "text/x-python; charset=utf-8" : "application/x-ipynb+json");
  reply.headers.set("Content-Disposition", http::content_disposition(http::Disposition::download,
                                                                     interpreter.get(call.actor, id).name +
                                                                         (script ? ".py" : ".ipynb")));
  reply.body = http::FileRange{exported.file, 0, exported.size};
  return reply;
}

}  // namespace

void add_session_routes(Routes& routes) {
  routes.add(
      {.method = "POST",
       .pattern = kRoot + "/sessions",
       .id = "create_session",
       .tag = "sessions",
       .summary = "Creates a session: an interpreter bound to a folder of a workspace",
       .body_kind = BodyKind::json,
       .body = {{.name = "name", .about = "A name for people, which becomes part of the folder's name."},
                {.name = "workspace", .about = "Id or name. Default: your default workspace."},
                {.name = "folder",
                 .about = "The folder that code sees as /mnt/data. Default: `sessions/<name>-<short id>`."},
                {.name = "memory", .about = "Memory, such as `1g` or `4g`. Default: the server's setting."},
                {.name = "timeout_s",
                 .type = FieldType::integer,
                 .about = "Timeout of an execution in seconds."},
                {.name = "idle_minutes",
                 .type = FieldType::integer,
                 .about = "Idle time after which the session falls asleep; 0: never."},
                {.name = "runtime",
                 .about = "The name of one of the server's runtimes. Default: the server's default."},
                {.name = "environment",
                 .type = FieldType::object,
                 .about = "Environment variables of its code: names and strings."},
                {.name = "labels",
                 .type = FieldType::object,
                 .about = "Your own names and strings, returned with the session."},
                added_files_field()},
       .answers = {{201, "The session. Its first execution starts it.", "Session"}},
       .errors = {Code::forbidden, Code::not_found, Code::conflict, Code::unavailable, Code::quota_exceeded}},
      create_session);
  routes.add({.method = "GET",
              .pattern = kRoot + "/sessions",
              .id = "list_sessions",
              .tag = "sessions",
              .summary = "Lists your sessions, newest first",
              .query = page_fields(),
              .answers = {{200, "Sessions, including sleeping ones.", "SessionPage"}}},
             list_sessions);
  routes.add(
      {.method = "GET",
       .pattern = kRoot + "/sessions/{session}",
       .id = "get_session",
       .tag = "sessions",
       .summary = "One session",
       .answers = {{200, "The session.", "Session"}},
       .errors = {Code::not_found}},
      [](Call& call) {
        return Reply::json(session_json(session_directory(call.app).get(call.actor, session_id(call))));
      });
  routes.add({.method = "GET",
              .pattern = kRoot + "/sessions/{session}/export",
              .id = "export_session",
              .tag = "sessions",
              .summary = "Exports a session's whole history as a Jupyter notebook or as a Python program",
              .query = {{.name = "format",
                         .about = "Default: `ipynb`. A notebook includes the outputs.",
                         .choices = {"ipynb", "py"}}},
              .answers = {{200, "The file.", "", "application/octet-stream"}},
              .errors = {Code::not_found, Code::unavailable}},
             export_session);
  routes.add({.method = "POST",
              .pattern = kRoot + "/sessions/{session}/sleep",
              .id = "sleep_session",
              .tag = "sessions",
              .summary = "Puts a session to sleep now",
              .details = "Its memory is lost. Its files stay, and its next execution wakes it.",
              .answers = {{200, "The session, asleep.", "Session"}},
              .errors = {Code::not_found, Code::forbidden, Code::too_many_requests, Code::unavailable}},
             [](Call& call) {
               auto& interpreter = call.app.interpreter;
               Id id = session_id(call);
               call.hold_connection();
               auto slept = interpreter.sleep(session_authority(call.app, call.actor, id), id);
               return when_known<Done>(call, slept, [&interpreter, actor = call.actor, id](const Done&) {
                 return Reply::json(session_json(interpreter.get(actor, id)));
               });
             });
  routes.add({.method = "DELETE",
              .pattern = kRoot + "/sessions/{session}",
              .id = "delete_session",
              .tag = "sessions",
              .summary = "Deletes a session; its files stay in the workspace",
              .details = "Files that could not be kept (`not_kept` of its executions: a full quota, a bad "
                         "name) exist nowhere else. If there are any, the answer is 409, with their paths as "
                         "`not_kept`, one per line. `force=true` deletes the session with them.",
              .query = force_field(),
              .answers = {{204, "The session is deleted."}},
              .errors = {Code::not_found, Code::forbidden, Code::conflict, Code::too_many_requests,
                         Code::unavailable}},
             [](Call& call) {
               auto& interpreter = need_interpreter(call.app);
               Id id = session_id(call);
               call.hold_connection();
               auto removed =
                   interpreter.remove(session_authority(call.app, call.actor, id), id, unkept_by(call.query));
               return when_known<Done>(call, removed, [](const Done&) { return Reply::empty(); });
             });
}

}  // namespace sk::api::rest
