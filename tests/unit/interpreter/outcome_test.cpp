#include "interpreter/outcome.h"

#include <gtest/gtest.h>

namespace sk::interpreter {
namespace {

TEST(Outcome, EveryNameIsReadBackAsItsValue) {
  for (int i = 0; i <= static_cast<int>(Outcome::crash); ++i)
    EXPECT_EQ(outcome_from(name_of(static_cast<Outcome>(i))), static_cast<Outcome>(i));
  for (int i = 0; i <= static_cast<int>(ExecutionStatus::done); ++i)
    EXPECT_EQ(execution_status_from(name_of(static_cast<ExecutionStatus>(i))),
              static_cast<ExecutionStatus>(i));
  for (int i = 0; i <= static_cast<int>(UnkeptReason::error); ++i)
    EXPECT_EQ(unkept_reason_from(name_of(static_cast<UnkeptReason>(i))), static_cast<UnkeptReason>(i));
  for (int i = 0; i <= static_cast<int>(KeptChange::recovered); ++i)
    EXPECT_EQ(kept_change_from(name_of(static_cast<KeptChange>(i))), static_cast<KeptChange>(i));
}

TEST(Outcome, NamesAreThoseOfTheApi) {
  EXPECT_EQ(name_of(Outcome::oom), "oom");
  EXPECT_EQ(name_of(Outcome::crash), "crash");
  EXPECT_EQ(name_of(ExecutionStatus::done), "done");
  EXPECT_EQ(name_of(SessionStatus::asleep), "asleep");
  EXPECT_EQ(name_of(SessionStatus::deleted), "deleted");
  EXPECT_EQ(name_of(UnkeptReason::fifo), "fifo");
  EXPECT_EQ(name_of(UnkeptReason::power_cut), "power_cut");
  EXPECT_EQ(name_of(UnkeptReason::too_deep), "too_deep");
  EXPECT_EQ(name_of(KeptChange::unchanged), "unchanged");
}

TEST(Outcome, AnUnknownNameIsNone) {
  EXPECT_EQ(outcome_from(""), std::nullopt);
  EXPECT_EQ(outcome_from("OK"), std::nullopt);
  EXPECT_EQ(execution_status_from("finished"), std::nullopt);
}

}  // namespace
}  // namespace sk::interpreter
