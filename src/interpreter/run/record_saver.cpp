#include "interpreter/run/record_saver.h"

#include <algorithm>

#include "base/error.h"
#include "base/log.h"
#include "base/on_behalf.h"

namespace sk::interpreter {

namespace {

// The catalog never replaces a finished execution by an unfinished one.
bool is_newer(const Execution& unwritten, const Execution& row) {
  return unwritten.status == ExecutionStatus::done || row.status != ExecutionStatus::done;
}

// Adds an unwritten record to a page of a list, or replaces its row. Lists have no files.
template <class Belongs, class Order>
void add_unwritten(std::vector<Execution>& page, const std::shared_ptr<const Execution>& one,
                   const Belongs& belongs, const Order& order) {
  if (!belongs(one->number)) return;
  Execution listed = *one;
  listed.files.kept.clear();
  auto at = std::find_if(page.begin(), page.end(), [&](const Execution& row) { return row.id == one->id; });
  if (at == page.end())
    page.insert(std::lower_bound(page.begin(), page.end(), listed, order), std::move(listed));
  else if (is_newer(listed, *at))
    *at = std::move(listed);
}

}  // namespace

void RecordSaver::save(const SessionInfo& session, const Execution& execution) {
  auto latest = std::make_shared<const Execution>(execution);
  {
    MutexLock lock(mutex_);
    Pending& pending = pending_[session.id];
    auto& waiting = pending.executions[execution.id];
    bool is_waiting = waiting != nullptr;
    waiting = std::move(latest);
    if (is_waiting) return;
    ++pending.writes;
  }
  submit(session.id, [this, session, id = execution.id] { write_latest(session, id); });
}

void RecordSaver::mark_told(const SessionInfo& session) {
  write(session.id, [this, session] { records_.mark_told(session); });
}

void RecordSaver::tell(const SessionInfo& session, std::string kind, TimeUs expires_us) {
  write(session.id,
        [this, session, kind = std::move(kind), expires_us] { records_.tell(session, kind, expires_us); });
}

void RecordSaver::write(const Id& session, std::function<void()> job) {
  {
    MutexLock lock(mutex_);
    ++pending_[session].writes;
  }
  submit(session, std::move(job));
}

void RecordSaver::submit(const Id& session, std::function<void()> job) {
  thread_.submit_always([this, session, job = std::move(job)] {
    try {
      job();
    } catch (const std::exception& error) {
      log::error("a record of a session could not be saved",
                 {{"session", session.hex()}, {"error", error.what()}});
    }
    written(session);
  });
}

// Saves until no newer state has come meanwhile.
void RecordSaver::write_latest(const SessionInfo& session, const Id& execution) {
  auto waiting = [&]() SK_REQUIRES(mutex_) -> std::shared_ptr<const Execution>& {
    return pending_.at(session.id).executions.at(execution);
  };
  for (;;) {
    std::shared_ptr<const Execution> latest;
    {
      MutexLock lock(mutex_);
      latest = waiting();
    }
    try {
      records_.save(session, *latest, catalog::Survives::kill);
    } catch (const Error& error) {
      log::error("an execution's record could not be saved", {{"error", error.message()}});
    }
    MutexLock lock(mutex_);
    if (waiting() != latest) continue;
    pending_.at(session.id).executions.erase(execution);
    return;
  }
}

void RecordSaver::written(const Id& session) {
  std::vector<std::function<void()>> waiting;
  {
    MutexLock lock(mutex_);
    auto found = pending_.find(session);
    if (--found->second.writes > 0) return;
    waiting.swap(found->second.waiting);
    pending_.erase(found);
  }
  for (auto& then : waiting) pool_.submit_always(std::move(then));
}

void RecordSaver::after(const Id& session, std::function<void()> then) {
  {
    MutexLock lock(mutex_);
    if (auto found = pending_.find(session); found != pending_.end()) {
      found->second.waiting.push_back([tenant = OnBehalfOf::tenant(), then = std::move(then)] {
        OnBehalfOf whom(tenant);
        then();
      });
      return;
    }
  }
  then();
}

RecordSaver::Unwritten RecordSaver::unwritten(const Id& session) const {
  MutexLock lock(mutex_);
  auto found = pending_.find(session);
  return found == pending_.end() ? Unwritten{} : found->second.executions;
}

std::optional<Execution> RecordSaver::find_execution(const Id& session, const Id& execution) {
  auto waiting = unwritten(session);
  auto row = records_.find_execution(session, execution);
  auto found = waiting.find(execution);
  if (found == waiting.end() || (row && !is_newer(*found->second, *row))) return row;
  return *found->second;
}

workspace::Page<Execution> RecordSaver::list_executions(const Id& session, int64_t before,
                                                        const Records::PageLimit& limit) {
  auto waiting = unwritten(session);
  auto page = records_.list_executions(session, before, limit);
  // A row below the page belongs to a later one.
  int64_t last = page.has_more ? page.items.back().number : 0;
  auto belongs = [&](int64_t number) { return (before == 0 || number < before) && number >= last; };
  auto newest_first = [](const Execution& a, const Execution& b) { return a.number > b.number; };
  for (const auto& [id, one] : waiting) add_unwritten(page.items, one, belongs, newest_first);
  if (page.items.size() > limit.count) {
    page.items.resize(limit.count);
    page.has_more = true;
  }
  if (page.has_more) page.next_cursor = std::to_string(page.items.back().number);
  return page;
}

std::vector<Execution> RecordSaver::executions_after(const Id& session, int64_t after, size_t limit) {
  auto waiting = unwritten(session);
  auto page = records_.executions_after(session, after, limit);
  auto belongs = [&](int64_t number) { return number > after; };
  auto oldest_first = [](const Execution& a, const Execution& b) { return a.number < b.number; };
  for (const auto& [id, one] : waiting) add_unwritten(page, one, belongs, oldest_first);
  if (page.size() > limit) page.resize(limit);
  return page;
}

}  // namespace sk::interpreter
