// lock: exclusive write access to a path for a limited time, so that agents do not overwrite each other's
// work.
#include "api/mcp/hub.h"
#include "base/mutex.h"
#include "base/path.h"
#include "followers/watch.h"

namespace sk::api::mcp {

namespace {

using workspace::Right;

constexpr int64_t kWaitMaxS = 600;

ToolResult lock_result(const workspace::Lock& lock) {
  ToolResult result;
  result.text.append(as_code(lock.path.empty() ? "(everything)" : lock.path))
      .append(" is yours to write until ");
  result.text.append(to_iso8601(lock.expires_us))
      .append(". Pass lock_token with every write, renew in time, ");
  result.text.append("release when done.\n\nlock_token: ").append(lock.token).append("\n");
  result.structured = {{"path", lock.path},
                       {"lock_token", lock.token},
                       {"fence", lock.fence},
                       {"expires_at", to_iso8601(lock.expires_us)}};
  return result;
}

// A client that waits for a lock of another client. Keeps itself alive until it ends. Tries again when the
// workspace's journal grows and when the conflicting lock expires.
class LockWait : public std::enable_shared_from_this<LockWait> {
 public:
  LockWait(ToolCall& call, const Id& workspace, workspace::LockWanted wanted)
      : app_(call.app()),
        renew_(call.turn.call.renewer()),
        envelope_(call.turn.envelope),
        client_(call.turn.session),
        workspace_(workspace),
        wanted_(std::move(wanted)) {}

  void start(Turn& turn, std::chrono::seconds wait) {
    auto self = shared_from_this();
    {
      // A cancellation may come before open_channel() returns. It waits here for the channel that it ends.
      MutexLock lock(mutex_);
      channel_ = turn.open_channel([weak = weak_from_this()] {
        if (auto strong = weak.lock()) strong->cancel();
      });
      keep_alive_ = self;
      watch_.emplace(app_.keep.feed(), app_.background, workspace_, [weak = weak_from_this()] {
        if (auto strong = weak.lock()) strong->attempt(false);
      });
      watch_->poke();
    }
    app_.background.run_after(wait, [self] { self->attempt(true); });
    // The server stops only after all calls in progress are answered.
    uint64_t at_close = app_.background.on_close([weak = weak_from_this()] {
      if (auto strong = weak.lock()) strong->refuse();
    });
    MutexLock lock(mutex_);
    at_close_ = at_close;
    if (ended_) app_.background.forget(at_close);
  }

 private:
  void attempt(bool is_last) {
    MutexLock lock(mutex_);
    if (ended_) return;
    try {
      auto authority = app_.keep.workspaces().open(
          renew_(), workspace_.with_prefix(workspace::prefix::workspace), Right::write);
      if (is_last) return give_locked(authority, app_.keep.locks().acquire(authority, wanted_));
      auto result = app_.keep.locks().try_acquire(authority, wanted_);
      if (result.lock) return give_locked(authority, *result.lock);
      if (result.in_the_way) retry_at_locked(result.in_the_way->expires_us);
    } catch (const Error& error) {
      end_locked(failed(error));
    }
  }

  void refuse() {
    MutexLock lock(mutex_);
    if (!ended_)
      end_locked(failed(Error(Code::unavailable, "the server is stopping; the lock was not acquired")));
  }

  // Sets a timer, because an expiring lock sends no notification.
  void retry_at_locked(TimeUs expires_us) SK_REQUIRES(mutex_) {
    if (expires_us == retry_at_us_) return;
    retry_at_us_ = expires_us;
    auto left_us = std::max<int64_t>(expires_us - app_.clock.now_us(), 0);
    app_.background.run_after(std::chrono::milliseconds(left_us / 1000 + 10), [weak = weak_from_this()] {
      if (auto strong = weak.lock()) strong->attempt(false);
    });
  }

  // Answers with the lock. Releases it when the client has left, because no client would know its token.
  void give_locked(const workspace::Authority& authority, const workspace::Lock& lock) SK_REQUIRES(mutex_) {
    if (end_locked(lock_result(lock))) return;
    try {
      app_.keep.locks().release(authority, lock.token);
    } catch (const Error&) {
      // The lock expires by itself.
    }
  }

