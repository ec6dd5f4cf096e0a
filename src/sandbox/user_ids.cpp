#include "sandbox/user_ids.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/text.h"

namespace sk::sandbox {

uint32_t choose_first_id(std::string_view uid_map, uint32_t count) {
  // The first is above the ids that systemd, containers and subuid files assign. The others are for servers
  // that are root of a user namespace with few ids, which start with the system's own.
  constexpr uint32_t kCandidates[] = {1'900'000'000, 200'000, 40'000, 20'000};
  for (uint32_t candidate : kCandidates) {
    for (auto line : split(uid_map, '\n')) {
      std::vector<uint64_t> fields;
      for (auto word : split(line, ' '))
        if (auto number = parse_unsigned(word)) fields.push_back(*number);
      if (fields.size() == 3 && candidate >= fields[0] && uint64_t(candidate) + count < fields[0] + fields[2])
        return candidate;
    }
  }
  return 0;
}

UserIds::UserIds(const UserIdPlan& plan) : plan_(plan) {
  for (uint32_t i = plan.count; i > 0; --i) free_.push_back(plan.first + i);
}

uint32_t UserIds::acquire() {
  if (plan_.count == 0) return plan_.session;
  MutexLock lock(mutex_);
  if (free_.empty()) throw Error(Code::too_many_requests, "all user ids for sessions are in use");
  uint32_t id = free_.back();
  free_.pop_back();
  return id;
}

void UserIds::release(uint32_t id) {
  if (plan_.count == 0) return;
  MutexLock lock(mutex_);
  // Append at the far end, so an id stays unused for as long as possible.
  free_.insert(free_.begin(), id);
}

}  // namespace sk::sandbox
