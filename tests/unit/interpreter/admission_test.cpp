#include "interpreter/sessions/admission.h"

#include "interpreter/sessions/expected_wait.h"
#include "support/expect_error.h"
#include "unit/interpreter/live_session_fixture.h"

namespace sk::interpreter {
namespace {

constexpr uint64_t kGiB = 1ull << 30;

class AdmissionTest : public LiveSessionTest {
 protected:
  AdmissionTest() { options.sessions_max = 4; }
  ~AdmissionTest() override {
    awake.clear();
    callers.stop();
  }

  // A session that was last used so long ago and uses so much of its memory.
  std::shared_ptr<LiveSession> wake(const Id& owner, int64_t idle_s, uint64_t held = 0) {
    SessionInfo info = session;
    info.id = keep.context().ids.next();
    info.owner = owner;
    info.memory_bytes = 4 * kGiB;
    info.active_us = clock.now_us() - idle_s * kSecondUs;
    auto made = LiveSession::make(services, info);
    registry.acquire(info.id).get().wake(made);
    holds[info.id] = held;
    awake.push_back(made);
    return made;
  }
  Running enqueue_for(int64_t timeout_s) {
    NewExecution wanted;
    wanted.timeout_s = timeout_s;
    return enqueue("code", std::move(wanted));
  }
  bool is_awake(const std::shared_ptr<LiveSession>& one) {
    return registry.phase(one->info().id) == Phase::waking;
  }

