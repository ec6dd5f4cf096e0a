#include "workspace/feed.h"

#include <utility>

namespace sk::workspace {

Feed::Subscription::Subscription(Subscription&& other) noexcept
    : feed_(std::exchange(other.feed_, nullptr)), workspace_(other.workspace_), number_(other.number_) {}

Feed::Subscription& Feed::Subscription::operator=(Subscription&& other) noexcept {
  if (this != &other) {
    if (feed_ != nullptr) feed_->unsubscribe(workspace_, number_);
    feed_ = std::exchange(other.feed_, nullptr);
    workspace_ = other.workspace_;
    number_ = other.number_;
  }
  return *this;
}

Feed::Subscription::~Subscription() {
  if (feed_ != nullptr) feed_->unsubscribe(workspace_, number_);
}

Id Feed::any_id() {
  Id id;
  id.bytes.fill(std::byte{0xFF});  // the highest bits are set, so no real id is equal
  return id;
}

Feed::Subscription Feed::add(const Id& workspace, OnAnyChange on_change) {
  MutexLock lock(mutex_);
  Subscription subscription;
  subscription.feed_ = this;
  subscription.workspace_ = workspace;
  subscription.number_ = next_++;
  by_workspace_[workspace].emplace(subscription.number_, std::move(on_change));
  return subscription;
}

Feed::Subscription Feed::subscribe(const Id& workspace, std::function<void()> on_change) {
  return add(workspace, [on_change = std::move(on_change)](const Id&) { on_change(); });
}

Feed::Subscription Feed::subscribe_any(OnAnyChange on_change) { return add(any_id(), std::move(on_change)); }

void Feed::notify(const Id& workspace) {
  // Callbacks run under the mutex, so that none runs after unsubscribe() returns.
  MutexLock lock(mutex_);
  if (by_workspace_.empty()) return;
  for (const Id& which : {workspace, any_id()}) {
    auto found = by_workspace_.find(which);
    if (found == by_workspace_.end()) continue;
    for (auto& [number, callback] : found->second) callback(workspace);
  }
}

void Feed::unsubscribe(const Id& workspace, uint64_t number) {
  MutexLock lock(mutex_);
  auto found = by_workspace_.find(workspace);
  if (found == by_workspace_.end()) return;
  found->second.erase(number);
  if (found->second.empty()) by_workspace_.erase(found);
}

}  // namespace sk::workspace
