#include "interpreter/sessions/repeats.h"

#include <algorithm>

#include "base/error.h"

namespace sk::interpreter {

namespace {

constexpr int64_t kKeyLifeUs = 24 * 3600 * kSecondUs;
// Clients retry within seconds of a failure.
constexpr int64_t kAnswerLifeUs = 15 * 60 * kSecondUs;
constexpr size_t kUnansweredMax = 10'000;

bool is_same(const Execution& execution, const NewExecution& wanted) {
  return execution.code == wanted.code && execution.language == wanted.language;
}

RunningExecution joined(RunningExecution running) {
  running.joined = true;
  return running;
}

// Returns a finished execution as if it had just ended.
RunningExecution finished(Execution execution) {
  RunningExecution running{execution.id, execution.number, std::make_shared<ExecutionFeed>(), execution,
                           true};
  running.feed->finish(std::move(execution));
  return running;
}

}  // namespace

std::optional<RunningExecution> Repeats::find(const Id& session, LiveSession* live,
                                              const NewExecution& wanted) {
  if (!wanted.idempotency_key.empty()) return find_by_key(session, live, wanted);
  if (wanted.repeated) return find_newest(session, live, wanted);
  return std::nullopt;
}

std::optional<RunningExecution> Repeats::find_by_key(const Id& session, LiveSession* live,
                                                     const NewExecution& wanted) {
  auto found = records_.find_by_key(session, wanted.idempotency_key, clock_.now_us() - kKeyLifeUs);
  if (!found) return std::nullopt;
  if (!is_same(*found, wanted))
    throw Error(Code::conflict, "this idempotency key was used for other code")
        .advise(Advice::give_code_its_own_key);
  if (auto running = live != nullptr ? live->find(found->id) : std::nullopt) return joined(*running);
  // The last server was killed, and this one could not give the execution to its session yet.
  if (found->status != ExecutionStatus::done)
    throw Error(Code::unavailable, "this request was accepted before and has not begun yet")
        .advise(Advice::retry_with_same_key);
  return finished(std::move(*found));
}

std::optional<RunningExecution> Repeats::find_newest(const Id& session, LiveSession* live,
                                                     const NewExecution& wanted) {
  if (live != nullptr) {
    auto unfinished = live->unfinished();
    auto newest = std::max_element(unfinished.begin(), unfinished.end(),
                                   [](const auto& a, const auto& b) { return a.number < b.number; });
    if (newest != unfinished.end())
      return is_same(newest->asked, wanted) ? std::optional(joined(*newest)) : std::nullopt;
  }
  auto newest = saver_.list_executions(session, 0, {1}).items;
  if (newest.empty() || !is_same(newest[0], wanted) || newest[0].status != ExecutionStatus::done)
    return std::nullopt;
  const Execution& last = newest[0];
  if (clock_.now_us() - last.ended_us > kAnswerLifeUs) return std::nullopt;
  bool was_killed = last.outcome == Outcome::crash && last.created_us < started_us_;
  // A request whose answer was delivered runs again: the failed attempt was another request that never
  // arrived.
  if (!was_killed && !take_unanswered(last.id)) return std::nullopt;
  auto whole = saver_.find_execution(session, last.id);
  return whole ? std::optional(finished(std::move(*whole))) : std::nullopt;
}

void Repeats::note_unanswered(const Id& execution) {
  MutexLock lock(mutex_);
  if (std::find(unanswered_.begin(), unanswered_.end(), execution) != unanswered_.end()) return;
  unanswered_.push_back(execution);
  if (unanswered_.size() > kUnansweredMax) unanswered_.pop_front();
}

bool Repeats::take_unanswered(const Id& execution) {
  MutexLock lock(mutex_);
  return std::erase(unanswered_, execution) > 0;
}

}  // namespace sk::interpreter
