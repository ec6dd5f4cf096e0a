#include "http/body_budget.h"

namespace sk::http {

namespace {

// A share grows in steps, so that a body that arrives in small pieces does not take the mutex for each.
constexpr uint64_t kStepBytes = 64 << 10;

}  // namespace

bool BodyBudget::Share::cover(uint64_t bytes, const std::string& owner) {
  if (bytes <= bytes_) return true;
  uint64_t wanted = (bytes + kStepBytes - 1) / kStepBytes * kStepBytes;
  // The owner is unknown until the request is authenticated. What was taken before stays with the first one.
  if (bytes_ == 0) owner_ = owner;
  if (!budget_.take(owner_, wanted - bytes_)) return false;
  bytes_ = wanted;
  return true;
}

void BodyBudget::Share::release() {
  if (bytes_ > 0) budget_.give_back(owner_, bytes_);
  bytes_ = 0;
}

bool BodyBudget::take(const std::string& owner, uint64_t bytes) {
  MutexLock lock(mutex_);
  auto& mine = used_by_[owner];
  if (used_bytes_ + bytes > bytes_max_ || mine + bytes > owner_bytes_max()) {
    if (mine == 0) used_by_.erase(owner);
    return false;
  }
  mine += bytes;
  used_bytes_ += bytes;
  in_use_.set(static_cast<int64_t>(used_bytes_));
  return true;
}

void BodyBudget::give_back(const std::string& owner, uint64_t bytes) {
  MutexLock lock(mutex_);
  auto found = used_by_.find(owner);
  found->second -= bytes;
  if (found->second == 0) used_by_.erase(found);
  used_bytes_ -= bytes;
  in_use_.set(static_cast<int64_t>(used_bytes_));
}

}  // namespace sk::http
