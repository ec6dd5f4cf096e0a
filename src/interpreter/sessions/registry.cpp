#include "interpreter/sessions/registry.h"

#include <algorithm>

#include "base/error.h"
#include "interpreter/run/live_session.h"

namespace sk::interpreter {

namespace {
// A lease is held while a session wakes, syncs or falls asleep, not while code runs.
constexpr int64_t kLeaseWaitS = 2;
}  // namespace

Registry::Lease::Lease(Lease&& other) noexcept
    : registry_(std::exchange(other.registry_, nullptr)), id_(other.id_) {}

Registry::Lease& Registry::Lease::operator=(Lease&& other) noexcept {
  if (this != &other) {
    release();
    registry_ = std::exchange(other.registry_, nullptr);
    id_ = other.id_;
  }
  return *this;
}

Registry::Lease::~Lease() { release(); }

void Registry::Lease::release() {
  if (registry_ == nullptr) return;
  Registry& registry = *std::exchange(registry_, nullptr);
  // Submits under the mutex: the registry may be destroyed as soon as the last lease is released.
  MutexLock lock(registry.mutex_);
  auto found = registry.slots_.find(id_);
  Slot& slot = found->second;
  if (slot.waiting.empty()) {
    slot.leased = false;
    if (slot.is_idle()) registry.slots_.erase(found);
    return;
  }
  // The next caller has it from now on, so that nobody else can take it in between.
  auto next = std::move(slot.waiting.front().lease);
  slot.waiting.pop_front();
  registry.pool_.submit_always([&registry, id = id_, next] { next.set(Lease(registry, id)); });
}

std::shared_ptr<LiveSession> Registry::Lease::live() const {
  MutexLock lock(registry_->mutex_);
  return registry_->slots_.at(id_).live;
}

void Registry::Lease::wake(std::shared_ptr<LiveSession> live) {
  MutexLock lock(registry_->mutex_);
  if (registry_->closed_) throw Error(Code::unavailable, "the server is stopping");
  Slot& slot = registry_->slots_.at(id_);
  SK_CHECK(!slot.live, "a session is alive twice");
  slot.live = std::move(live);
  slot.ending = false;
}

void Registry::Lease::begin_end() {
  MutexLock lock(registry_->mutex_);
  registry_->slots_.at(id_).ending = true;
}

void Registry::Lease::end() {
  std::shared_ptr<LiveSession> gone;  // destroyed after the mutex is released
  MutexLock lock(registry_->mutex_);
  Slot& slot = registry_->slots_.at(id_);
  slot.live.swap(gone);
  slot.ending = false;
}

void Registry::close() {
  MutexLock lock(mutex_);
  closed_ = true;
}

Later<Registry::Lease> Registry::acquire(const Id& session, Place place) {
  Promise<Lease> lease;
  uint64_t number = 0;
  {
    MutexLock lock(mutex_);
    Slot& slot = slots_[session];
    if (!slot.leased) {
      slot.leased = true;
      return Lease(*this, session);
    }
    if (place == Place::limited && slot.waiting.size() >= waiting_max_)
      return Error(Code::too_many_requests,
                   "the session has " + std::to_string(slot.waiting.size()) + " requests waiting")
          .retry_in(kLeaseWaitS)
          .advise(Advice::wait_for_executions);
    number = next_waiter_++;
    slot.waiting.push_back({number, lease});
  }
  lease.on_give_up([this, session, number] { return forget(session, number); });
  return lease.later();
}

bool Registry::forget(const Id& session, uint64_t number) {
  std::optional<Waiter> gone;
  {
    MutexLock lock(mutex_);
    auto slot = slots_.find(session);
    if (slot == slots_.end()) return false;
    auto& waiting = slot->second.waiting;
    auto found =
        std::find_if(waiting.begin(), waiting.end(), [&](const Waiter& one) { return one.number == number; });
    if (found == waiting.end()) return false;
    gone.emplace(std::move(*found));
    waiting.erase(found);
  }
  gone->lease.drop();
  return true;
}

std::optional<Registry::Lease> Registry::try_acquire(const Id& session) {
  MutexLock lock(mutex_);
  Slot& slot = slots_[session];
  if (slot.leased) return std::nullopt;
  slot.leased = true;
  return Lease(*this, session);
}

std::shared_ptr<LiveSession> Registry::find(const Id& session) const {
  MutexLock lock(mutex_);
  auto found = slots_.find(session);
  return found == slots_.end() || found->second.ending ? nullptr : found->second.live;
}

std::shared_ptr<LiveSession> Registry::find_any(const Id& session) const {
  MutexLock lock(mutex_);
  auto found = slots_.find(session);
  return found == slots_.end() ? nullptr : found->second.live;
}

Phase Registry::phase(const Id& session) const {
  MutexLock lock(mutex_);
  auto found = slots_.find(session);
  if (found == slots_.end() || !found->second.live) return Phase::asleep;
  if (found->second.ending) return Phase::ending;
  return found->second.live->awake() ? Phase::running : Phase::waking;
}

std::vector<std::shared_ptr<LiveSession>> Registry::all() const {
  MutexLock lock(mutex_);
  std::vector<std::shared_ptr<LiveSession>> result;
  for (const auto& [id, slot] : slots_)
    if (slot.live && !slot.ending) result.push_back(slot.live);
  return result;
}

std::vector<std::shared_ptr<LiveSession>> Registry::ending() const {
  MutexLock lock(mutex_);
  std::vector<std::shared_ptr<LiveSession>> result;
  for (const auto& [id, slot] : slots_)
    if (slot.live && slot.ending) result.push_back(slot.live);
  return result;
}

}  // namespace sk::interpreter