  // Returns false when the client has left.
  bool end_locked(const ToolResult& result) SK_REQUIRES(mutex_) {
    ended_ = true;
    app_.background.forget(at_close_);
    keep_alive_.reset();
    if (client_) client_->forget_running(envelope_.id);
    return channel_->finish(envelope_.wrap(result.to_json()));
  }

  void cancel() {
    MutexLock lock(mutex_);
    if (std::exchange(ended_, true)) return;
    app_.background.forget(at_close_);
    keep_alive_.reset();
    channel_->abandon();
  }

  App& app_;
  const std::function<workspace::Actor()> renew_;
  const Envelope envelope_;
  const std::shared_ptr<LegacySession> client_;
  const Id workspace_;
  const workspace::LockWanted wanted_;
  Mutex mutex_;
  std::shared_ptr<Channel> channel_ SK_GUARDED_BY(mutex_);  // set by start()
  bool ended_ SK_GUARDED_BY(mutex_) = false;
  uint64_t at_close_ SK_GUARDED_BY(mutex_) = 0;
  TimeUs retry_at_us_ SK_GUARDED_BY(mutex_) = 0;  // the time for which a timer is set
  std::optional<followers::Watch> watch_ SK_GUARDED_BY(mutex_);
  std::shared_ptr<LockWait> keep_alive_ SK_GUARDED_BY(mutex_);  // reset at the end
};

std::optional<ToolResult> acquire(ToolCall& call, const workspace::Authority& workspace) {
  workspace::LockWanted wanted;
  wanted.path = call.path("path");
  if (!call.has("path")) throw Error(Code::bad_request, "'path' is missing");
  wanted.purpose = call.text("purpose").value_or("");
  wanted.ttl_s = call.integer("ttl_s").value_or(wanted.ttl_s);
  auto wait_s = std::min(call.integer("wait_s").value_or(0), call.app().settings.lock_wait_max_s);
  auto& locks = call.app().keep.locks();
  if (wait_s == 0) return lock_result(locks.acquire(workspace, wanted));
  auto first = locks.try_acquire(workspace, wanted);
  if (first.lock) return lock_result(*first.lock);
  std::make_shared<LockWait>(call, workspace.workspace_id(), wanted)
      ->start(call.turn, std::chrono::seconds(wait_s));
  return std::nullopt;
}

std::optional<ToolResult> lock(ToolCall& call) {
  auto workspace = call.open_workspace(Right::write);
  auto action = call.need_text("action");
  if (action == "acquire") return acquire(call, workspace);
  auto& locks = call.app().keep.locks();
  auto token = call.need_text("lock_token");
  if (action == "renew")
    return lock_result(
        locks.renew(workspace, token, call.integer("ttl_s").value_or(workspace::LockWanted{}.ttl_s)));
  locks.release(workspace, token);
  ToolResult result;
  result.text = "Released; others may lock and write now.\n";
  result.structured = {{"released", true}};
  return result;
}

}  // namespace

Tools lock_tools() {
  return {
      {.name = "lock",
       .title = "Lock, renew, release",
       .about = "Manages the exclusive right to write a file, or a folder and its contents, for a limited "
                "time. If another client holds it, acquire reports who and until when, or waits.",
       .input = {{"action", field::choice("The action.", {"acquire", "renew", "release"})},
                 {"path", field::text("For acquire. The path need not exist.")},
                 {"lock_token", field::text("For renew and release.")},
                 {"ttl_s", field::integer("Lifetime in seconds. Default: 300.", 1)},
                 {"wait_s", field::integer("Seconds to wait for the lock.", 0, kWaitMaxS)},
                 {"purpose", field::text("A purpose that is shown to others.")},
                 {"workspace", field::workspace()}},
       .required = {"action"},
       .output = {{"lock_token", field::any("string")},
                  {"fence", field::any("integer")},
                  {"expires_at", field::any("string")},
                  {"released", field::any("boolean")}},
       .run = lock},
  };
}

}  // namespace sk::api::mcp
