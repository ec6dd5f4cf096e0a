// Collecting and verifying: long chores that run on separate threads.
#include "api/common/aside.h"
#include "api/rest/rest.h"

namespace sk::api::rest {

namespace {

using http::Reply;

Reply collect(Call& call) {
  call.need_admin();
  call.actor.need_write();
  return run_aside(call, Aside::chore, [&app = call.app](const std::atomic<bool>& cancelled) {
    auto result = app.keep.upkeep().collect();
    auto go_on = [&] { return !cancelled && !app.background.stopping(); };
    app.keep.context().blobs.compress(0, go_on);
    return Reply::json(
        {{"blobs", result.blobs}, {"orphans", result.orphans}, {"freed_bytes", result.freed_bytes}});
  });
}

Reply verify(Call& call) {
  call.need_admin();
  return run_aside(call, Aside::chore, [&app = call.app](const std::atomic<bool>& cancelled) {
    auto go_on = [&](const workspace::VerifyResult&) { return !cancelled && !app.background.stopping(); };
    auto result = app.keep.upkeep().verify(go_on);
    if (!go_on(result)) throw Error(Code::unavailable, "the verification was stopped before its end");
    return Reply::json({{"ok", result.problems.empty()},
                        {"blobs", result.blobs},
                        {"versions", result.versions},
                        {"entries", result.entries},
                        {"journal_entries", result.journal_entries},
                        {"bytes", result.bytes},
                        {"problems", result.problems}});
  });
}

}  // namespace

void add_upkeep_routes(Routes& routes) {
  routes.add({.method = "POST",
              .pattern = kRoot + "/gc",
              .id = "collect",
              .tag = "upkeep",
              .summary = "Deletes unreferenced stored bytes, and compresses the rest where that saves space; "
                         "for administrators",
              .body_kind = BodyKind::json,
              .answers = {{200, "The deleted bytes and blobs.", "CollectResult"}},
              .errors = {Code::forbidden, Code::too_many_requests, Code::unavailable}},
             collect);
  routes.add({.method = "POST",
              .pattern = kRoot + "/verify",
              .id = "verify",
              .tag = "upkeep",
              .summary = "Reads every stored byte and follows every reference; for administrators",
              .details = "Answers when it is done, which takes as long as reading the whole store.",
              .body_kind = BodyKind::json,
              .answers = {{200, "The figures of the check, and its findings.", "VerifyResult"}},
              .errors = {Code::forbidden, Code::too_many_requests, Code::unavailable}},
             verify);
}

}  // namespace sk::api::rest
