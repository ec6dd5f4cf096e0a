// Locks, and waiting for one without blocking a thread.
#include "api/common/shapes.h"
#include "api/rest/errors.h"
#include "api/rest/rest.h"
#include "base/mutex.h"
#include "base/path.h"
#include "followers/watch.h"

namespace sk::api::rest {

namespace {

using http::Reply;
using workspace::Right;

Reply lock_reply(const workspace::Lock& lock) { return Reply::json(lock_json(lock), 201); }

// A client that waits for a lock. The closures of its Deferred own it, so it ends with the connection. Tries
// again whenever the workspace's journal grows, and when the conflicting lock expires.
class LockWait : public std::enable_shared_from_this<LockWait> {
 public:
  LockWait(Call& call, const Id& workspace, workspace::LockWanted wanted)
      : app_(call.app), renew_(call.renewer()), workspace_(workspace), wanted_(std::move(wanted)) {
    request_.request_id = call.request.request_id;
    request_.path = call.request.path;
  }

  static Reply start(std::shared_ptr<LockWait> self, std::chrono::milliseconds wait) {
    auto deferred = std::make_shared<http::Deferred>(
        wait, [self] { return self->at_deadline(); }, [self] { self->at_cancel(); },
        [self] { self->give_back(); }, http::AtStop::end);
    self->deferred_ = deferred;
    std::weak_ptr<LockWait> weak = self;
    self->retry_ = [weak] {
      if (auto strong = weak.lock()) strong->attempt();
    };
    self->watch_.emplace(self->app_.keep.feed(), self->app_.background, self->workspace_, self->retry_);
    self->watch_->poke();
    return Reply::deferred(std::move(deferred));
  }

 private:
  void attempt() {
    MutexLock lock(mutex_);
    auto deferred = deferred_.lock();
    if (ended_ || !deferred || deferred->done()) return;
    try {
      auto result = app_.keep.locks().try_acquire(current_authority(), wanted_);
      if (!result.lock) return retry_when_expired(result.in_the_way);
      acquired_ = std::move(result.lock);
      ended_ = true;
      deferred->complete(lock_reply(*acquired_));
    } catch (const Error& error) {
      ended_ = true;
      deferred->complete(error_reply(request_, error));
    }
  }

  // Sets a timer, because an expiring lock sends no notification.
  void retry_when_expired(const std::optional<workspace::Lock>& in_the_way) SK_REQUIRES(mutex_) {
    if (!in_the_way) return;
    if (in_the_way->expires_us == retry_at_us_) return;
    retry_at_us_ = in_the_way->expires_us;
    auto left_us = std::max<int64_t>(retry_at_us_ - app_.clock.now_us(), 0);
    app_.background.run_after(std::chrono::milliseconds(left_us / 1000 + 10), retry_);
  }

  // Checks the rights again, because they may have changed during the wait.
  workspace::Authority current_authority() {
    return app_.keep.workspaces().open(renew_(), workspace_.with_prefix(workspace::prefix::workspace),
                                       Right::write);
  }

  // Makes a last attempt, whose error names the holder of the lock. If an earlier attempt acquired the lock
  // at the same moment, replies with that lock.
  Reply at_deadline() {
    MutexLock lock(mutex_);
    ended_ = answered_ = true;
    try {
      if (!acquired_) acquired_ = app_.keep.locks().acquire(current_authority(), wanted_);
      return lock_reply(*acquired_);
    } catch (const Error& error) {
      return error_reply(request_, error);
    }
  }

  // Also runs after at_deadline(), whose reply already contains the lock.
  void at_cancel() {
    {
      MutexLock lock(mutex_);
      ended_ = true;
      if (answered_) return;
    }
    give_back();
  }

  // Releases a lock whose token no client will receive, because the client left or the server stops.
  void give_back() {
    MutexLock lock(mutex_);
    if (!acquired_) return;
    try {
      app_.keep.locks().release(current_authority(), acquired_->token);
    } catch (const Error&) {
      // The lock expires by itself.
    }
    acquired_.reset();
  }

