#include "interpreter/sessions/registry.h"

#include "base/error.h"
#include "interpreter/run/live_session.h"

namespace sk::interpreter {

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
  // Notifies under the mutex: the registry may be destroyed as soon as the last lease is released.
  MutexLock lock(registry.mutex_);
  auto found = registry.slots_.find(id_);
  found->second.leased = false;
  if (found->second.waiting > 0) registry.released_.notify_all();
  if (found->second.is_idle()) registry.slots_.erase(found);
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

Registry::Lease Registry::acquire(const Id& session) {
  MutexLock lock(mutex_);
  ++slots_[session].waiting;
  released_.wait(lock, [&]() SK_REQUIRES(mutex_) { return !slots_.at(session).leased; });
  Slot& slot = slots_.at(session);
  --slot.waiting;
  slot.leased = true;
  return Lease(*this, session);
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

}  // namespace sk::interpreter
