// Change notification without a blocked thread; the base of long polls and event streams.
#pragma once

#include <functional>
#include <memory>

#include "base/background.h"
#include "workspace/feed.h"

namespace sk::followers {

// Calls `on_change` on a background thread soon after the journal of a workspace grew; the zero id means the
// server's journal. Several changes may result in one call. Calls never overlap. `on_change` must not throw,
// and must not keep the owner of the Watch alive: capture a weak_ptr. The destructor may run on any thread
// except in the Feed's callback. It does not wait for a running call.
class Watch {
 public:
  Watch(workspace::Feed& feed, Background& background, const Id& workspace, std::function<void()> on_change);

  // Triggers a call as if something had changed. Closes the gap between the first read and the subscription,
  // and continues a long backlog.
  void poke();

 private:
  struct State;
  std::shared_ptr<State>
      state_;  // shared with the feed's callback and queued calls, which may outlive the Watch
  workspace::Feed::Subscription subscription_;
};

}  // namespace sk::followers
