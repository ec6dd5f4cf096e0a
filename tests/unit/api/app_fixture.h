// The application without a server: tests call its routes, and stop it at any moment at which it looks at the
// clock.
#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "api/app.h"
#include "base/mutex.h"
#include "interpreter/refusing_interpreter.h"
#include "support/content_of.h"
#include "support/first_principal.h"
#include "support/keep_options.h"
#include "unit/temp_dir.h"

namespace sk::api {

// Every authentication reads the clock, so a hook can run in the middle of an operation that authenticates.
class HookClock final : public Clock {
 public:
  TimeUs now_us() const override {
    std::function<void()> hook;
    {
      MutexLock lock(mutex_);
      if (calls_left_ > 0 && --calls_left_ == 0) hook.swap(hook_);
    }
    if (hook) hook();
    return clock_.now_us();
  }
  // Runs `hook` once: in the `number`-th call of now_us() from now on, on any thread.
  void call_at(int number, std::function<void()> hook) {
    MutexLock lock(mutex_);
    calls_left_ = number;
    hook_ = std::move(hook);
  }

 private:
  const SystemClock clock_;
  mutable Mutex mutex_;
  mutable int calls_left_ SK_GUARDED_BY(mutex_) = 0;  // 0: no hook
  mutable std::function<void()> hook_ SK_GUARDED_BY(mutex_);
};

class AppTest : public testing::Test {
 protected:
  ~AppTest() override {
    app.stop();
    keep.stop();
  }

  static DialectSettings settings() {
    DialectSettings out{};
    out.connections_max = 64;
    out.streams_per_principal_max = 16;
    out.list_page_max = 100;
    out.events_wait_max_s = 60;
    out.lock_wait_max_s = 60;
    out.mcp_sessions_max = out.mcp_sessions_per_principal_max = 10;
    out.mcp_session_idle_s = 3600;
    out.mcp_replay_bytes_max = 1 << 20;
    out.mcp_memory_bytes_max = 16 << 20;
    return out;
  }

  // Calls a route as the administrator. `target` may have a query, which is not decoded.
  http::Reply call(const std::string& method, const std::string& target, const std::string& body = {},
                   const std::vector<std::pair<std::string, std::string>>& headers = {}) {
    http::Request request;
    request.method = method;
    request.target = target;
    request.path = target.substr(0, target.find('?'));
    request.body = body;
    request.headers.set("Host", "localhost");
    request.headers.set("Authorization", "Bearer a-root-key-for-tests");
    for (const auto& [name, value] : headers) request.headers.set(name, value);
    std::string_view query = std::string_view(target).substr(request.path.size());
    for (auto pair : split(query.substr(query.empty() ? 0 : 1), '&'))
      if (auto at = pair.find('='); at != std::string_view::npos)
        request.query.emplace_back(pair.substr(0, at), pair.substr(at + 1));
    auto match = router.match(method, request.path);
    SK_CHECK(match.route != nullptr);
    request.params = match.params;
    return match.route->handler(request);
  }
  static Json json_of(const http::Reply& reply) { return Json::parse(std::get<std::string>(reply.body)); }

  void put(const std::string& path, std::string_view bytes) {
    workspace::PutChange change;
    change.path = path;
    change.content = content_of(keep.context(), bytes);
    keep.files().apply_one(authority, std::move(change));
  }

  TempDir dir;
  HookClock clock;
  Metrics metrics;
  workspace::Keep keep{test::keep_options(dir.path()), clock, metrics};
  workspace::Authority authority = workspace::first_authority(keep);
  interpreter::RefusingInterpreter interpreter{keep, "this test runs no code"};
  App app{keep, interpreter, settings(), metrics, "1.2.3"};
  http::Router router = make_router(app);
};

}  // namespace sk::api
