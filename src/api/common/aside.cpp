#include "api/common/aside.h"

#include "api/dialects.h"

namespace sk::api {

namespace {
// Longer than maintenance of any store on one machine should take. A client that disconnects cancels its
// chore earlier.
constexpr std::chrono::hours kChoreMax{24};
// Chores read much of the store, so those that wait do not begin within moments.
constexpr int64_t kChoreWaitS = 10;
}  // namespace

http::Reply run_aside(Call& call, Aside kind, Chore chore) {
  call.hold_connection();
  auto cancelled = std::make_shared<std::atomic<bool>>(false);
  auto request = without_content(call.request);
  auto give_up = [cancelled, request] {
    *cancelled = true;
    return dialect_error_reply(request,
                               Error(Code::unavailable, "the request took too long and was abandoned"));
  };
  auto deferred = std::make_shared<http::Deferred>(kChoreMax, give_up, [cancelled] { *cancelled = true; });
  auto job = [deferred, cancelled, request, chore = std::move(chore)] {
    try {
      deferred->complete(chore(*cancelled));
    } catch (const Error& error) {
      deferred->complete(dialect_error_reply(request, error));
    } catch (const std::exception& error) {
      deferred->complete(dialect_error_reply(request, Error(Code::internal, error.what())));
    }
  };
  auto& background = call.app.background;
  if (kind == Aside::transfer)
    background.run_transfer(std::move(job));
  else if (!background.run_chore(std::move(job)))
    throw Error(Code::unavailable, "too many background jobs are waiting").retry_in(kChoreWaitS);
  return http::Reply::deferred(std::move(deferred));
}

}  // namespace sk::api
