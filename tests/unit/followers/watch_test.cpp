#include "followers/watch.h"

#include <gtest/gtest.h>

#include <future>
#include <optional>

namespace sk::followers {
namespace {

TEST(Watch, HearsOfEveryChangeOrOfALaterOne) {
  workspace::Feed feed;
  Background background;
  Id workspace = *Id::from_hex("00000000000000000000000000000001");
  std::atomic<int> changes = 0;
  std::atomic<int> seen = 0;  // what the last call saw
  std::atomic<int> running = 0;
  {
    Watch watch(feed, background, workspace, [&] {
      EXPECT_EQ(++running, 1) << "two calls overlap";
      seen = changes.load();
      --running;
    });
    for (int i = 0; i < 1000; ++i) {
      ++changes;
      feed.notify(workspace);
    }
    background.stop();
  }
  EXPECT_EQ(seen, 1000);
}

TEST(Watch, HearsNothingOfOtherWorkspacesNorAfterItsEnd) {
  workspace::Feed feed;
  Background background;
  Id mine = *Id::from_hex("00000000000000000000000000000001");
  Id other = *Id::from_hex("00000000000000000000000000000002");
  std::atomic<int> calls = 0;
  {
    Watch watch(feed, background, mine, [&] { ++calls; });
    feed.notify(other);
  }
  feed.notify(mine);
  background.stop();
  EXPECT_EQ(calls, 0);
}

TEST(Watch, MayBeDestroyedByItsOwnLastCall) {
  workspace::Feed feed;
  Background background;
  Id workspace = *Id::from_hex("00000000000000000000000000000001");
  struct Owner {
    std::optional<Watch> watch;
    std::promise<void> gone;
    ~Owner() { gone.set_value(); }
  };
  auto owner = std::make_shared<Owner>();
  auto gone = owner->gone.get_future();
  std::promise<void> inside, go;
  owner->watch.emplace(feed, background, workspace, [weak = std::weak_ptr(owner), &inside, &go] {
    auto strong = weak.lock();
    inside.set_value();
    go.get_future().wait();
  });
  owner->watch->poke();
  inside.get_future().wait();
  owner.reset();
  go.set_value();
  gone.wait();
}

}  // namespace
}  // namespace sk::followers
