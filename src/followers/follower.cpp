#include "followers/follower.h"

#include <algorithm>
#include <deque>
#include <thread>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "base/log.h"
#include "base/mutex.h"
#include "followers/changed_journals.h"

namespace sk::followers {

namespace {

using SteadyTime = std::chrono::steady_clock::time_point;
constexpr size_t kComparedAtOnce = 500;

std::unique_ptr<Cursors> cursors_for(workspace::Keep& keep, const FollowerOptions& options) {
  return options.keeps == FollowerOptions::Keeps::durable ? durable_cursors(keep, options.name, options.begin)
                                                          : memory_cursors(keep, options.begin);
}

workspace::ReadableJournal journal_of(const Id& workspace) {
  if (!workspace)
    return workspace::ReadableJournal::of_server("a follower reads the journals of the whole installation");
  return workspace::system_authority(workspace, {},
                                     "a follower reads the journals of the whole installation");
}

}  // namespace

struct Follower::Impl {
  Impl(workspace::Keep& keep, Metrics& metrics, FollowerOptions wanted, OnEvents call)
      : options(std::move(wanted)),
        on_events(std::move(call)),
        journal(keep.journal()),
        handled(metrics.counter("sandkeep_follower_events_total", "Events that a follower has handled",
                                {{"follower", options.name}})),
        failures(metrics.counter("sandkeep_follower_failures_total", "Batches that a follower has to repeat",
                                 {{"follower", options.name}})),
        cursors(cursors_for(keep, options)),
        changed(keep.feed(), [this] { signal(); }, options.journals_max) {}

  // A journal whose last batch failed.
  struct Failing {
    int times = 0;
    SteadyTime again_at;
  };

  // On the committing thread.
  void signal() {
    {
      MutexLock lock(mutex);
      is_signalled = true;
    }
    wake.notify_one();
  }

  // A waiting thread either sees the request or is waiting already.
  void wake_for_stop() {
    {
      MutexLock lock(mutex);
    }
    wake.notify_one();
  }

  void run(const std::stop_token& stop) {
    std::stop_callback on_stop(stop, [this] { wake_for_stop(); });
    while (!stop.stop_requested() && !is_open && !open()) pause(stop, options.retry_min);
    start_comparing();  // finds what was committed while no process followed
    while (!stop.stop_requested()) {
      collect();
      if (!queue.empty()) {
        step(stop);
      } else if (is_comparing) {
        compare_some(stop);
      } else {
        wait(stop);
      }
      save_if_due();
    }
    save();
  }

  bool open() {
    try {
      cursors->open();
      return is_open = true;
    } catch (const std::exception& error) {
      complain("a follower cannot start; it is tried again", error);
      return false;
    }
  }

  void start_comparing() {
    is_comparing = true;
    compared_until.reset();
  }

  // Queues the journals that grew, and those whose next attempt is due.
  void collect() {
    auto grown = changed.take();
    if (grown.any()) start_comparing();
    for (const Id& id : grown.ids()) enqueue(id);
    auto now = std::chrono::steady_clock::now();
    for (const auto& [id, one] : failing)
      if (one.again_at <= now) enqueue(id);
    if (compare_at <= now) {
      compare_at = SteadyTime::max();
      start_comparing();
    }
  }

  void enqueue(const Id& id) {
    auto found = failing.find(id);
    if (found != failing.end() && found->second.again_at > std::chrono::steady_clock::now()) return;
    if (queued.insert(id).second) queue.push_back(id);
  }

  // Handles one batch of the journal that waits longest. One with more events goes to the end of the queue.
  void step(const std::stop_token& stop) {
    Id id = queue.front();
    queue.pop_front();
    queued.erase(id);
    auto known = failing.find(id);
    // One by one after a failure, so that a bad event holds back only itself.
    size_t limit = known == failing.end() ? options.batch_max : 1;
    std::optional<int64_t> tried_until;
    try {
      int64_t after = cursors->get(id);
      auto events = journal.events(journal_of(id), after, limit, options.filter);
      tried_until = events.cursor;
      if (!events.items.empty()) on_events(events.items, stop);
      handled.add(events.items.size());
      auto entries = events.items.empty() ? Cursors::Entries::skipped : Cursors::Entries::handled;
      if (events.cursor != after) cursors->set(id, events.cursor, entries);
      failing.erase(id);
      if (events.has_more) enqueue(id);
    } catch (const std::exception& error) {
      if (!stop.stop_requested()) fail(id, limit == 1 ? tried_until : std::nullopt, error);
    }
  }

