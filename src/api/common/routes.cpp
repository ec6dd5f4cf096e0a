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

// Refuses a request without a right key when too many wrong ones came from its address. Runs on the socket's
// own thread and reads only memory, so that such a request costs no worker and no read of the catalog. Only
// the check of a token's signature tells whether it is right, so tokens pass.
void screen_slowed(App& app, const Operation& operation, http::Request& request) {
  if (!app.rates.is_slowed(request)) return;
  std::optional<Credential> credential;
  try {
    credential = find_credential(app, request);
  } catch (const Error&) {
    // A malformed header holds no key.
  }
  if (!credential && !operation.key_param.empty())
    credential = Credential{.secret = request.param(operation.key_param)};
  bool may_pass =
      credential &&
      (app.keep.access().may_exist(credential->secret) ||
       (operation.takes_librechat_token && identity::JwtVerifier::looks_like_token(credential->secret)));
  if (!may_pass) throw app.rates.too_many_wrong_keys(request);
}

http::RouteOptions options_for(App& app, const std::shared_ptr<const Operation>& operation) {
  http::RouteOptions options;
  if (operation->health_check) options.counts = http::RouteOptions::Counts::no;
  if (operation->auth == Auth::key)
    options.screen = [&app, operation](http::Request& request) { screen_slowed(app, *operation, request); };
  return options;
}

// Forwards to the dialect's sink. Records refusals that happen only after the body, such as a lock taken
// meanwhile.
class NotingSink final : public http::BodySink {
 public:
  NotingSink(std::shared_ptr<Call> call, std::unique_ptr<http::BodySink> inner)
      : call_(std::move(call)), inner_(std::move(inner)), right_(call_->watch_opened()) {}

  void piece(std::string_view bytes) override {
    right_.check();
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
  workspace::RightWatch right_;  // who lost it sends no further byte of a body
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
  auto options = options_for(app_, kept);
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
  router_.add_streaming(kept->method, kept->pattern, std::move(run), options_for(app_, kept));
}

}  // namespace sk::api