  App& app_;
  const std::function<workspace::Actor()> renew_;
  const Id workspace_;
  const workspace::LockWanted wanted_;
  http::Request request_;  // the part that an error reply needs
  std::function<void()> retry_;
  std::weak_ptr<http::Deferred> deferred_;
  Mutex mutex_;
  bool ended_ SK_GUARDED_BY(mutex_) = false;
  bool answered_ SK_GUARDED_BY(mutex_) = false;   // at_deadline() has made the reply
  TimeUs retry_at_us_ SK_GUARDED_BY(mutex_) = 0;  // the time for which a timer is set
  std::optional<workspace::Lock> acquired_ SK_GUARDED_BY(mutex_);
  std::optional<followers::Watch> watch_;
};

Reply acquire_lock(Call& call) {
  auto workspace = call.open_workspace(Right::write);
  const auto& limits = call.app.settings;
  workspace::LockWanted wanted;
  wanted.path = clean_path(call.body.need_text("path"));
  wanted.deep = call.body.boolean("deep").value_or(true);
  wanted.shared = call.body.boolean("shared").value_or(false);
  wanted.purpose = call.body.text("purpose").value_or("");
  wanted.ttl_s = call.body.integer("ttl_s").value_or(wanted.ttl_s);
  auto wait_s = within(call.body.integer("wait_s").value_or(0), 0, limits.lock_wait_max_s, "wait_s");
  if (wait_s == 0) return lock_reply(call.app.keep.locks().acquire(workspace, wanted));

  auto first = call.app.keep.locks().try_acquire(workspace, wanted);
  if (first.lock) return lock_reply(*first.lock);
  call.hold_connection();
  auto wait = std::make_shared<LockWait>(call, workspace.workspace_id(), std::move(wanted));
  return LockWait::start(std::move(wait), std::chrono::seconds(wait_s));
}

Reply list_locks(Call& call) {
  auto workspace = call.open_workspace();
  auto below = clean_path(call.query.text("below").value_or(""));
  call.note("list", "locks");
  return Reply::json(list_json(call.app.keep.locks().list(workspace, below), lock_json));
}

Reply renew_lock(Call& call) {
  auto workspace = call.open_workspace(Right::write);
  auto ttl_s = call.body.integer("ttl_s").value_or(workspace::LockWanted{}.ttl_s);
  return Reply::json(lock_json(call.app.keep.locks().renew(workspace, call.body.need_text("token"), ttl_s)));
}

Reply release_lock(Call& call) {
  auto workspace = call.open_workspace(Right::write);
  call.app.keep.locks().release(workspace, call.body.need_text("token"));
  return Reply::empty(204);
}

Reply break_lock(Call& call) {
  auto workspace = call.open_workspace(Right::own);
  auto lock = parse_id(call.request.param("lock"), workspace::prefix::lock, "lock");
  call.app.keep.locks().break_lock(workspace, lock);
  return Reply::empty(204);
}

void add_held_lock_routes(Routes& routes) {
  routes.add({.method = "POST",
              .pattern = kWorkspace + "/locks/renew",
              .id = "renew_lock",
              .tag = "locks",
              .summary = "Extends a lock from now",
              .body_kind = BodyKind::json,
              .body = {{.name = "token", .about = "The lock's token.", .required = true},
                       {.name = "ttl_s",
                        .type = FieldType::integer,
                        .about = "Its new lifetime in seconds. Default: 300."}},
              .answers = {{200, "The lock.", "Lock"}},
              .errors = {Code::forbidden, Code::not_found, Code::quota_exceeded}},
             renew_lock);
  routes.add({.method = "POST",
              .pattern = kWorkspace + "/locks/release",
              .id = "release_lock",
              .tag = "locks",
              .summary = "Releases a lock",
              .body_kind = BodyKind::json,
              .body = {{.name = "token", .about = "The lock's token.", .required = true}},
              .answers = {{204, "Others may lock and write now."}},
              .errors = {Code::forbidden, Code::not_found}},
             release_lock);
  routes.add({.method = "DELETE",
              .pattern = kWorkspace + "/locks/{lock}",
              .id = "break_lock",
              .tag = "locks",
              .summary = "Breaks another client's lock; for the workspace's owner. The journal records it.",
              .answers = {{204, "The lock is gone."}},
              .errors = {Code::forbidden, Code::not_found}},
             break_lock);
}

}  // namespace

void add_lock_routes(Routes& routes) {
  routes.add({.method = "GET",
              .pattern = kWorkspace + "/locks",
              .id = "list_locks",
              .tag = "locks",
              .summary = "Lists the locks with their holders and expiry times",
              .query = {{.name = "below", .about = "Only locks at or below this path."}},
              .answers = {{200, "The locks, without their tokens.", "LockList"}},
              .errors = {Code::not_found}},
             list_locks);
  routes.add(
      {.method = "POST",
       .pattern = kWorkspace + "/locks",
       .id = "acquire_lock",
       .tag = "locks",
       .summary = "Locks a file, a folder, or a path that does not exist yet",
       .details = "Writes below it then need the token, through every API. `fence` grows with every lock. "
                  "Send it as `X-Sandkeep-Fence`: a write is then refused if a later lock covered the path.",
       .body_kind = BodyKind::json,
       .body = {{.name = "path", .about = "The path to lock.", .required = true},
                {.name = "deep",
                 .type = FieldType::boolean,
                 .about = "Whether the lock covers everything below. Default: true."},
                {.name = "shared",
                 .type = FieldType::boolean,
                 .about = "Whether others may hold shared locks at the same time."},
                {.name = "purpose", .about = "A purpose that is shown to others."},
                {.name = "ttl_s",
                 .type = FieldType::integer,
                 .about = "Its lifetime in seconds, 60 to 3600. Default: 300."},
                {.name = "wait_s",
                 .type = FieldType::integer,
                 .about = "Seconds to wait for the lock. Default: 0."}},
       .answers = {{201, "The lock, with its token.", "Lock"}},
       .errors = {Code::forbidden, Code::not_found, Code::locked, Code::too_many_requests, Code::unavailable,
                  Code::quota_exceeded}},
      acquire_lock);
  add_held_lock_routes(routes);
}

}  // namespace sk::api::rest
