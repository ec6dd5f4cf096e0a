#include "interpreter/sessions/admission.h"

#include "base/error.h"
#include "base/text.h"
#include "interpreter/sessions/eviction.h"
#include "interpreter/sessions/expected_wait.h"

namespace sk::interpreter {

namespace {

// The part of its limit for which a session that wakes needs room.
constexpr uint64_t kNeededPart = 4;

}  // namespace

uint64_t held_now(const LiveSession& session) {
  auto usage = session.usage();
  return usage.memory_bytes - std::min(usage.memory_bytes, usage.memory_cache_bytes);
}

std::shared_ptr<void> Admission::admit(const Id& guest, size_t mine_max, uint64_t memory_bytes) {
  auto place = admit_number(guest, mine_max);
  admit_memory(guest, memory_bytes);
  if (parts_.names == nullptr) return place;
  if (parts_.names->is_tight_for(guest.hex()))
    make_room(guest, guest);
  else if (parts_.names->is_tight())
    make_room(guest, std::nullopt);
  return place;
}

std::shared_ptr<void> Admission::admit_number(const Id& guest, size_t mine_max) {
  MutexLock lock(mutex_);
  size_t mine = arriving_.count(guest), all = arriving_.size();
  for (auto& session : parts_.registry.all()) {
    ++all;
    if (session->info().owner == guest) ++mine;
  }
  // Sleep costs the other session its variables; a refusal would cost this caller its answer. Several sleep
  // when the limit was lowered.
  for (; mine >= mine_max; --mine, --all)
    if (!make_room(guest, guest))
      throw refuse(guest, "you run code in " + counted(static_cast<int64_t>(mine), "session", "sessions") +
                              ", and the limit is " + std::to_string(mine_max));
  for (; all >= parts_.options.sessions_max; --all)
    if (!make_room(guest, std::nullopt))
      throw refuse(std::nullopt, "the server runs code in " +
                                     counted(static_cast<int64_t>(all), "session", "sessions") +
                                     ", which is the limit");
  arriving_.insert(guest);
  return {nullptr, [this, guest](void*) {
            MutexLock arrived(mutex_);
            arriving_.erase(arriving_.find(guest));
          }};
}

void Admission::admit_memory(const Id& guest, uint64_t memory_bytes) {
  auto live = parts_.registry.all();
  // Measuring is not free, and not needed where not even the limits add up to the memory.
  uint64_t limits = memory_bytes;
  for (const auto& session : live) limits += session->info().memory_bytes;
  if (limits <= parts_.memory_max) return;
  uint64_t used = 0, needed = memory_bytes / kNeededPart;
  for (const auto& session : live) used += parts_.held_bytes(*session);
  while (used > 0 && used + needed > parts_.memory_max) {
    auto asleep = make_room(guest, std::nullopt);
    if (!asleep)
      throw refuse(std::nullopt, "the sessions of this server use " + human_size(used) + " of " +
                                     human_size(parts_.memory_max) + " of memory, and this one needs " +
                                     human_size(needed));
    used -= std::min(used, parts_.held_bytes(*asleep));
  }
}

Error Admission::refuse(const std::optional<Id>& owner, std::string what) const {
  return Error(Code::too_many_requests, std::move(what))
      .retry_in(until_one_is_idle_s(parts_.registry.all(), owner, parts_.clock.now_us()))
      .advise(Advice::end_a_session);
}

std::shared_ptr<LiveSession> Admission::make_room(const Id& guest, const std::optional<Id>& owner) {
  for (auto live = parts_.registry.all();;) {
    auto longest = choose_evicted(live, guest, owner, parts_.options.sessions_max, parts_.clock.now_us());
    if (!longest) return nullptr;
    auto lease = parts_.registry.try_acquire(longest->info().id);
    if (lease && lease->live() == longest && !longest->busy()) {
      parts_.end(std::move(*lease));
      return longest;
    }
    std::erase(live, longest);  // another thread has its lease
  }
}

void check_queue(const LiveSession& session, size_t queue_max, TimeUs now_us) {
  if (size_t queued = session.queued(); queued > queue_max)
    throw Error(Code::too_many_requests,
                "the session has " + std::to_string(queued - 1) + " executions waiting")
        .retry_in(until_one_ends_s(session, now_us))
        .advise(Advice::wait_for_executions);
}

void check_only_copies(Records& records, const SessionInfo& session, size_t max) {
  if (size_t count = records.count_with_only_copies(session); count >= max)
    throw Error(Code::quota_exceeded, std::to_string(count) +
                                          " of your sessions hold files that could not be kept, which is the "
                                          "limit, so no other session wakes")
        .with("count", static_cast<int64_t>(count))
        .with("limit", static_cast<int64_t>(max))
        .advise(Advice::keep_files_first);
}

void SleepNotes::add(const Id& session, std::string sentence) {
  MutexLock lock(mutex_);
  notes_[session] = std::move(sentence);
  if (notes_.size() > kMax) notes_.erase(notes_.begin());
}

std::string SleepNotes::take(const Id& session) {
  MutexLock lock(mutex_);
  auto found = notes_.extract(session);
  return found.empty() ? "" : std::move(found.mapped());
}

}  // namespace sk::interpreter
