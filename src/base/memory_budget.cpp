#include "base/memory_budget.h"

#include <algorithm>

namespace sk {

namespace {

// A share grows in steps, so that what arrives in small pieces does not take the mutex for each.
constexpr uint64_t kStepBytes = 64 << 10;

}  // namespace

bool MemoryBudget::is_tight() const {
  MutexLock lock(mutex_);
  return used_bytes_ > bytes_max_ / 4 * 3;
}

bool MemoryBudget::is_tight_for(const std::string& owner) const {
  MutexLock lock(mutex_);
  auto found = used_by_.find(owner);
  return found != used_by_.end() && found->second > owner_bytes_max() / 4 * 3;
}

std::optional<std::string> MemoryBudget::over(const std::string& owner) const {
  MutexLock lock(mutex_);
  auto found = used_by_.find(owner);
  if (found != used_by_.end() && found->second > owner_bytes_max()) return owner;
  if (used_bytes_ <= bytes_max_) return std::nullopt;
  return std::ranges::max_element(used_by_, {}, [](const auto& one) { return one.second; })->first;
}

bool MemoryBudget::change(const std::string& owner, uint64_t from, uint64_t to, bool must_fit) {
  MutexLock lock(mutex_);
  auto found = used_by_.try_emplace(owner).first;
  uint64_t by_owner = found->second - from + to, all = used_bytes_ - from + to;
  bool fits = to <= from || !must_fit || (by_owner <= owner_bytes_max() && all <= bytes_max_);
  if (fits) {
    found->second = by_owner;
    used_bytes_ = all;
    in_use_.set(static_cast<int64_t>(all));
  }
  if (found->second == 0) used_by_.erase(found);
  return fits;
}

bool MemoryBudget::Share::resize(uint64_t bytes) {
  if (bytes == bytes_) return true;
  if (budget_ != nullptr && !budget_->change(owner_, bytes_, bytes, true)) return false;
  bytes_ = bytes;
  return true;
}

void MemoryBudget::Share::set(uint64_t bytes) {
  if (budget_ != nullptr && bytes != bytes_) budget_->change(owner_, bytes_, bytes, false);
  bytes_ = bytes;
}

bool MemoryBudget::Share::cover(uint64_t bytes, const std::string& owner) {
  if (bytes <= bytes_) return true;
  if (bytes_ == 0) owner_ = owner;
  return resize((bytes + kStepBytes - 1) / kStepBytes * kStepBytes);
}

}  // namespace sk