  // `tried_until` is set when exactly one event failed: the position behind it.
  void fail(const Id& id, std::optional<int64_t> tried_until, const std::exception& error) {
    failures.add();
    auto& one = failing[id];
    ++one.times;
    if (options.attempts_max > 0 && one.times >= options.attempts_max && tried_until) {
      complain("a follower skips an event that failed too often", error, id, *tried_until);
      cursors->set(id, *tried_until, Cursors::Entries::handled);
      failing.erase(id);
      enqueue(id);
      return;
    }
    complain("a follower failed; it is tried again", error, id, tried_until.value_or(0));
    auto delay = options.retry_min * (int64_t{1} << std::min(one.times - 1, 20));
    one.again_at =
        std::chrono::steady_clock::now() + std::min<std::chrono::milliseconds>(delay, options.retry_max);
    if (failing.size() <= options.journals_max) return;
    // Its cursor is behind the journal, so that a comparison finds it.
    compare_at = std::min(compare_at, one.again_at);
    failing.erase(id);
  }

  // Queues some of the journals that are ahead of their cursors.
  void compare_some(const std::stop_token& stop) {
    try {
      auto heads = journal.heads(compared_until, kComparedAtOnce);
      for (const auto& head : heads)
        if (cursors->get(head.workspace) < head.seq) enqueue(head.workspace);
      if (heads.empty())
        is_comparing = false;
      else
        compared_until = heads.back().workspace;
    } catch (const std::exception& error) {
      complain("a follower cannot compare its cursors; it is tried again", error);
      pause(stop, options.retry_min);
    }
  }

  void save_if_due() {
    if (cursors->is_save_due() && std::chrono::steady_clock::now() >= saved_at + options.save_interval)
      save();
  }

  void save() {
    saved_at = std::chrono::steady_clock::now();
    try {
      cursors->save();
    } catch (const std::exception& error) {
      complain("the cursors of a follower could not be saved; it is tried again", error);
    }
  }

  // Returns when a journal grew (and `delay` passed), an attempt or a save is due, or `stop` is requested.
  void wait(const std::stop_token& stop) {
    auto until = compare_at;
    for (const auto& [id, one] : failing) until = std::min(until, one.again_at);
    if (cursors->is_save_due()) until = std::min(until, saved_at + options.save_interval);
    MutexLock lock(mutex);
    auto is_woken = [&]() SK_REQUIRES(mutex) { return is_signalled || stop.stop_requested(); };
    if (until == SteadyTime::max())
      wake.wait(lock, is_woken);
    else
      wake.wait_until(lock, until, is_woken);
    if (!std::exchange(is_signalled, false)) return;
    lock.unlock();
    pause(stop, options.delay);
  }

  void pause(const std::stop_token& stop, std::chrono::milliseconds time) {
    if (time.count() == 0) return;
    MutexLock lock(mutex);
    wake.wait_for(lock, time, [&] { return stop.stop_requested(); });
  }

  void complain(std::string_view what, const std::exception& error, const Id& id = {}, int64_t seq = 0) {
    log::error(what, {{"follower", options.name},
                      {"workspace", id.with_prefix(workspace::prefix::workspace)},
                      {"seq", seq},
                      {"error", error.what()}});
  }

  const FollowerOptions options;
  const OnEvents on_events;
  workspace::Journal& journal;
  Counter& handled;
  Counter& failures;

  // The follower's thread only.
  const std::unique_ptr<Cursors> cursors;
  std::deque<Id> queue;           // journals to read
  std::unordered_set<Id> queued;  // the same
  std::unordered_map<Id, Failing> failing;
  bool is_comparing = false;
  std::optional<Id> compared_until;  // unset: from the first journal
  SteadyTime compare_at = SteadyTime::max();
  SteadyTime saved_at = std::chrono::steady_clock::now();
  bool is_open = false;  // the cursors can be used

  Mutex mutex;
  ConditionVariable wake;
  bool is_signalled SK_GUARDED_BY(mutex) = false;  // a journal grew since the last wait
  ChangedJournals changed;
  std::jthread thread;  // last: it uses all of the above
};

Follower::Follower(workspace::Keep& keep, Metrics& metrics, FollowerOptions options, OnEvents on_events)
    : impl_(std::make_unique<Impl>(keep, metrics, std::move(options), std::move(on_events))) {}

Follower::~Follower() { stop(); }

void Follower::start() {
  impl_->open();  // the thread tries again if it fails
  impl_->thread = std::jthread([impl = impl_.get()](const std::stop_token& stop) { impl->run(stop); });
}

void Follower::stop() {
  if (!impl_->thread.joinable()) return;
  impl_->thread.request_stop();
  impl_->thread.join();
}

}  // namespace sk::followers
