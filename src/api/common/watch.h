// Hearing of changes without holding a thread: what long polls and event streams are built on.
#pragma once

#include <functional>
#include <memory>

#include "api/common/background.h"
#include "workspace/feed.h"

namespace sk::api {

// Calls `on_change` on a background thread soon after the journal of a workspace (or, for the zero id, of the
// server) grew. Several changes may make one call; two calls never overlap. `on_change` must not throw and
// must not keep alive what owns the Watch: let it capture a weak_ptr. The destructor may run on any thread
// but the Feed's callback; a call that is under way then goes on.
class Watch {
 public:
  Watch(workspace::Feed& feed, Background& background, const Id& workspace, std::function<void()> on_change);

  // As if something had changed: closes the gap between the first look and the subscription, and goes on with
  // a long backlog.
  void poke();

 private:
  struct State;
  std::shared_ptr<State>
      state_;  // shared with the feed's callback and with queued calls, which may outlive this
  workspace::Feed::Subscription subscription_;
};

}  // namespace sk::api
