// How messages of several principals share the threads that fetch their files.
#include "bridge/captures.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <future>
#include <mutex>

#include "support/first_principal.h"
#include "support/keep_options.h"
#include "unit/http/server_fixture.h"
#include "unit/temp_dir.h"

namespace sk::bridge {
namespace {

class CapturesTest : public http::testing::ServerTest {
 protected:
  // A host of images: those below /slow/ wait until release(), and all others come at once.
  void SetUp() override {
    router.add("GET", "/{speed}/{name}", [this](http::Request& request) {
      std::lock_guard lock(mutex_);
      asked_.push_back(request.param("name"));
      changed_.notify_all();
      if (is_released_ || request.param("speed") != "slow") return http::Reply::text("an image");
      waiting_.push_back(std::make_shared<http::Deferred>(std::chrono::seconds(300),
                                                          [] { return http::Reply::empty(504); }));
      return http::Reply::deferred(waiting_.back());
    });
    start();
  }
  void release() {
    std::lock_guard lock(mutex_);
    is_released_ = true;
    for (auto& one : waiting_) one->complete(http::Reply::text("an image"));
  }
  // Returns the names in the order in which they were asked for, once there are `count`.
  std::vector<std::string> asked(size_t count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::milliseconds(http::testing::kPatienceMs),
                                  [&] { return asked_.size() >= count; }));
    return asked_;
  }

  workspace::Authority another(const std::string& name) {
    auto principal = keep.access().create_principal(workspace::first_actor(keep), name, "person");
    return keep.workspaces().open_default(workspace::actor_by_key(keep, principal.id),
                                          workspace::Right::write);
  }
  CapturesOptions with_threads(size_t threads, size_t per_principal_max) {
    return {.remote = {.allow_private = true, .attempts_max = 1, .stall = std::chrono::seconds(60)},
            .threads = threads,
            .threads_per_principal_max = per_principal_max,
            .message_time_max = std::chrono::seconds(300),
            .file_bytes_max = 1 << 20};
  }
  // Stores a message that shows the image at this path of the host.
  conversations::Message stored(const workspace::Authority& authority, const std::string& path) {
    auto url = "http://127.0.0.1:" + std::to_string(port()) + path;
    Json call = {{"id", "ci_1"},
                 {"type", "code_interpreter_call"},
                 {"status", "completed"},
                 {"outputs", Json::array({Json{{"type", "image"}, {"url", url}}})}};
    conversations::NewMessage wanted;
    wanted.conversation = "c";
    wanted.name = "m" + std::to_string(next_++);
    wanted.has_source = true;
    wanted.transcript = conversations::read_response(
        {{"id", "resp_1"}, {"object", "response"}, {"created_at", 1}, {"output", Json::array({call})}});
    return conversations.put(authority, std::move(wanted), {});
  }
  // Queues a job; the result becomes ready at its end.
  std::future<void> start_capture(Captures& captures, const workspace::Authority& authority,
                                  const std::vector<std::string>& image_paths) {
    auto done = std::make_shared<std::promise<void>>();
    Captures::Job job{.authority = authority,
                      .messages = {},
                      .source = {.base_url = "http://127.0.0.1:1", .key = "k", .container = ""},
                      .done = [done] { done->set_value(); }};
    for (const auto& path : image_paths) job.messages.push_back(stored(authority, path));
    captures.start(std::move(job));
    return done->get_future();
  }
  static bool ends(const std::future<void>& capture) {
    return capture.wait_for(std::chrono::milliseconds(http::testing::kPatienceMs)) ==
           std::future_status::ready;
  }

  TempDir dir;
  SystemClock clock;
  workspace::Keep keep{test::keep_options(dir.path()), clock, metrics};
  conversations::Conversations conversations{keep.context(), keep.files(), keep.workspaces()};

 private:
  int next_ = 1;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_released_ = false;
  std::vector<std::string> asked_;
  std::vector<std::shared_ptr<http::Deferred>> waiting_;
};

TEST_F(CapturesTest, SlowHostsOfOnePrincipalLeaveThreadsToOthers) {
  auto greedy = another("greedy"), other = another("other");
  Captures captures(keep, conversations, with_threads(4, 4));
  std::vector<std::future<void>> slow;
  for (int i = 0; i < 40; ++i)
    slow.push_back(start_capture(captures, greedy, {"/slow/s" + std::to_string(i)}));
  EXPECT_EQ(asked(3).size(), 3u);
  EXPECT_TRUE(ends(start_capture(captures, other, {"/fast/f"})));
  EXPECT_EQ(asked(4).size(), 4u) << "one thread is left to others, although one principal may use four";
  release();
  for (auto& one : slow) EXPECT_TRUE(ends(one));
}

TEST_F(CapturesTest, MessagesOfALongJobAlternateWithThoseOfOthers) {
  auto greedy = another("greedy"), other = another("other");
  Captures captures(keep, conversations, with_threads(1, 1));
  auto backfill = start_capture(captures, greedy, {"/slow/s0", "/slow/s1", "/slow/s2"});
  asked(1);
  auto short_one = start_capture(captures, other, {"/fast/f"});
  release();
  EXPECT_TRUE(ends(short_one));
  EXPECT_TRUE(ends(backfill));
  EXPECT_EQ(asked(4), (std::vector<std::string>{"s0", "f", "s1", "s2"}));
}

TEST_F(CapturesTest, OnePrincipalCannotFillTheQueueOfAll) {
  auto greedy = another("greedy"), other = another("other");
  auto wanted = with_threads(2, 1);
  wanted.queue_max = 10;
  wanted.queue_per_principal_max = 4;
  Captures captures(keep, conversations, wanted);
  std::vector<std::future<void>> slow;
  slow.push_back(start_capture(captures, greedy, {"/slow/s0"}));
  asked(1);
  for (int i = 1; i < 5; ++i)
    slow.push_back(start_capture(captures, greedy, {"/slow/s" + std::to_string(i)}));
  try {
    start_capture(captures, greedy, {"/slow/s5"});
    FAIL() << "the principal's part of the queue is full";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::too_many_requests);
  }
  EXPECT_TRUE(ends(start_capture(captures, other, {"/fast/f"})));
  release();
  for (auto& one : slow) EXPECT_TRUE(ends(one));
}

TEST_F(CapturesTest, AStopSettlesWhatWaits) {
  auto greedy = another("greedy");
  Captures captures(keep, conversations, with_threads(2, 1));
  auto running = start_capture(captures, greedy, {"/slow/s0", "/slow/s1"});
  auto waiting = start_capture(captures, greedy, {"/slow/s2"});
  asked(1);
  captures.stop();
  EXPECT_TRUE(ends(running));
  EXPECT_TRUE(ends(waiting));
  for (auto name : {"m1", "m2", "m3"})
    EXPECT_EQ(conversations.find_message(greedy, "c", name)->files.at(0).state,
              conversations::ShownState::not_captured)
        << name;
}

}  // namespace
}  // namespace sk::bridge
