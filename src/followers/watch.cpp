#include "followers/watch.h"

#include "base/mutex.h"

namespace sk::followers {

struct Watch::State : std::enable_shared_from_this<State> {
  State(Background& on, std::function<void()> call) : background(on), on_change(std::move(call)) {}

  void poke() {
    {
      MutexLock lock(mutex);
      if (active) {
        again = true;
        return;
      }
      active = true;
    }
    background.run([self = shared_from_this()] { self->call(); });
  }

  void call() {
    on_change();
    {
      MutexLock lock(mutex);
      if (!again) {
        active = false;
        return;
      }
      again = false;
    }
    background.run([self = shared_from_this()] { self->call(); });
  }

  Background& background;
  const std::function<void()> on_change;
  Mutex mutex;
  bool active SK_GUARDED_BY(mutex) = false;  // a call is queued or running
  bool again SK_GUARDED_BY(mutex) = false;   // something changed since that call began
};

Watch::Watch(workspace::Feed& feed, Background& background, const Id& workspace,
             std::function<void()> on_change)
    : state_(std::make_shared<State>(background, std::move(on_change))),
      subscription_(feed.subscribe(workspace, [state = state_] { state->poke(); })) {}

void Watch::poke() { state_->poke(); }

}  // namespace sk::followers
