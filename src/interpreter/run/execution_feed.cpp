#include "interpreter/run/execution_feed.h"

#include <limits>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/mutex.h"

namespace sk::interpreter {

std::string_view outcome_name(const Execution& execution) {
  return execution.outcome ? name_of(*execution.outcome) : std::string_view();
}

void fold(Execution& execution, const Event& event) {
  std::visit(Visit{[&](const Started& started) {
                     execution.status = ExecutionStatus::running;
                     execution.woke = started.woke;
                     execution.started_us = started.started_us;
                   },
                   [&](const OutputAdded& added) { append(execution.outputs, added.output); },
                   [&](const OutputsCleared&) { execution.outputs.clear(); },
                   [&](const FileKept& kept) {
                     auto& files = execution.files.kept;
                     std::erase_if(files,
                                   [&](const auto& earlier) { return earlier.path == kept.file.path; });
                     files.push_back(kept.file);
                   },
                   [](const ToolsAsked&) {}, [](const Ended&) {}},
             event);
}

// Calls one listener on the session's thread. A listener that throws must not stop that thread or the other
// listeners.
template <class Listener, class News>
static void tell(const Listener& listener, const News& news) {
  try {
    listener(news);
  } catch (const std::exception& error) {
    log::error("a listener of an execution failed", {{"reason", error.what()}});
  }
}

// Files beyond this number are in the answer, and followers see them when they are kept.
constexpr size_t kStoredFilesMax = 10'000;

bool ExecutionFeed::reserve(size_t bytes) {
  MutexLock lock(mutex_);
  return share_.take(bytes);
}

size_t ExecutionFeed::bytes() const {
  MutexLock lock(mutex_);
  return share_.bytes();
}

std::shared_ptr<OutputBudget> ExecutionFeed::budget() const {
  MutexLock lock(mutex_);
  return share_.budget();
}

static const TextOutput* added_text(const Event& event) {
  const auto* added = std::get_if<OutputAdded>(&event);
  return added != nullptr ? std::get_if<TextOutput>(&added->output) : nullptr;
}

ExecutionEvent ExecutionFeed::Stored::after(int64_t earlier) const {
  const auto* text = added_text(event);
  if (text == nullptr || earlier < number) return {last_number(), event};
  auto from = ends[static_cast<size_t>(earlier - number)];
  return {last_number(), OutputAdded{TextOutput{text->stream, text->text.substr(from)}}};
}

bool ExecutionFeed::join_text(int64_t number, const Event& event) {
  const auto* text = added_text(event);
  if (text == nullptr || events_.empty() || events_.back().last_number() != number - 1) return false;
  auto* last = const_cast<TextOutput*>(added_text(events_.back().event));
  if (last == nullptr || last->stream != text->stream) return false;
  last->text += text->text;
  events_.back().ends.push_back(static_cast<uint32_t>(last->text.size()));
  return true;
}

void ExecutionFeed::store(int64_t number, const Event& event) {
  if (join_text(number, event)) return;
  if (std::holds_alternative<FileKept>(event) && ++files_ > kStoredFilesMax) return;
  // A follower that comes later needs no outputs that are cleared, and no calls before the last ones.
  if (std::holds_alternative<OutputsCleared>(event))
    std::erase_if(events_, [](const Stored& one) {
      return std::holds_alternative<OutputAdded>(one.event) ||
             std::holds_alternative<OutputsCleared>(one.event);
    });
  if (std::holds_alternative<ToolsAsked>(event))
    std::erase_if(events_, [](const Stored& one) { return std::holds_alternative<ToolsAsked>(one.event); });
  Stored stored{number, event};
  if (const auto* text = added_text(event)) stored.ends.push_back(static_cast<uint32_t>(text->text.size()));
  events_.push_back(std::move(stored));
}

int64_t ExecutionFeed::add(Event event) {
  MutexLock lock(mutex_);
  ExecutionEvent added{++last_number_, std::move(event)};
  store(added.number, added.event);
  for (auto& [number, follower] : followers_) tell(follower, added);
  return added.number;
}

void ExecutionFeed::finish(Execution execution) {
  std::vector<Waiter> waiters;
  const Execution* result = nullptr;  // it does not change any more
  {
    MutexLock lock(mutex_);
    if (result_) return;  // only the first end counts
    result_ = std::move(execution);
    result = &*result_;
    ExecutionEvent ended{++last_number_, Ended{}};
    store(ended.number, ended.event);
    for (auto& [number, follower] : followers_) tell(follower, ended);
    waiters.swap(waiters_);
  }
  for (auto& waiter : waiters) tell(waiter.then, result);
}

bool ExecutionFeed::finished() const {
  MutexLock lock(mutex_);
  return result_.has_value();
}

Execution ExecutionFeed::result() const {
  MutexLock lock(mutex_);
  SK_CHECK(result_.has_value());
  return *result_;
}

Execution ExecutionFeed::so_far(Execution asked) const {
  MutexLock lock(mutex_);
  if (result_) return *result_;
  for (const auto& one : events_) fold(asked, one.event);
  return asked;
}

uint64_t ExecutionFeed::follow(int64_t after, std::function<void(const ExecutionEvent&)> on_event) {
  MutexLock lock(mutex_);
  for (const auto& stored : events_)
    if (stored.last_number() > after) tell(on_event, stored.after(after));
  followers_.emplace(next_, std::move(on_event));
  return next_++;
}

void ExecutionFeed::unfollow(uint64_t number) {
  MutexLock lock(mutex_);
  followers_.erase(number);
}

void ExecutionFeed::await(TimeUs deadline_us, std::function<void(const Execution*)> then) {
  const Execution* result = nullptr;
  {
    MutexLock lock(mutex_);
    if (!result_) {
      waiters_.push_back({deadline_us, std::move(then)});
      return;
    }
    result = &*result_;
  }
  tell(then, result);
}

void ExecutionFeed::on_finish(std::function<void(const Execution&)> when_done) {
  await(std::numeric_limits<TimeUs>::max(),
        [when_done = std::move(when_done)](const Execution* execution) { when_done(*execution); });
}

void ExecutionFeed::expire(TimeUs now_us) {
  std::vector<Waiter> overdue;
  {
    MutexLock lock(mutex_);
    for (auto& waiter : std::exchange(waiters_, {}))
      (now_us < waiter.deadline_us ? waiters_ : overdue).push_back(std::move(waiter));
  }
  for (auto& waiter : overdue) tell(waiter.then, static_cast<const Execution*>(nullptr));
}

void await_all(const std::vector<std::shared_ptr<ExecutionFeed>>& feeds, std::chrono::milliseconds limit) {
  struct Count {
    Mutex mutex;
    ConditionVariable none;
    size_t left = 0;
  };
  auto count = std::make_shared<Count>();  // the last ones may finish after the return
  count->left = feeds.size();
  for (const auto& feed : feeds)
    feed->on_finish([count](const Execution&) {
      MutexLock lock(count->mutex);
      if (--count->left == 0) count->none.notify_all();
    });
  MutexLock lock(count->mutex);
  count->none.wait_for(lock, limit, [&] { return count->left == 0; });
}

}  // namespace sk::interpreter
