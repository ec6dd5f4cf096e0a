// The end of a live session: asked for, or because the server stops.
#include <algorithm>

#include "interpreter/live_session.h"

namespace sk::interpreter {

void LiveSession::retire(Why why, std::function<void()> then) {
  strand_.post([this, self = shared_from_this(), why, then = std::move(then)] {
    retired_ = true;
    stopping_ = stopping_ || why == Why::server_stops;
    if (current_ && kernel_) {
      kernel_->session().kill(sandbox::End::killed, std::string(name_of(Outcome::interrupted)));
      if (kernel_->session().wait_ended(5'000))
        while (kernel_ && current_ && !kernel_->has_ended()) run_kernel_events();
    }
    end_queue(why);
    go_to_sleep();
    then();
  });
}

std::string LiveSession::stop_message() const {
  return std::string(stopping_ ? "the server" : "the session") +
         " was stopped while this ran; files that were closed by then are kept";
}

void LiveSession::interrupt_for_stop() {
  strand_.post([this, self = shared_from_this()] {
    stopping_ = true;
    end_queue(Why::server_stops);
    if (!current_ || !kernel_ || stop_ != Stop::none) return;
    stop_ = Stop::cancelled;
    kernel_->interrupt();
    kill_us_ = shared_.keep.ground().clock.now_us() + kInterruptGraceUs;
  });
}

void LiveSession::end_queue(Why why) {
  for (auto& waiting : std::exchange(queue_, {})) {
    if (why == Why::server_stops && waiting.wanted.accepted) {
      // Its row stays as it is: it runs after the restart. Who waits for it hears that it is not over.
      waiting.execution.message = "the server is stopping; this stays queued and runs when it is back";
      waiting.feed->finish(std::move(waiting.execution));
      --queued_;
    } else {
      interrupt_queued(std::move(waiting), why == Why::server_stops
                                               ? "the server is stopping; this was not run"
                                               : "the session was ended before it started");
    }
  }
}

void LiveSession::close_queue() {
  strand_.post([this, self = shared_from_this()] { stop_before_accepted(); });
}

// Executions keep their order: what waits behind accepted work that is not begun any more cannot begin
// either.
void LiveSession::stop_before_accepted() {
  auto first =
      std::find_if(queue_.begin(), queue_.end(), [](const auto& one) { return one.wanted.accepted; });
  if (!shared_.closing || first == queue_.end()) return;
  std::deque<QueuedExecution> before(std::make_move_iterator(queue_.begin()), std::make_move_iterator(first));
  queue_.erase(queue_.begin(), first);
  end_queue(Why::server_stops);
  queue_ = std::move(before);
}

}  // namespace sk::interpreter
