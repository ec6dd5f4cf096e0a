#include "api/common/routes.h"

#include "api/common/authenticate.h"
#include "api/common/revoked.h"

namespace sk::api {

namespace {

// Checks the actor's rights again when the body has arrived, which may be hours after the headers. Meanwhile
// the key may have been revoked, or access to the workspace removed. A signed token is only checked with the
// headers.
void check_still_allowed(const Call& call) {
  if (call.operation.auth != Auth::key || call.operation.takes_librechat_token) return;
  auto actor = authenticate(call.app, call.request, call.credential);
  auto workspace = call.request.params.find("ws");
  if (workspace == call.request.params.end()) return;
  call.app.keep.workspaces().enter(actor, workspace->second, workspace::Right::write);
}

// Forwards to the dialect's sink. Records refusals that happen only after the body, such as a lock taken
// meanwhile.
class NotingSink final : public http::BodySink {
 public:
  NotingSink(std::shared_ptr<Call> call, std::unique_ptr<http::BodySink> inner)
      : call_(std::move(call)), inner_(std::move(inner)) {
    if (call_->actor.principal())
      key_watch_ = call_->app.keep.revocations().watch_key(call_->actor, [](const Error&) {}, call_->checked);
  }

  void piece(std::string_view bytes) override {
    key_watch_.check();
    inner_->piece(bytes);
  }

  http::Reply end() override {
    try {
      check_still_allowed(*call_);
      auto reply = inner_->end();
      call_->hold_while_it_lasts(reply);
      end_when_revoked(*call_, reply);
      return reply;
    } catch (const Error& error) {
      call_->note_denied(error);
      throw;
    }
  }

 private:
  std::shared_ptr<Call> call_;
  std::unique_ptr<http::BodySink> inner_;
  workspace::RightWatch key_watch_;  // a revoked key sends no further byte of a body
};

// Counts a request for its principal when its handler has returned or thrown: some find the principal
// themselves.
class CountedRequest {
 public:
  explicit CountedRequest(const Call& call) : call_(call) {}
  ~CountedRequest() { call_.app.top.count_request(call_.actor.principal()); }
  CountedRequest(const CountedRequest&) = delete;
  CountedRequest& operator=(const CountedRequest&) = delete;

 private:
  const Call& call_;
};

}  // namespace

std::shared_ptr<const Operation> Routes::keep(Operation operation) {
  auto kept = std::make_shared<const Operation>(std::move(operation));
  operations_->push_back(kept);
  return kept;
}

void Routes::add(Operation operation, CallHandler handler) {
  auto kept = keep(std::move(operation));
  http::RouteOptions options;
  options.body_bytes_max = kept->body_kind == BodyKind::none ? 64 << 10 : app_.settings.json_body_bytes_max;
  if (kept->body_bytes_max != 0) options.body_bytes_max = kept->body_bytes_max;
  if (kept->answers_at_once) options.thread = http::RouteOptions::Thread::loop;
  auto with_call = [&app = app_, kept](http::Request& request, const auto& step) {
    Call call(app, *kept, request);
    try {
      return step(call);
    } catch (const Error& error) {
      call.note_denied(error);
      throw;
    }
  };
  // A client without a key is refused before its body is read.
  if (kept->auth == Auth::key)
    options.admit = [with_call](http::Request& request) {
      with_call(request, [](Call& call) { call.authenticate_actor(); });
    };
  auto run = [with_call, handler = std::move(handler)](http::Request& request) {
    return with_call(request, [&](Call& call) {
      CountedRequest counted(call);
      call.prepare();
      auto reply = handler(call);
      call.hold_while_it_lasts(reply);
      end_when_revoked(call, reply);
      return reply;
    });
  };
  router_.add(kept->method, kept->pattern, std::move(run), options);
}

void Routes::add_streaming(Operation operation, CallSinkHandler handler) {
  auto kept = keep(std::move(operation));
  auto run = [&app = app_, kept,
              handler = std::move(handler)](http::Request& request) -> std::unique_ptr<http::BodySink> {
    auto call = std::make_shared<Call>(app, *kept, request);
    CountedRequest counted(*call);
    try {
      call->prepare();
      return std::make_unique<NotingSink>(call, handler(call));
    } catch (const Error& error) {
      call->note_denied(error);
      throw;
    }
  };
  router_.add_streaming(kept->method, kept->pattern, std::move(run));
}

}  // namespace sk::api
