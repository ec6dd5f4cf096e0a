// Files that sessions could not keep as heads: lists, retries and dismisses them.
#include "api/common/await.h"
#include "api/common/need_interpreter.h"
#include "api/common/shapes.h"
#include "api/rest/rest.h"
#include "api/rest/session_json.h"

namespace sk::api::rest {

namespace {

using http::Reply;
using interpreter::Interpreter;

Json unkept_page_json(const workspace::Page<interpreter::Unkept>& page, const std::string& base_url) {
  return page_json(page, [&](const interpreter::Unkept& item) { return unkept_json(item, base_url); });
}

Reply list_unkept(Call& call) {
  Id session = session_id(call);
  auto page = session_directory(call.app).unkept(session_authority(call.app, call.actor, session), session,
                                                 call.query.text("cursor").value_or(""),
                                                 call.limit(call.app.settings.list_page_max));
  return Reply::json(unkept_page_json(page, call.request.base_url));
}

Reply retry_unkept(Call& call) {
  Id session = session_id(call);
  size_t limit = call.limit(call.app.settings.list_page_max);
  auto authority = session_authority(call.app, call.actor, session);
  auto answer = [session, limit, &app = call.app, authority,
                 base_url = call.request.base_url](const Interpreter::Retried& retried) {
    Json body = unkept_page_json(session_directory(app).unkept(authority, session, "", limit), base_url);
    body["settled"] = retried.settled;
    body["remaining"] = retried.remaining;
    return Reply::json(body);
  };
  call.hold_connection();
  return when_known<Interpreter::Retried>(call, need_interpreter(call.app).retry_unkept(authority, session),
                                          answer);
}

}  // namespace

void add_unkept_routes(Routes& routes) {
  const std::string session = kRoot + "/sessions/{session}";
  routes.add({.method = "GET",
              .pattern = session + "/unkept",
              .id = "list_unkept",
              .tag = "sessions",
              .summary = "Lists content that a session wrote and that is not in the workspace, or not as the "
                         "head of its file",
              .details = "`what` is `refused` (a full quota or an invalid name: the bytes exist only in the "
                         "session), `aside` (a lock: the bytes are a version beside the head) or `recovered` "
                         "(found after a power cut: a version that may be torn).",
              .query = page_fields(),
              .answers = {{200, "Items, sorted by path. An empty list means that everything is kept.",
                           "UnkeptPage"}},
              .errors = {Code::not_found}},
             list_unkept);
  routes.add(
      {.method = "POST",
       .pattern = session + "/retry",
       .id = "retry_unkept",
       .tag = "sessions",
       .summary = "Tries again to keep content that a session could not keep",
       .details = "Refused content is written again. A version that was kept aside becomes the head, "
                  "unless another client wrote the file since. Recovered items stay unchanged. "
                  "Returns the remaining items; `remaining` counts those refused or kept aside.",
       .query = {{.name = "limit",
                  .type = FieldType::integer,
                  .about = "Maximum number of remaining items in the answer."}},
       .answers = {{200, "The remaining items, and the number of settled ones.", "Retried"}},
       .errors = {Code::not_found, Code::forbidden, Code::gone, Code::too_many_requests, Code::unavailable}},
      retry_unkept);
  routes.add({.method = "DELETE",
              .pattern = session + "/unkept",
              .id = "dismiss_unkept",
              .tag = "sessions",
              .summary = "Removes items from the list of unkept content; versions stay",
              .details = "For items that were kept aside or recovered. Refused items cannot be dismissed: "
                         "their bytes exist nowhere else.",
              .query = {{.name = "path",
                         .about = "The path of one item. Default: all items that can be dismissed."}},
              .answers = {{200, "The number of dismissed items.", "Dismissed"}},
              .errors = {Code::not_found, Code::forbidden, Code::conflict}},
             [](Call& call) {
               Id id = session_id(call);
               size_t count = session_directory(call.app).dismiss_unkept(
                   session_authority(call.app, call.actor, id), id, call.query.text("path"));
               return Reply::json({{"dismissed", count}});
             });
}

}  // namespace sk::api::rest
