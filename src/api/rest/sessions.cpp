// Sessions: where code runs. Their files are the workspace's; a session that sleeps, or is deleted, takes
// none with it.
#include "api/common/shapes.h"
#include "api/rest/rest.h"
#include "api/rest/session_json.h"
#include "base/text.h"

namespace sk::api::rest {

namespace {

using http::Reply;

Reply create_session(Call& call) {
  interpreter::NewSession wanted;
  wanted.name = call.body.text("name").value_or("");
  wanted.workspace = call.body.text("workspace").value_or("");
  wanted.folder = call.body.text("folder");
  if (auto memory = call.body.text("memory")) {
    wanted.memory_bytes = parse_size(*memory);
    if (!wanted.memory_bytes)
      throw Error(Code::bad_request, "memory must be a size such as '1g' or '512 MiB'");
  }
  wanted.timeout_s = call.body.integer("timeout_s");
  if (auto minutes = call.body.integer("idle_minutes"))
    wanted.idle_s = within(*minutes, 0, 1'000'000, "idle_minutes") * 60;
  return Reply::json(session_json(need_interpreter(call).create(call.actor, wanted)), 201);
}

Reply list_sessions(Call& call) {
  Id before;
  if (auto cursor = call.query.text("cursor"))
    before = parse_id(*cursor, workspace::prefix::session, "cursor");
  size_t limit = call.limit(call.app.settings.list_page_max);
  workspace::Page<interpreter::SessionInfo> page;
  page.items = need_interpreter(call).list(call.actor, before, limit + 1);
  if (page.items.size() > limit) {
    page.items.resize(limit);
    page.has_more = true;
    page.next_cursor = page.items.back().id.with_prefix(workspace::prefix::session);
  }
  return Reply::json(page_json(page, session_json));
}

}  // namespace

void add_session_routes(Routes& routes) {
  routes.add({.method = "POST",
              .pattern = kRoot + "/sessions",
              .id = "create_session",
              .tag = "sessions",
              .summary = "Makes a session: an interpreter bound to a folder of a workspace",
              .body_kind = BodyKind::json,
              .body = {{.name = "name", .about = "For people; it is part of the folder's name."},
                       {.name = "workspace", .about = "Id or name; the default workspace unless given."},
                       {.name = "folder",
                        .about = "What code sees as /mnt/data; `sessions/<name>-<short id>` unless given."},
                       {.name = "memory", .about = "Such as `1g`, `4g`; the server's default unless given."},
                       {.name = "timeout_s",
                        .type = FieldType::integer,
                        .about = "Seconds that an execution may run."},
                       {.name = "idle_minutes",
                        .type = FieldType::integer,
                        .about = "After so long without use it falls asleep; 0: never."}},
              .answers = {{201, "The session; it is started by its first execution.", "Session"}},
              .errors = {Code::forbidden, Code::not_found, Code::conflict, Code::unavailable}},
             create_session);
  routes.add({.method = "GET",
              .pattern = kRoot + "/sessions",
              .id = "list_sessions",
              .tag = "sessions",
              .summary = "One's sessions, newest first",
              .query = page_fields(),
              .answers = {{200, "Sessions, also those that sleep.", "SessionPage"}},
              .errors = {Code::unavailable}},
             list_sessions);
  routes.add({.method = "GET",
              .pattern = kRoot + "/sessions/{session}",
              .id = "get_session",
              .tag = "sessions",
              .summary = "One session",
              .answers = {{200, "The session.", "Session"}},
              .errors = {Code::not_found, Code::unavailable}},
             [](Call& call) {
               return Reply::json(session_json(need_interpreter(call).get(call.actor, session_id(call))));
             });
  routes.add({.method = "POST",
              .pattern = kRoot + "/sessions/{session}/sleep",
              .id = "sleep_session",
              .tag = "sessions",
              .summary = "Puts a session to sleep now",
              .details = "What it has in memory goes; its files stay, and its next execution wakes it.",
              .answers = {{200, "The session, asleep.", "Session"}},
              .errors = {Code::not_found, Code::forbidden, Code::unavailable}},
             [](Call& call) {
               auto& interpreter = need_interpreter(call);
               interpreter.sleep(call.actor, session_id(call));
               return Reply::json(session_json(interpreter.get(call.actor, session_id(call))));
             });
  routes.add({.method = "DELETE",
              .pattern = kRoot + "/sessions/{session}",
              .id = "delete_session",
              .tag = "sessions",
              .summary = "Ends a session; its files stay in the workspace",
              .answers = {{204, "It is gone."}},
              .errors = {Code::not_found, Code::forbidden, Code::unavailable}},
             [](Call& call) {
               need_interpreter(call).remove(call.actor, session_id(call));
               return Reply::empty();
             });
}

}  // namespace sk::api::rest
