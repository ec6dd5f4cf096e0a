#include "interpreter/outcome.h"

#include <algorithm>
#include <array>

namespace sk::interpreter {

namespace {

// In the order of each enum.
constexpr std::array<std::string_view, 3> kSessionStatuses = {"running", "asleep", "deleted"};
constexpr std::array<std::string_view, 3> kExecutionStatuses = {"queued", "running", "done"};
constexpr std::array<std::string_view, 9> kOutcomes = {"ok",   "error", "interrupted", "timeout", "oom",
                                                       "pids", "disk",  "crash",       "revoked"};
constexpr std::array<std::string_view, 14> kUnkeptReasons = {
    "link",   "fifo", "socket",   "device",   "too_large",  "quota",     "disk_full",
    "locked", "name", "too_deep", "conflict", "unreadable", "power_cut", "error"};
constexpr std::array<std::string_view, 4> kKeptChanges = {"created", "changed", "unchanged", "recovered"};

static_assert(static_cast<size_t>(SessionStatus::deleted) + 1 == kSessionStatuses.size());
static_assert(static_cast<size_t>(ExecutionStatus::done) + 1 == kExecutionStatuses.size());
static_assert(static_cast<size_t>(Outcome::revoked) + 1 == kOutcomes.size());
static_assert(static_cast<size_t>(UnkeptReason::error) + 1 == kUnkeptReasons.size());
static_assert(static_cast<size_t>(KeptChange::recovered) + 1 == kKeptChanges.size());

template <typename Enum, size_t count>
std::optional<Enum> value_named(const std::array<std::string_view, count>& names, std::string_view name) {
  auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

}  // namespace

std::string_view name_of(SessionStatus status) { return kSessionStatuses[static_cast<size_t>(status)]; }
std::string_view name_of(ExecutionStatus status) { return kExecutionStatuses[static_cast<size_t>(status)]; }
std::string_view name_of(Outcome outcome) { return kOutcomes[static_cast<size_t>(outcome)]; }
std::string_view name_of(UnkeptReason reason) { return kUnkeptReasons[static_cast<size_t>(reason)]; }
std::string_view name_of(KeptChange change) { return kKeptChanges[static_cast<size_t>(change)]; }

std::optional<ExecutionStatus> execution_status_from(std::string_view name) {
  return value_named<ExecutionStatus>(kExecutionStatuses, name);
}

std::optional<Outcome> outcome_from(std::string_view name) { return value_named<Outcome>(kOutcomes, name); }

std::optional<UnkeptReason> unkept_reason_from(std::string_view name) {
  return value_named<UnkeptReason>(kUnkeptReasons, name);
}

std::optional<KeptChange> kept_change_from(std::string_view name) {
  return value_named<KeptChange>(kKeptChanges, name);
}

}  // namespace sk::interpreter
