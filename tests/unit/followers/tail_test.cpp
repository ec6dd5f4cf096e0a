#include "followers/tail.h"

#include <atomic>

#include "unit/followers/followed.h"

namespace sk::followers {
namespace {

class TailTest : public FollowersTest {
 protected:
  Tail::Options from(int64_t after, size_t batch_max = 50) {
    return {.workspace = ws.workspace_id(), .after = after, .filter = {}, .batch_max = batch_max};
  }
  Tail::Calls calls(std::function<Tail::Next()> before) {
    return {.before = std::move(before),
            .journal =
                [this] {
                  if (is_revoked) throw Error(Code::unauthorized, "the key was revoked");
                  return workspace::ReadableJournal(ws);
                },
            .on_events =
                [this](const workspace::Events& events) {
                  followed.add(events.items);
                  return Tail::Next::go_on;
                },
            .on_error =
                [this](const Error& error) {
                  code = error.code();
                  ++errors;
                }};
  }

  Followed followed;
  std::atomic<bool> is_revoked = false;
  std::atomic<int> errors = 0;
  std::atomic<Code> code = Code::internal;
  Background background;
};

TEST_F(TailTest, ReadsTheBacklogInPortionsAndThenWhatComes) {
  auto start = keep->journal().head_seq(ws);
  for (int i = 0; i < 10; ++i) put(std::to_string(i), "x");
  auto tail = Tail::start(*keep, background, from(start, 3), calls([] { return Tail::Next::go_on; }));
  EXPECT_EQ(followed.wait_for(10), created(0, 10));
  for (int i = 10; i < 20; ++i) put(std::to_string(i), "x");
  EXPECT_EQ(followed.wait_for(20), created(0, 20));
}

TEST_F(TailTest, LooksAgainWhenTheClientCouldNotTakeMore) {
  auto start = keep->journal().head_seq(ws);
  put("0", "x");
  std::atomic<int> asked = 0;
  auto tail = Tail::start(*keep, background, from(start),
                          calls([&] { return ++asked < 3 ? Tail::Next::later : Tail::Next::go_on; }));
  EXPECT_EQ(followed.wait_for(1), created(0, 1));
  EXPECT_EQ(asked, 3);
}

TEST_F(TailTest, EndsWithAnErrorThatItReportsOnce) {
  is_revoked = true;
  auto tail = Tail::start(*keep, background, from(0), calls([] { return Tail::Next::go_on; }));
  ASSERT_TRUE(eventually([&] { return errors > 0; }));
  put("0", "x");
  background.stop();
  EXPECT_EQ(errors, 1);
  EXPECT_EQ(code, Code::unauthorized);
  EXPECT_TRUE(followed.events().empty());
}

TEST_F(TailTest, IsNotCalledAfterItSaidThatItEnds) {
  std::atomic<int> asked = 0;
  auto tail = Tail::start(*keep, background, from(0), calls([&] {
    ++asked;
    return Tail::Next::end;
  }));
  ASSERT_TRUE(eventually([&] { return asked > 0; }));
  for (int i = 0; i < 5; ++i) put(std::to_string(i), "x");
  background.stop();
  EXPECT_EQ(asked, 1);
}

}  // namespace
}  // namespace sk::followers
