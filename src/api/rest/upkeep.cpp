// Collecting and verifying: chores that may take long, on threads of their own.
#include "api/rest/rest.h"

namespace sk::api::rest {

namespace {

using http::Reply;

// Longer than any store that one machine holds should need; a client that leaves ends its chore sooner.
constexpr std::chrono::hours kChoreMax{24};

// Runs `chore` aside and answers with what it returns. The chore is told through `cancelled` when nobody
// waits for it any more.
using Chore = std::function<Json(const std::atomic<bool>& cancelled)>;

Reply run_aside(Call& call, Chore chore) {
  auto cancelled = std::make_shared<std::atomic<bool>>(false);
  http::Request request;
  request.request_id = call.request.request_id;
  auto give_up = [cancelled, request] {
    *cancelled = true;
    return http::error_to_reply(request, Error(Code::unavailable, "this took too long and was given up"));
  };
  auto deferred = std::make_shared<http::Deferred>(kChoreMax, give_up, [cancelled] { *cancelled = true; });
  bool queued = call.app.background.run_chore([deferred, cancelled, request, chore = std::move(chore)] {
    try {
      deferred->complete(Reply::json(chore(*cancelled)));
    } catch (const Error& error) {
      deferred->complete(http::error_to_reply(request, error));
    } catch (const std::exception& error) {
      deferred->complete(http::error_to_reply(request, Error(Code::internal, error.what())));
    }
  });
  if (!queued) throw Error(Code::unavailable, "too many such chores are waiting already");
  return Reply::deferred(std::move(deferred));
}

Reply collect(Call& call) {
  call.need_admin();
  if (call.actor.read_only) throw Error(Code::forbidden, "a read-only key may not delete anything");
  return run_aside(call, [&app = call.app](const std::atomic<bool>& cancelled) -> Json {
    auto result = app.keep.upkeep().collect();
    auto go_on = [&] { return !cancelled && !app.background.stopping(); };
    app.keep.ground().blobs.compress(0, go_on);
    return {{"blobs", result.blobs}, {"orphans", result.orphans}, {"freed_bytes", result.freed_bytes}};
  });
}

Reply verify(Call& call) {
  call.need_admin();
  return run_aside(call, [&app = call.app](const std::atomic<bool>& cancelled) -> Json {
    auto go_on = [&](const workspace::VerifyResult&) { return !cancelled && !app.background.stopping(); };
    auto result = app.keep.upkeep().verify(go_on);
    if (!go_on(result)) throw Error(Code::unavailable, "the verification was ended before it was done");
    return {{"ok", result.problems.empty()},
            {"blobs", result.blobs},
            {"versions", result.versions},
            {"entries", result.entries},
            {"journal_entries", result.journal_entries},
            {"bytes", result.bytes},
            {"problems", result.problems}};
  });
}

}  // namespace

void add_upkeep_routes(Routes& routes) {
  routes.add({.method = "POST",
              .pattern = kRoot + "/gc",
              .id = "collect",
              .tag = "upkeep",
              .summary = "Deletes stored bytes that nothing refers to, and compresses the rest where that "
                         "pays; for administrators",
              .body_kind = BodyKind::json,
              .answers = {{200, "What was deleted.", "CollectResult"}},
              .errors = {Code::forbidden, Code::unavailable}},
             collect);
  routes.add({.method = "POST",
              .pattern = kRoot + "/verify",
              .id = "verify",
              .tag = "upkeep",
              .summary = "Reads every stored byte and follows every reference; for administrators",
              .details = "Answers when it is done, which takes as long as reading the whole store.",
              .body_kind = BodyKind::json,
              .answers = {{200, "What was read, and what is wrong.", "VerifyResult"}},
              .errors = {Code::forbidden, Code::unavailable}},
             verify);
}

}  // namespace sk::api::rest
