#include "followers/follower.h"

#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <fstream>
#include <future>
#include <set>

#include "unit/followers/followed.h"

namespace sk::followers {
namespace {

TEST_F(FollowersTest, AFollowerGetsTheEventsOfAJournalInOrder) {
  introduce(options());
  Followed followed;
  auto wanted = options();
  wanted.batch_max = 7;
  auto follower = follow(wanted, followed.handler());
  for (int i = 0; i < 50; ++i) put(std::to_string(i), "x");
  EXPECT_EQ(followed.wait_for(50), created(0, 50));
  EXPECT_GE(followed.batches(), 8);
}

TEST_F(FollowersTest, ASlowFollowerHoldsUpNeitherCommitsNorOtherFollowers) {
  introduce(options("slow"));
  introduce(options("fast"));
  std::promise<void> go;
  auto may_go = go.get_future().share();
  Followed slow, fast;
  auto one = follow(options("slow"), [&, may_go](const auto& events, const std::stop_token&) {
    may_go.wait();
    slow.add(events);
  });
  auto two = follow(options("fast"), fast.handler());
  for (int i = 0; i < 20; ++i) put(std::to_string(i), "x");
  EXPECT_EQ(fast.wait_for(20), created(0, 20));
  EXPECT_TRUE(slow.events().empty());
  go.set_value();
  EXPECT_EQ(slow.wait_for(20), created(0, 20));
}

TEST_F(FollowersTest, AJournalThatFailsIsTriedAgainWhileOthersGoOn) {
  keep->workspaces().create(actor, "bad");
  keep->workspaces().create(actor, "good");
  auto bad = keep->workspaces().open(actor, "bad").workspace_id();
  introduce(options());
  Followed followed;
  std::atomic<bool> works = false;
  std::atomic<int> failures = 0;
  auto follower = follow(options(), [&](const auto& events, const std::stop_token&) {
    if (events[0].workspace == bad && !works) {
      ++failures;
      throw Error(Code::unavailable, "not now");
    }
    followed.add(events);
  });
  for (int i = 0; i < 3; ++i) put_into("bad", std::to_string(i));
  ASSERT_TRUE(eventually([&] { return failures >= 3; }));
  for (int i = 10; i < 13; ++i) put_into("good", std::to_string(i));
  EXPECT_EQ(followed.wait_for(3), created(10, 13));
  works = true;
  auto all = followed.wait_for(6);
  EXPECT_EQ(std::vector(all.begin() + 3, all.end()), created(0, 3));
}

TEST_F(FollowersTest, AnEventThatFailsTooOftenIsSkippedAlone) {
  introduce(options());
  for (int i = 0; i < 9; ++i) put(std::to_string(i), "x");
  Followed followed;
  std::atomic<int> attempts = 0;
  auto wanted = options();
  wanted.attempts_max = 3;
  auto follower = follow(wanted, [&](const auto& events, const std::stop_token&) {
    for (const auto& event : events) {
      if (event.personal["path"] != "4") continue;
      ++attempts;
      throw Error(Code::unavailable, "never");
    }
    followed.add(events);
  });
  auto expected = created(0, 9);
  expected.erase(expected.begin() + 4);
  EXPECT_EQ(followed.wait_for(8), expected);
  EXPECT_GE(attempts, 3);
}

TEST_F(FollowersTest, ADurableFollowerContinuesWhereItWas) {
  introduce(options());
  Followed before, after;
  auto follower = follow(options(), before.handler());
  for (int i = 0; i < 3; ++i) put(std::to_string(i), "x");
  before.wait_for(3);
  follower.reset();
  for (int i = 3; i < 6; ++i) put(std::to_string(i), "x");
  reopen();
  follower = follow(options(), after.handler());
  EXPECT_EQ(after.wait_for(3), created(3, 6));
  put("6", "x");
  EXPECT_EQ(after.wait_for(4), created(3, 7));
}

TEST_F(FollowersTest, ABatchThatAStopEndedComesAgain) {
  introduce(options());
  std::promise<void> inside;
  auto follower = follow(options(), [&](const auto&, const std::stop_token& stop) {
    inside.set_value();
    while (!stop.stop_requested()) std::this_thread::yield();
    throw Error(Code::unavailable, "stopping");
  });
  put("0", "x");
  inside.get_future().wait();
  follower.reset();
  Followed followed;
  follower = follow(options(), followed.handler());
  EXPECT_EQ(followed.wait_for(1), created(0, 1));
}

// The child is killed while it follows; what it has handled is in a file.
TEST_F(FollowersTest, AKilledFollowerMissesNothing) {
  introduce(options());
  for (int i = 0; i < 40; ++i) put(std::to_string(i), "x");
  const std::string handled = dir.file("handled");
  keep.reset();
  pid_t child = ::fork();
  if (child == 0) {
    keep = open();
    auto wanted = options();
    wanted.batch_max = 3;
    int count = 0;
    auto follower = follow(wanted, [&](const auto& events, const std::stop_token&) {
      for (const auto& event : events) {
        std::ofstream(handled, std::ios::app) << event.personal["path"].template get<std::string>() << "\n";
        if (++count == 20) ::raise(SIGKILL);
      }
    });
    ::pause();
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  reopen();
  std::set<std::string> seen;
  std::ifstream lines(handled);
  for (std::string line; std::getline(lines, line);) seen.insert("file.create " + line);
  EXPECT_EQ(seen.size(), 20u);
  Followed followed;
  auto follower = follow(options(), followed.handler());
  put("40", "x");
  auto rest = followed.wait_for(21);
  ASSERT_TRUE(eventually([&] { return followed.wait_for(1).back() == "file.create 40"; }));
  rest = followed.wait_for(1);
  EXPECT_EQ(rest, created(41 - static_cast<int>(rest.size()), 41));
  seen.insert(rest.begin(), rest.end());
  EXPECT_EQ(seen.size(), 41u);
}

TEST_F(FollowersTest, ANewFollowerBeginsNowOrAtTheStart) {
  put("0", "x");
  auto now = options("now"), all = options("all");
  all.begin = Begin::at_start;
  Followed new_ones, all_ones;
  introduce(now);
  auto one = follow(now, new_ones.handler());
  auto two = follow(all, all_ones.handler());
  put("1", "x");
  EXPECT_EQ(all_ones.wait_for(2), created(0, 2));
  EXPECT_EQ(new_ones.wait_for(1), created(1, 2));
}

TEST_F(FollowersTest, AFollowerInMemoryBeginsAnewAndFollowsLaterWorkspacesFromTheirStart) {
  put("0", "x");
  auto wanted = options();
  wanted.keeps = FollowerOptions::Keeps::in_memory;
  wanted.filter.kinds = {"file.create", "workspace.create"};
  Followed followed;
  auto follower = follow(wanted, followed.handler());
  ASSERT_TRUE(eventually([&] {
    // The cursors begin at a moment that only the thread knows.
    put(std::to_string(clock.now_us()), "x");
    return !followed.events().empty();
  }));
  EXPECT_NE(followed.events()[0].personal["path"], "0");
  keep->workspaces().create(actor, "later");
  put_into("later", "1");
  auto is_later = [](const auto& event) { return event.personal.value("path", "") == "1"; };
  ASSERT_TRUE(eventually([&] { return std::ranges::any_of(followed.events(), is_later); }));
  // Events of the first workspace may still come, before it, between or after it.
  auto events = followed.events();
  std::erase_if(events, [&](const auto& event) { return !is_later(event) && event.kind == "file.create"; });
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].kind, "workspace.create");
}

TEST_F(FollowersTest, MoreJournalsThanAFollowerRemembersAreAllFollowed) {
  introduce(options());
  std::promise<void> inside, go;
  auto may_go = go.get_future().share();
  std::atomic<bool> first = true;
  Followed followed;
  auto wanted = options();
  wanted.journals_max = 2;
  auto follower = follow(wanted, [&](const auto& events, const std::stop_token&) {
    if (first.exchange(false)) {
      inside.set_value();
      may_go.wait();
    }
    followed.add(events);
  });
  put("0", "x");
  inside.get_future().wait();
  std::set<std::string> expected = {"file.create 0"};
  for (int i = 1; i < 8; ++i) {
    keep->workspaces().create(actor, "w" + std::to_string(i));
    put_into("w" + std::to_string(i), std::to_string(i));
    expected.insert("file.create " + std::to_string(i));
  }
  go.set_value();
  auto all = followed.wait_for(8);
  EXPECT_EQ(std::set(all.begin(), all.end()), expected);
}

TEST_F(FollowersTest, MoreFailingJournalsThanAFollowerRemembersAreTriedAgain) {
  introduce(options());
  for (int i = 0; i < 6; ++i) {
    keep->workspaces().create(actor, "w" + std::to_string(i));
    put_into("w" + std::to_string(i), std::to_string(i));
  }
  std::atomic<int> failures = 0;
  Followed followed;
  auto wanted = options();
  wanted.journals_max = 2;
  auto follower = follow(wanted, [&](const auto& events, const std::stop_token&) {
    if (++failures <= 12) throw Error(Code::unavailable, "not now");
    followed.add(events);
  });
  EXPECT_EQ(followed.wait_for(6).size(), 6u);
}

}  // namespace
}  // namespace sk::followers
