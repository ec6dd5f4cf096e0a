// Shares the memory for the messages that sessions hold. Where it is used up, the session that holds the most
// forgets its oldest messages first: of the principal that is over its part, or else of the one that uses
// most.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/memory_budget.h"
#include "base/mutex.h"

namespace sk::api::mcp {

class LegacySession;

// Any thread. Shared by the sessions and their table. The budget outlives it.
class HeldMessages {
 public:
  explicit HeldMessages(MemoryBudget& budget) : budget_(budget) {}

  MemoryBudget& budget() { return budget_; }
  // Call once for each session, before it holds messages.
  void add(const std::string& owner, const std::weak_ptr<LegacySession>& session);
  // Makes sessions forget messages until the memory that was set for them fits again. What no session can
  // forget stays. Call it after the memory of the owner has grown, without the mutex of a session.
  void make_room(const std::string& owner);

 private:
  using Sessions = std::vector<std::shared_ptr<LegacySession>>;
  // Returns the owner's sessions, those that hold the most first.
  Sessions largest_first(const std::string& owner);

  MemoryBudget& budget_;
  Mutex mutex_;
  std::unordered_map<std::string, std::vector<std::weak_ptr<LegacySession>>> by_owner_ SK_GUARDED_BY(mutex_);
};

}  // namespace sk::api::mcp