  const Id mine = actor.principal(), theirs = keep.context().ids.next();
  static constexpr size_t kMine = 3;
  WorkerPool callers{1, 1000};
  Registry registry{callers, 10};
  std::vector<std::shared_ptr<LiveSession>> awake;
  std::map<Id, uint64_t> holds;
  MemoryBudget names{1000, metrics.gauge("names", "")};
  Admission admission{{registry, options, clock, 8 * kGiB,
                       [](Registry::Lease lease) {
                         lease.begin_end();
                         lease.end();
                       },
                       [this](const LiveSession& one) { return holds.at(one.info().id); }, &names}};
};

TEST_F(AdmissionTest, OnesOwnIdleSessionMakesRoomAtOnesOwnLimit) {
  auto older = wake(mine, 300), newer = wake(mine, 200), newest = wake(mine, 100), other = wake(theirs, 900);
  (void)admission.admit(mine, kMine, kGiB);
  EXPECT_FALSE(is_awake(older));
  EXPECT_TRUE(is_awake(newer) && is_awake(newest) && is_awake(other));
}

TEST_F(AdmissionTest, ThoseThatArriveAtTheSameTimeCount) {
  auto one = admission.admit(mine, 2, kGiB), two = admission.admit(mine, 2, kGiB);
  test::expect_error(Code::too_many_requests, [&] { (void)admission.admit(mine, 2, kGiB); });
  two.reset();
  EXPECT_NO_THROW((void)admission.admit(mine, 2, kGiB));
}

TEST_F(AdmissionTest, SessionsAboveALoweredLimitSleepUntilTheNewOneFits) {
  auto one = wake(mine, 300), two = wake(mine, 200), three = wake(mine, 100);
  (void)admission.admit(mine, 1, kGiB);
  EXPECT_FALSE(is_awake(one) || is_awake(two) || is_awake(three));
  auto busy = wake(mine, 100), idle = wake(mine, 100);
  busy->reserve();
  test::expect_error(Code::too_many_requests, [&] { (void)admission.admit(mine, 1, kGiB); });
}

TEST_F(AdmissionTest, BusySessionsAtTheLimitAreTold) {
  for (int i = 0; i < 3; ++i) wake(mine, 100)->reserve();
  auto other = wake(theirs, 900);
  test::expect_error(Code::too_many_requests, [&] { (void)admission.admit(mine, kMine, kGiB); });
  EXPECT_TRUE(is_awake(other)) << "another's session does not pay for one's own limit";
}

TEST_F(AdmissionTest, AFullServerPutsAnIdleSessionToSleepOrRefuses) {
  auto one = wake(theirs, 100), two = wake(theirs, 200);
  one->reserve();
  wake(theirs, 50)->reserve();
  wake(theirs, 50)->reserve();
  (void)admission.admit(mine, kMine, kGiB);
  EXPECT_FALSE(is_awake(two));
  wake(mine, 0)->reserve();
  test::expect_error(Code::too_many_requests, [&] { (void)admission.admit(mine, kMine, kGiB); });
}

TEST_F(AdmissionTest, ARefusalTellsWhenABusySessionIsLikelyToBeIdle) {
  registry.acquire(session.id).get().wake(live);
  auto wait_told = [&](size_t mine_max) -> std::optional<int64_t> {
    try {
      (void)admission.admit(mine, mine_max, kGiB);
    } catch (const Error& error) {
      return error.retry_after_s();
    }
    return std::nullopt;
  };
  auto first = enqueue_for(40);
  settle();
  EXPECT_EQ(wait_told(1), 1);
  clock.advance_us(12 * kSecondUs);
  EXPECT_EQ(wait_told(1), 12) << "it is expected to run for as long again";
  clock.advance_us(23 * kSecondUs);
  EXPECT_EQ(wait_told(1), 5) << "its time ends";
  auto other = wake(mine, 0);
  other->reserve();
  EXPECT_EQ(wait_told(2), 1) << "another one has only begun";
  other->unreserve();
  play.done();
  wait(first);
  settle();
}

TEST_F(AdmissionTest, AFullQueueTellsWhenTheRunningExecutionIsLikelyToEnd) {
  auto first = enqueue_for(1000);
  settle();
  clock.advance_us(8 * kSecondUs);
  auto wait_told = [&] {
    try {
      check_queue(*live, 1, clock.now_us());
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::too_many_requests);
      return error.retry_after_s().value_or(-1);
    }
    return int64_t{0};
  };
  EXPECT_EQ(wait_told(), 0);
  live->reserve();
  EXPECT_EQ(wait_told(), 8);
  clock.advance_us(100 * kSecondUs);
  EXPECT_EQ(wait_told(), kExpectedWaitMaxS);
  live->unreserve();
  play.done();
  wait(first);
  settle();
}

TEST_F(AdmissionTest, MemoryCountsAsItIsUsedAndNotAsItIsAllowed) {
  auto one = wake(theirs, 100, kGiB), two = wake(theirs, 200, kGiB), three = wake(theirs, 300, kGiB);
  (void)admission.admit(mine, kMine, 4 * kGiB);
  EXPECT_TRUE(is_awake(one) && is_awake(two) && is_awake(three)) << "their limits are 12 of 8 GiB";
}

TEST_F(AdmissionTest, SessionsSleepUntilAQuarterOfTheNewLimitFits) {
  auto one = wake(theirs, 100, 3 * kGiB), two = wake(theirs, 200, 3 * kGiB),
       three = wake(theirs, 300, 2 * kGiB);
  (void)admission.admit(mine, kMine, 16 * kGiB);
  EXPECT_FALSE(is_awake(three)) << "the longest idle one goes first";
  EXPECT_FALSE(is_awake(two)) << "and gave too little";
  EXPECT_TRUE(is_awake(one));
}

TEST_F(AdmissionTest, MemoryThatBusySessionsUseIsRefusedWithTheFigures) {
  wake(theirs, 100, 7 * kGiB + kGiB / 2)->reserve();
  auto message =
      test::expect_error(Code::too_many_requests, [&] { (void)admission.admit(mine, kMine, 8 * kGiB); });
  EXPECT_NE(message.find("7.5 GiB of 8.0 GiB"), std::string::npos) << message;
}

TEST_F(AdmissionTest, AnIdleSessionMakesRoomForTheNamesOfFiles) {
  auto older = wake(mine, 300), newer = wake(mine, 200), other = wake(theirs, 900);
  MemoryBudget::Share share(names, mine.hex());
  share.set(375);
  (void)admission.admit(mine, kMine + 1, kGiB);
  EXPECT_TRUE(is_awake(older)) << "three quarters of one's own half are not too many";
  share.set(376);
  (void)admission.admit(theirs, kMine + 1, kGiB);
  EXPECT_TRUE(is_awake(older) && is_awake(other)) << "it is no concern of others";
  (void)admission.admit(mine, kMine + 1, kGiB);
  EXPECT_FALSE(is_awake(older));
  EXPECT_TRUE(is_awake(newer) && is_awake(other));
}

TEST_F(AdmissionTest, TheFirstSessionIsAdmittedWhateverItMayUse) {
  EXPECT_NO_THROW((void)admission.admit(mine, kMine, 64 * kGiB)) << "otherwise it could never run";
}

TEST_F(AdmissionTest, SessionsThatHoldOnlyCopiesAreLimitedAndRunThemselves) {
  Unkept refused;
  refused.path = "s/a";
  refused.what = Unkept::What::refused;
  refused.only_copy = true;
  auto one = make_session(), two = make_session(), fresh = make_session();
  for (const auto& holder : {one, two}) records.save_refused(holder, {refused});
  EXPECT_NO_THROW(check_only_copies(records, fresh, 3));
  test::expect_error(Code::quota_exceeded, [&] { check_only_copies(records, fresh, 2); });
  EXPECT_NO_THROW(check_only_copies(records, one, 2)) << "its code may remove them";
  refused.only_copy = false;
  records.save_refused(two, {refused});
  EXPECT_NO_THROW(check_only_copies(records, fresh, 2)) << "the bytes are elsewhere, too";
  records.save_refused(one, {});
  EXPECT_NO_THROW(check_only_copies(records, fresh, 1));
}

TEST_F(AdmissionTest, ADeletedSessionHoldsNothing) {
  Unkept refused;
  refused.path = "s/a";
  refused.only_copy = true;
  auto one = make_session(), fresh = make_session();
  records.save_refused(one, {refused});
  records.mark_deleted(ws, one, clock.now_us());
  EXPECT_NO_THROW(check_only_copies(records, fresh, 1));
}

TEST_F(AdmissionTest, ANoteIsTakenOnceAndTheOldestIsForgotten) {
  SleepNotes notes;
  Id first = keep.context().ids.next();
  notes.add(first, "a");
  notes.add(first, "b");
  EXPECT_EQ(notes.take(first), "b");
  EXPECT_EQ(notes.take(first), "");
  notes.add(first, "a");
  Id last;
  for (size_t i = 0; i < SleepNotes::kMax; ++i) notes.add(last = keep.context().ids.next(), "x");
  EXPECT_EQ(notes.take(first), "");
  EXPECT_EQ(notes.take(last), "x");
}

}  // namespace
}  // namespace sk::interpreter
