// Long polls whose deadline passes at an unlucky moment.
#include <future>

#include "http/deferred.h"
#include "unit/api/app_fixture.h"

namespace sk::api {
namespace {

using EventPolls = AppTest;

TEST_F(EventPolls, ADeadlineDuringAReadDoesNotSkipTheEventsThatItFound) {
  // Keeps the first read waiting until there is an event.
  constexpr int kBlockers = 32;
  std::promise<void> go;
  auto may_go = go.get_future().share();
  for (int i = 0; i < kBlockers; ++i) app.background.run([may_go] { may_go.wait(); });

  const std::string events = "/api/v1/workspaces/default/events";
  auto after = json_of(call("GET", events))["cursor"].get<int64_t>();
  auto reply = call("GET", events + "?wait=60&after=" + std::to_string(after));
  auto deferred = std::get<std::shared_ptr<http::Deferred>>(reply.body);
  put("a.txt", "1");
  std::promise<bool> claimed;
  clock.call_at(1, [&] { claimed.set_value(deferred->impl().claim()); });
  go.set_value();
  ASSERT_TRUE(claimed.get_future().get());

  auto cursor = json_of(deferred->impl().at_deadline())["cursor"].get<int64_t>();
  auto next = json_of(call("GET", events + "?after=" + std::to_string(cursor)));
  ASSERT_EQ(next["items"].size(), 1u) << "cursor " << cursor << ", asked after " << after;
  EXPECT_EQ(next["items"][0]["kind"], "file.create");
}

}  // namespace
}  // namespace sk::api
