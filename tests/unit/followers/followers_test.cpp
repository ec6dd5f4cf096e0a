// Tests of the followers that a server starts: caches and thumbnails.
#include "followers/followers.h"

#include <atomic>
#include <future>
#include <set>

#include "followers/caches.h"
#include "followers/thumbnails.h"
#include "interpreter/refusing_interpreter.h"
#include "unit/followers/followed.h"
#include "workspace/identity_hooks.h"

namespace sk::followers {
namespace {

using workspace::Version;

// Makes thumbnails of everything, after some refusals.
class ThumbnailMaker final : public interpreter::RefusingInterpreter {
 public:
  explicit ThumbnailMaker(workspace::Keep& keep) : RefusingInterpreter(keep, "this test runs no code") {}
  bool can_have_thumbnail(const Version& version) const override { return version.mime == "image/png"; }
  void make_thumbnail(const Version& version, interpreter::Thumbnails::OnMade on_made) override {
    if (refusals-- > 0) throw Error(Code::too_many_requests, "too many");
    {
      std::lock_guard lock(mutex_);
      paths_.insert(version.path);
    }
    on_made(std::nullopt);
  }
  std::set<std::string> paths() {
    std::lock_guard lock(mutex_);
    return paths_;
  }
  std::atomic<int> refusals = 0;

 private:
  std::mutex mutex_;
  std::set<std::string> paths_;
};

class OwnFollowers : public FollowersTest {
 protected:
  void show(const std::string& message, std::vector<std::string> files) {
    conversations::NewMessage wanted;
    wanted.conversation = "c";
    wanted.name = message;
    wanted.transcript.text = "See.";
    wanted.files = std::move(files);
    conversations().put(ws, std::move(wanted), {});
  }
  conversations::Conversations conversations() {
    return {keep->context(), keep->files(), keep->workspaces()};
  }
  static constexpr std::string_view kPng = "\x89PNG\r\n\x1a\n";
};

TEST_F(OwnFollowers, ThumbnailsOfShownImagesAreMadeAlsoOfThoseThatWereRefusedOrShownWhileItWasStopped) {
  for (auto path : {"a.png", "b.png", "unseen.png", "c.txt"}) put(path, kPng);
  auto all = conversations();
  ThumbnailMaker maker(*keep);
  auto wanted = thumbnail_options();
  wanted.delay = wanted.retry_min = std::chrono::milliseconds(1);
  introduce(wanted);
  maker.refusals = 3;
  {
    auto follower = follow(wanted, make_thumbnails(*keep, all, maker));
    show("one", {"a.png", "c.txt"});
    ASSERT_TRUE(eventually([&] { return !maker.paths().empty(); }));
  }
  EXPECT_EQ(maker.paths(), (std::set<std::string>{"a.png"}));
  show("two", {"b.png"});
  auto follower = follow(wanted, make_thumbnails(*keep, all, maker));
  ASSERT_TRUE(eventually([&] { return maker.paths().size() >= 2; }));
  EXPECT_EQ(maker.paths(), (std::set<std::string>{"a.png", "b.png"}));
}

TEST_F(OwnFollowers, AMessageThatWasDeletedMeanwhileNeedsNoThumbnail) {
  for (auto path : {"a.png", "b.png"}) put(path, kPng);
  auto all = conversations();
  ThumbnailMaker maker(*keep);
  auto wanted = thumbnail_options();
  introduce(wanted);
  show("one", {"a.png"});
  all.remove_message(ws, "c", "one");
  show("two", {"b.png"});
  auto follower = follow(wanted, make_thumbnails(*keep, all, maker));
  ASSERT_TRUE(eventually([&] { return !maker.paths().empty(); }));
  EXPECT_EQ(maker.paths(), (std::set<std::string>{"b.png"}));
}

TEST_F(OwnFollowers, AMessageWithManyImagesDoesNotDelayThatOfAnotherWorkspaceForLong) {
  std::vector<std::string> many;
  for (int i = 0; i < 40; ++i) many.push_back("many" + std::to_string(i) + ".png");
  for (const auto& path : many) put(path, kPng);
  put("last.png", kPng);
  auto all = conversations();
  ThumbnailMaker maker(*keep);
  auto wanted = thumbnail_options();
  wanted.delay = wanted.retry_min = std::chrono::milliseconds(1);
  introduce(wanted);
  show("one", many);
  show("two", {"last.png"});
  auto follower = follow(wanted, make_thumbnails(*keep, all, maker));
  ASSERT_TRUE(eventually([&] { return maker.paths().contains("last.png"); }));
  EXPECT_EQ(maker.paths().size(), 17u) << "the others are made when a reader asks for them";
}

// The other process has its own caches, and shares catalog and feed.
TEST_F(OwnFollowers, AKeyThatAnotherProcessRevokedIsNotRememberedLonger) {
  workspace::IdentityHooks hooks(keep->context());
  identity::Access other(keep->context().db, clock, keep->context().ids, hooks, 1'000);
  auto made = keep->access().create_key(actor, actor.principal(), identity::NewKey{"k", false, {}, {}});
  auto ended = std::make_shared<std::promise<void>>();
  auto watch = keep->revocations().watch_key(keep->access().authenticate(made.secret),
                                             [ended](const Error&) { ended->set_value(); });
  keep->revocations().start();
  auto wanted = cache_options();
  wanted.delay = std::chrono::milliseconds(1);
  wanted.begin = Begin::at_start;
  Followed followed;
  auto invalidate = invalidate_caches(*keep);
  auto follower = follow(wanted, [&](const auto& events, const std::stop_token& stop) {
    invalidate(events, stop);
    followed.add(events);
  });
  followed.wait_for(1);  // the workspace, created by the fixture
  keep->access().authenticate(made.secret);
  other.revoke_key(actor, made.info.id);
  ASSERT_TRUE(eventually([&] { return followed.events().back().kind == "key.revoke"; }));
  EXPECT_EQ(code_of([&] { keep->access().authenticate(made.secret); }), Code::unauthorized);
  EXPECT_EQ(ended->get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
}

TEST_F(OwnFollowers, AMemberThatAnotherProcessRemovedIsNotRememberedLonger) {
  workspace::Workspaces other(keep->context());
  auto guest = keep->access().create_principal(actor, "guest", "person");
  auto their = workspace::actor_by_key(*keep, guest.id);
  keep->workspaces().set_member(ws, guest.id, workspace::Right::read);
  auto name = ws.workspace_id().with_prefix(workspace::prefix::workspace);
  auto wanted = cache_options();
  wanted.delay = std::chrono::milliseconds(1);
  wanted.begin = Begin::at_start;
  Followed followed;
  auto invalidate = invalidate_caches(*keep);
  auto follower = follow(wanted, [&](const auto& events, const std::stop_token& stop) {
    invalidate(events, stop);
    followed.add(events);
  });
  followed.wait_for(3);  // two workspaces and the member
  keep->workspaces().enter(their, name);
  other.set_member(ws, guest.id, {});
  ASSERT_TRUE(eventually([&] { return followed.events().back().kind == "member.remove"; }));
  EXPECT_EQ(code_of([&] { keep->workspaces().enter(their, name); }), Code::not_found);
}

TEST_F(OwnFollowers, TheServersFollowersStartAndStop) {
  auto all = conversations();
  ThumbnailMaker maker(*keep);
  Followers followers(*keep, all, maker, metrics);
  followers.start();
  put("a", "1");
  followers.stop();
  followers.stop();
}

}  // namespace
}  // namespace sk::followers
