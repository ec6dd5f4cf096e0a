// A clock that is set back reorders nothing.
#include "keep_fixture.h"

namespace sk::workspace {
namespace {

constexpr int64_t kHourUs = 3600 * kSecondUs;

class SetBackTest : public KeepTest {
 protected:
  void expect_in_order() {
    auto file = keep->files().get(ws, "a").id;
    auto versions = keep->files().versions(ws, file, "", 100).items;
    for (size_t i = 1; i < versions.size(); ++i) {
      EXPECT_GT(versions[i - 1].number, versions[i].number);
      EXPECT_GT(versions[i - 1].created_us, versions[i].created_us);
      EXPECT_LT(versions[i].id, versions[i - 1].id);
    }
    TimeUs last_us = 0;
    for (const auto& entry : keep->journal().events(ws, 0, 1000, {}).items) {
      EXPECT_GE(entry.time_us, last_us) << entry.kind;
      last_us = entry.time_us;
    }
  }
};

TEST_F(SetBackTest, VersionsAndJournalStayInOrder) {
  auto first = put("a", "1");
  clock.advance_us(-kHourUs);
  put("a", "2");
  put("a", "3");
  expect_in_order();
  keep->files().restore_as_of(ws, "", first.version->created_us, false);
  EXPECT_EQ(bytes_at("a"), "1");
}

TEST_F(SetBackTest, VersionsAndJournalStayInOrderAcrossARestart) {
  put("a", "1");
  clock.advance_us(-kHourUs);
  reopen();
  put("a", "2");
  expect_in_order();
}

TEST_F(SetBackTest, ALockDoesNotLiveLonger) {
  LockWanted wanted;
  wanted.path = "a";
  wanted.ttl_s = 60;
  auto lock = keep->locks().acquire(ws, wanted);
  clock.advance_us(-kHourUs);
  EXPECT_GE(keep->locks().renew(ws, lock.token, 60).expires_us, lock.expires_us);
  clock.advance_us(kHourUs + 61 * kSecondUs);
  EXPECT_TRUE(keep->locks().list(ws, "").empty());
}

TEST_F(SetBackTest, ChangesOfOneMomentHaveTimesOfTheirOwn) {
  auto first = keep->files().apply_one(ws, put_change("a", "1"));
  auto second = keep->files().apply_one(ws, put_change("a", "2"));
  EXPECT_LT(first.version->created_us, second.version->created_us);
}

}  // namespace
}  // namespace sk::workspace
