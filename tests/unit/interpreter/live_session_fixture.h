// Live sessions with a played kernel: a real keep, a real working copy, no sandbox. The clock is the test's.
#pragma once

#include <chrono>
#include <future>
#include <stdexcept>

#include "interpreter/run/live_session.h"
#include "support/interpreter_options.h"
#include "unit/interpreter/copy_fixture.h"
#include "unit/interpreter/played_kernel.h"

namespace sk::interpreter {

class LiveSessionTest : public CopyTest {
 protected:
  LiveSessionTest() {
    services.start_kernel = [this](const sandbox::SessionSpec&, sandbox::KernelEvents& events) {
      play.has_ended = false;
      return std::make_unique<PlayedKernel>(play, events);
    };
    // A kernel that has something to say is read at once.
    services.watch_fd = [this](int, std::weak_ptr<LiveSession> watched) {
      play.on_told = [watched] {
        if (auto alive = watched.lock()) alive->poll();
      };
    };
    services.rearm_fd = [](int) {};
    services.forget_fd = [this](int) { play.on_told = [] {}; };
    services.save_later = [this](const SessionInfo& info, const Execution& execution) {
      records.save(info, execution);
    };
    services.told_later = [this](const SessionInfo& info) { records.mark_told(info); };
    live = LiveSession::make(services, session);
  }
  ~LiveSessionTest() override {
    // Whatever a test left running.
    if (live) retire();
    live.reset();
    pool.stop();
  }

  struct Running {
    Id id;
    std::shared_ptr<ExecutionFeed> feed;
  };
  Running enqueue(const std::string& code, NewExecution wanted = {}) {
    return enqueue_as(ws, code, std::move(wanted));
  }
  Running enqueue_as(const workspace::Authority& authority, const std::string& code,
                     NewExecution wanted = {}) {
    live->admit(authority);
    QueuedExecution queued;
    queued.execution.id = keep.context().ids.next();
    queued.execution.session = session.id;
    queued.execution.author = actor.principal();
    queued.execution.language = "python";
    queued.execution.code = code;
    queued.execution.created_us = clock.now_us();
    queued.execution.number = live->next_number();
    queued.wanted = std::move(wanted);
    queued.author = actor;
    queued.key = authority.actor().key();
    queued.feed = std::make_shared<ExecutionFeed>();
    Running running{queued.execution.id, queued.feed};
    live->reserve();
    live->enqueue(std::move(queued));
    return running;
  }
  // Throws when it does not end: a test that waits for ever says less than one that fails.
  static Execution wait(const Running& running) {
    auto done = std::make_shared<std::promise<Execution>>();
    running.feed->on_finish([done](const Execution& execution) { done->set_value(execution); });
    auto ended = done->get_future();
    if (ended.wait_for(std::chrono::seconds(30)) != std::future_status::ready)
      throw std::runtime_error("an execution did not end");
    return ended.get();
  }
  Execution run(const std::string& code) { return wait(enqueue(code)); }
  // Waits until the strand has done everything so far, and what came of it. The test may use the play and the
  // copy afterwards: the pool has one thread, which leaves a strand when that has nothing more to do.
  void settle() {
    std::promise<void> done;
    pool.submit_always(session.owner, [&] { done.set_value(); });
    done.get_future().wait();
  }
  void pass(int64_t us) {
    clock.advance_us(us);
    live->tick(clock.now_us());
    settle();
  }
  void retire(LiveSession::Why why = LiveSession::Why::asked) {
    std::promise<void> done;
    live->retire(why, [&] { done.set_value(); });
    done.get_future().wait();
  }

  InterpreterOptions options = test::interpreter_options(context.directory);
  sandbox::DiskGuard disk_guard{{.data_root = context.directory}};
  FairPool pool{1, {.running_per_key_max = 1, .waiting_per_key_max = 1000, .waiting_max = 1000}};
  Play play;
  SessionServices services{keep, options, records, context, disk_guard, pool, {}, {}, {}, {}, {}, {}, false};
  std::shared_ptr<LiveSession> live;
};

}  // namespace sk::interpreter
