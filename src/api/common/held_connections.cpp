#include "api/common/held_connections.h"

#include "base/error.h"

namespace sk::api {

namespace {

// Other replies end at any time, but not within milliseconds.
constexpr int64_t kRetryAfterS = 5;

Error too_many_held(std::string message, size_t limit) {
  return Error(Code::too_many_requests, std::move(message))
      .with("limit", static_cast<int64_t>(limit))
      .retry_in(kRetryAfterS);
}

}  // namespace

class HeldConnections::Place {
 public:
  Place(std::shared_ptr<State> state, std::string owner)
      : state_(std::move(state)), owner_(std::move(owner)) {}
  ~Place() {
    MutexLock lock(state_->mutex);
    auto found = state_->by_owner.find(owner_);
    if (--found->second == 0) state_->by_owner.erase(found);
    --state_->total;
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

 private:
  const std::shared_ptr<State> state_;
  const std::string owner_;
};

std::shared_ptr<void> HeldConnections::hold(const std::string& owner) {
  const auto& limits = state_->limits;
  {
    MutexLock lock(state_->mutex);
    auto found = state_->by_owner.find(owner);
    if (found != state_->by_owner.end() && found->second >= limits.per_owner_max)
      throw too_many_held("you already have " + std::to_string(found->second) +
                              " streams and waiting requests open, which is the limit",
                          limits.per_owner_max);
    if (state_->total >= limits.total_max)
      throw too_many_held("the server has too many streams and waiting requests", limits.total_max);
    ++state_->by_owner[owner];
    ++state_->total;
  }
  return std::make_shared<Place>(state_, owner);
}

size_t HeldConnections::count() const {
  MutexLock lock(state_->mutex);
  return state_->total;
}

}  // namespace sk::api
