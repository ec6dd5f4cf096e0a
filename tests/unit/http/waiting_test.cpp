// Replies that wait: deferred ones and event streams; and the end of the server.
#include <gtest/gtest.h>

#include <thread>

#include "server_fixture.h"

namespace sk::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Flag;
using testing::RawClient;
using testing::ServerTest;

constexpr milliseconds kLong = seconds(300);

class Waiting : public ServerTest {
 protected:
  void SetUp() override {
    router.add("GET", "/hello", [](Request&) { return Reply::text("hello"); });
    router.add("GET", "/wait", [this](Request& request) {
      auto deadline = milliseconds(std::stoi(request.query_value("ms").value_or("300000")));
      deferred = std::make_shared<Deferred>(
          deadline, [] { return Reply::text("too late"); }, [this] { cancelled.raise(); },
          std::function<void()>(), at_stop(request));
      handled.raise();
      return Reply::deferred(deferred);
    });
    router.add("GET", "/events", [this](Request& request) {
      last_event_id = request.headers.get("Last-Event-ID").value_or("");
      stream = std::make_shared<EventStream>([this] { closed.raise(); }, at_stop(request));
      listening.raise();
      return Reply::events(stream);
    });
  }

  static AtStop at_stop(const Request& request) {
    return request.query_value("news") ? AtStop::end : AtStop::finish;
  }

  Flag handled, listening, cancelled, closed;
  std::shared_ptr<Deferred> deferred;
  std::shared_ptr<EventStream> stream;
  std::string last_event_id;
};

TEST_F(Waiting, ADeferredReplyComesWhenItIsCompleted) {
  start();
  RawClient client(port());
  client.send("GET /wait HTTP/1.1\r\nHost: test\r\n\r\n");
  ASSERT_TRUE(handled.await());
  EXPECT_FALSE(deferred->done());
  deferred->complete(Reply::text("done"));
  auto reply = client.read_reply();
  EXPECT_EQ(reply.body, "done");
  EXPECT_FALSE(reply.header("x-request-id").empty());
  EXPECT_TRUE(deferred->done());
  deferred->complete(Reply::text("again"));  // ignored
  EXPECT_EQ(client.get("/hello").body, "hello");
  EXPECT_FALSE(cancelled.raised());
}

TEST_F(Waiting, ADeferredReplyMayBeCompletedBeforeItIsReturned) {
  router.add("GET", "/now", [](Request&) {
    auto early = std::make_shared<Deferred>(kLong, [] { return Reply::text("late"); });
    early->complete(Reply::text("early"));
    return Reply::deferred(early);
  });
  start();
  RawClient client(port());
  for (int i = 0; i < 10; ++i) EXPECT_EQ(client.get("/now").body, "early");
}

TEST_F(Waiting, ADeferredReplyMayRaceWithItsCompletion) {
  std::vector<std::thread> completers;
  std::mutex mutex;
  router.add("GET", "/race", [&](Request&) {
    auto soon = std::make_shared<Deferred>(kLong, [] { return Reply::text("late"); });
    std::lock_guard lock(mutex);
    completers.emplace_back([soon] { soon->complete(Reply::text("soon")); });
    return Reply::deferred(soon);
  });
  start();
  RawClient client(port());
  for (int i = 0; i < 200; ++i) EXPECT_EQ(client.get("/race").body, "soon");
  for (auto& thread : completers) thread.join();
}

TEST_F(Waiting, ADeferredReplyIsTheReplyToOneRequest) {
  std::shared_ptr<Deferred> shared;
  router.add("GET", "/shared", [&](Request&) { return Reply::deferred(shared); });
  start();
  RawClient client(port());
  auto promise = [] { return std::make_shared<Deferred>(kLong, [] { return Reply::text("late"); }); };
  shared = promise();
  shared->complete(Reply::text("early"));
  EXPECT_EQ(client.get("/shared").body, "early");
  EXPECT_EQ(client.get("/shared").status, 500);
  shared = promise();
  RawClient first(port());
  first.send("GET /shared HTTP/1.1\r\nHost: test\r\n\r\n");
  // Whichever of the two comes first gets it; the other must not wait for it.
  client.send("GET /shared HTTP/1.1\r\nHost: test\r\n\r\n");
  std::array<pollfd, 2> refused = {pollfd{first.fd(), POLLIN, 0}, pollfd{client.fd(), POLLIN, 0}};
  ASSERT_EQ(::poll(refused.data(), refused.size(), testing::kPatienceMs), 1);
  shared->complete(Reply::text("done"));
  auto one = first.read_reply(), other = client.read_reply();
  EXPECT_EQ(std::min(one.status, other.status), 200);
  EXPECT_EQ(std::max(one.status, other.status), 500);
}

TEST_F(Waiting, AReplyKeepsItsObjectUntilItIsSent) {
  Flag released;
  router.add("GET", "/held", [&](Request&) {
    deferred = std::make_shared<Deferred>(kLong, [] { return Reply::text("too late"); });
    auto reply = Reply::deferred(deferred);
    reply.held = std::shared_ptr<void>(&released, [&](void*) { released.raise(); });
    handled.raise();
    return reply;
  });
  start();
  RawClient client(port());
  client.send("GET /held HTTP/1.1\r\nHost: test\r\n\r\n");
  ASSERT_TRUE(handled.await());
  EXPECT_FALSE(released.raised());
  deferred->complete(Reply::text("done"));
  EXPECT_EQ(client.read_reply().body, "done");
  EXPECT_TRUE(released.await());
}

TEST_F(Waiting, AReplyReleasesItsObjectWhenItsClientLeaves) {
  for (std::string target : {"/held", "/held?events=1"}) {
    SCOPED_TRACE(target);
    Router routes;
    Flag begun, released;
    // The test keeps the reply's own objects, as code that completes them later does.
    std::shared_ptr<Deferred> waiting;
    std::shared_ptr<EventStream> sending;
    routes.add("GET", "/held", [&](Request& request) {
      Reply reply;
      if (request.query_value("events"))
        reply = Reply::events(sending = std::make_shared<EventStream>());
      else
        reply = Reply::deferred(
            waiting = std::make_shared<Deferred>(kLong, [] { return Reply::text("too late"); }));
      reply.held = std::shared_ptr<void>(&released, [&](void*) { released.raise(); });
      begun.raise();
      return reply;
    });
    Metrics own_metrics;
    Server one(defaults(), std::move(routes), own_metrics);
    RawClient client(one.port());
    client.send("GET " + target + " HTTP/1.1\r\nHost: test\r\n\r\n");
    ASSERT_TRUE(begun.await());
    EXPECT_FALSE(released.raised());
    client.close();
    EXPECT_TRUE(released.await());
  }
}

TEST_F(Waiting, ADeferredReplyHasADeadline) {
  start();
  RawClient client(port());
  EXPECT_EQ(client.get("/wait?ms=20").body, "too late");
  EXPECT_TRUE(cancelled.await());
  EXPECT_TRUE(deferred->done());
  EXPECT_EQ(client.get("/hello").body, "hello");
}

TEST_F(Waiting, AReplyMadeAfterItsClientLeftIsReportedAsLost) {
  Flag deadline_passed, client_left, lost;
  router.add("GET", "/late", [&](Request&) {
    return Reply::deferred(std::make_shared<Deferred>(
        milliseconds(1),
        [&] {
          deadline_passed.raise();
          client_left.await();
          return Reply::text("to nobody");
        },
        [] {}, [&] { lost.raise(); }));
  });
  start();
  {
    RawClient client(port());
    client.send("GET /late HTTP/1.1\r\nHost: test\r\n\r\n");
    ASSERT_TRUE(deadline_passed.await());
  }
  client_left.raise();
  EXPECT_TRUE(lost.await());
}

TEST_F(Waiting, AReplyThatItsClientGetsIsNotLost) {
  Flag lost;
  std::shared_ptr<Deferred> promised;
  router.add("GET", "/promise", [&](Request& request) {
    auto deadline = milliseconds(std::stoi(request.query_value("ms").value_or("300000")));
    promised = std::make_shared<Deferred>(
        deadline, [] { return Reply::text("too late"); }, [] {}, [&] { lost.raise(); });
    if (!request.query_value("ms")) handled.raise();
    return Reply::deferred(promised);
  });
  start();
  {
    RawClient client(port());
    EXPECT_EQ(client.get("/promise?ms=1").body, "too late");
    client.send("GET /promise HTTP/1.1\r\nHost: test\r\n\r\n");
    ASSERT_TRUE(handled.await());
    promised->complete(Reply::text("done"));
    EXPECT_EQ(client.read_reply().body, "done");
  }
  server.reset();
  EXPECT_FALSE(lost.raised());
}

TEST_F(Waiting, AClientThatLeavesCancelsItsDeferredReply) {
  start();
  {
    RawClient client(port());
    client.send("GET /wait HTTP/1.1\r\nHost: test\r\n\r\n");
    ASSERT_TRUE(handled.await());
  }
  EXPECT_TRUE(cancelled.await());
  EXPECT_TRUE(deferred->done());
  deferred->complete(Reply::text("nobody listens"));
}

TEST_F(Waiting, WaitingHoldsNoWorker) {
  std::mutex mutex;
  std::vector<std::shared_ptr<Deferred>> all;
  router.add("GET", "/many", [&](Request&) {
    auto one = std::make_shared<Deferred>(kLong, [] { return Reply::text("late"); });
    std::lock_guard lock(mutex);
    all.push_back(one);
    return Reply::deferred(one);
  });
  start();
  constexpr size_t kMany = 100;  // of 4 workers
  std::vector<std::unique_ptr<RawClient>> clients;
  for (size_t i = 0; i < kMany; ++i) {
    clients.push_back(std::make_unique<RawClient>(port()));
    clients.back()->send("GET /many HTTP/1.1\r\nHost: test\r\n\r\n");
  }
  RawClient other(port());
  EXPECT_EQ(other.get("/hello").body, "hello");
  for (size_t done = 0; done < kMany;) {
    std::vector<std::shared_ptr<Deferred>> ready;
    {
      std::lock_guard lock(mutex);
      ready.swap(all);
    }
    for (auto& one : ready) one->complete(Reply::text("ok"));
    done += ready.size();
    if (ready.empty()) std::this_thread::yield();
  }
  for (auto& client : clients) EXPECT_EQ(client->read_reply().body, "ok");
}

TEST_F(Waiting, AnUploadMayEndInADeferredReply) {
  struct Sink final : BodySink {
    Sink(std::shared_ptr<Deferred>& slot, Flag& flag) : deferred_(slot), ended_(flag) {}
    void piece(std::string_view) override {}
    Reply end() override {
      deferred_ = std::make_shared<Deferred>(kLong, [] { return Reply::text("late"); });
      ended_.raise();
      return Reply::deferred(deferred_);
    }
    std::shared_ptr<Deferred>& deferred_;
    Flag& ended_;
  };
  router.add_streaming("PUT", "/upload",
                       [this](Request&) { return std::make_unique<Sink>(deferred, handled); });
  start();
  RawClient client(port());
  client.send("PUT /upload HTTP/1.1\r\nHost: test\r\nContent-Length: 5\r\n\r\nhello");
  ASSERT_TRUE(handled.await());
  deferred->complete(Reply::text("kept", "text/plain", 201));
  EXPECT_EQ(client.read_reply().status, 201);
}

TEST_F(Waiting, EventsArriveAsTheyAreSent) {
  start();
  RawClient client(port());
  client.send("GET /events HTTP/1.1\r\nHost: test\r\nLast-Event-ID: 41\r\n\r\n");
  auto head = client.read_head();
  EXPECT_EQ(head.header("content-type"), "text/event-stream");
  ASSERT_TRUE(listening.await());
  EXPECT_EQ(last_event_id, "41");
  EXPECT_TRUE(stream->send({"42", "change", "line 1\nline 2\r\nline 3"}));
  EXPECT_NE(
      client.read_until("\n\n").find("id: 42\nevent: change\ndata: line 1\ndata: line 2\ndata: line 3\n\n"),
      std::string::npos);
  EXPECT_TRUE(stream->send({"43", "", "{}"}));
  EXPECT_NE(client.read_until("\n\n").find("id: 43\ndata: {}\n\n"), std::string::npos);
  EXPECT_TRUE(stream->send({"44", "", "", 500}));
  EXPECT_NE(client.read_until("\n\n").find("id: 44\nretry: 500\ndata: \n\n"), std::string::npos);
  stream->close();
  EXPECT_FALSE(stream->send({"45", "", "x"}));
  client.read_until("0\r\n\r\n");
  EXPECT_TRUE(closed.await());
  EXPECT_EQ(client.get("/hello").body, "hello");
}

TEST_F(Waiting, AnEventStreamMayBeFilledBeforeItIsReturned) {
  router.add("GET", "/filled", [](Request&) {
    auto filled = std::make_shared<EventStream>();
    filled->send({"1", "", "a"});
    filled->close();
    return Reply::events(filled);
  });
  start();
  RawClient client(port());
  EXPECT_EQ(client.get("/filled").body, "id: 1\ndata: a\n\n");
  EXPECT_EQ(client.request("HEAD /filled HTTP/1.1\r\nHost: test\r\n\r\n").header("content-type"),
            "text/event-stream");
  EXPECT_EQ(client.get("/hello").body, "hello");
}

TEST_F(Waiting, AnIdleEventStreamHasAHeartbeat) {
  options.event_heartbeat_s = 1;
  options.idle_timeout_s = 1;  // does not end a stream that waits
  start();
  RawClient client(port());
  client.send("GET /events HTTP/1.1\r\nHost: test\r\n\r\n");
  client.read_head();
  for (int i = 0; i < 3; ++i) EXPECT_NE(client.read_until("\n\n").find(":\n\n"), std::string::npos);
  EXPECT_FALSE(closed.raised());
}

TEST_F(Waiting, AClientThatLeavesClosesItsEventStream) {
  start();
  {
    RawClient client(port());
    client.send("GET /events HTTP/1.1\r\nHost: test\r\n\r\n");
    client.read_head();
    ASSERT_TRUE(listening.await());
  }
  EXPECT_TRUE(closed.await());
  EXPECT_TRUE(stream->closed());
  EXPECT_FALSE(stream->send({"1", "", "x"}));
}

TEST_F(Waiting, ACloseCallbackThatThrowsDoesNotStopTheServer) {
  Flag told;
  router.add("GET", "/bad", [&](Request&) {
    auto bad = std::make_shared<EventStream>([&] {
      told.raise();
      throw Error(Code::internal, "no");
    });
    bad->close();
    return Reply::events(bad);
  });
  start();
  RawClient client(port());
  EXPECT_EQ(client.get("/bad").status, 200);
  EXPECT_TRUE(told.await());
  EXPECT_EQ(client.get("/hello").body, "hello");
}

TEST_F(Waiting, AReaderThatIsTooSlowLosesItsEventStream) {
  options.event_buffer_bytes_max = 100'000;
  start();
  RawClient client(port());
  client.send("GET /events HTTP/1.1\r\nHost: test\r\n\r\n");
  client.read_head();
  ASSERT_TRUE(listening.await());
  std::string data(10'000, 'x');
  int sent = 0;
  for (; sent < 100'000 && stream->send({std::to_string(sent), "", data}); ++sent) {
  }
  EXPECT_LT(sent, 100'000);
  EXPECT_TRUE(stream->closed());
}

TEST_F(Waiting, EventsFromManyThreadsAllArrive) {
  options.event_buffer_bytes_max = 64 << 20;
  start();
  RawClient client(port());
  client.send("GET /events HTTP/1.1\r\nHost: test\r\n\r\n");
  client.read_head();
  ASSERT_TRUE(listening.await());
  std::vector<std::thread> senders;
  for (int t = 0; t < 4; ++t)
    senders.emplace_back([this] {
      for (int i = 0; i < 500; ++i) EXPECT_TRUE(stream->send({"", "", "tick"}));
    });
  size_t seen = 0;
  while (seen < 2000) {
    auto text = client.read_until("\n\n");
    ASSERT_FALSE(text.empty());
    if (text.find("data: tick") != std::string::npos) ++seen;
  }
  for (auto& thread : senders) thread.join();
}

TEST_F(Waiting, StopLetsARunningRequestFinish) {
  Flag go_on;
  router.add("GET", "/slow", [&](Request&) {
    handled.raise();
    EXPECT_TRUE(go_on.await());
    return Reply::text("finished");
  });
  start();
  RawClient client(port());
  client.send("GET /slow HTTP/1.1\r\nHost: test\r\n\r\n");
  ASSERT_TRUE(handled.await());
  std::thread stopper([&] { server->stop(seconds(60)); });
  go_on.raise();
  EXPECT_EQ(client.read_reply().body, "finished");
  EXPECT_TRUE(client.closed());
  stopper.join();
}

TEST_F(Waiting, StopEndsWhatWaitsForNews) {
  start();
  RawClient waiter(port()), listener(port()), idle(port());
  EXPECT_EQ(idle.get("/hello").body, "hello");
  waiter.send("GET /wait?news=1 HTTP/1.1\r\nHost: test\r\n\r\n");
  listener.send("GET /events?news=1 HTTP/1.1\r\nHost: test\r\n\r\n");
  listener.read_head();
  ASSERT_TRUE(handled.await());
  server->stop(seconds(60));
  EXPECT_EQ(waiter.read_reply().status, 503);
  EXPECT_EQ(listener.read_all(), "0\r\n\r\n");
  EXPECT_TRUE(idle.closed());
  EXPECT_TRUE(cancelled.raised());
  EXPECT_TRUE(closed.raised());
}

TEST_F(Waiting, StopLetsWaitingRepliesAndStreamsOfWorkFinish) {
  start();
  RawClient waiter(port()), listener(port());
  waiter.send("GET /wait HTTP/1.1\r\nHost: test\r\n\r\n");
  listener.send("GET /events HTTP/1.1\r\nHost: test\r\n\r\n");
  listener.read_head();
  ASSERT_TRUE(handled.await());
  EXPECT_FALSE(server->drain(milliseconds(10)));
  EXPECT_FALSE(cancelled.raised());
  EXPECT_FALSE(closed.raised());
  std::thread stopper([&] { server->stop(seconds(60)); });
  EXPECT_TRUE(deferred->complete(Reply::text("finished")));
  EXPECT_TRUE(stream->send({"", "", "the last one"}));
  stream->close();
  EXPECT_EQ(waiter.read_reply().body, "finished");
  EXPECT_TRUE(listener.read_all().ends_with("data: the last one\n\n\r\n0\r\n\r\n"));
  stopper.join();
  EXPECT_FALSE(cancelled.raised());
}

TEST_F(Waiting, StopRefusesWorkThatDoesNotEndInTime) {
  start();
  RawClient waiter(port()), listener(port());
  waiter.send("GET /wait HTTP/1.1\r\nHost: test\r\n\r\n");
  listener.send("GET /events HTTP/1.1\r\nHost: test\r\n\r\n");
  listener.read_head();
  ASSERT_TRUE(handled.await());
  server->stop(milliseconds(10));
  EXPECT_EQ(waiter.read_reply().status, 503);
  EXPECT_EQ(listener.read_all(), "0\r\n\r\n");
  EXPECT_TRUE(cancelled.raised());
  EXPECT_TRUE(closed.raised());
}

TEST_F(Waiting, StopWithoutADrainTimeEndsUploadsThatNeverEnd) {
  struct Sink final : BodySink {
    explicit Sink(Flag& flag) : gone(flag) {}
    ~Sink() override { gone.raise(); }
    void piece(std::string_view) override {}
    Reply end() override { return Reply::empty(); }
    Flag& gone;
  };
  Flag gone;
  router.add_streaming("PUT", "/upload", [&](Request&) {
    handled.raise();
    return std::make_unique<Sink>(gone);
  });
  start();
  RawClient client(port());
  client.send("PUT /upload HTTP/1.1\r\nHost: test\r\nContent-Length: 100000\r\n\r\nhello");
  ASSERT_TRUE(handled.await());
  server->stop(milliseconds(10));
  EXPECT_TRUE(gone.raised());
  EXPECT_EQ(client.read_all(), "");
}

TEST_F(Waiting, ThePortIsFreeAfterStopAndATakenPortIsAnError) {
  start();
  auto taken = port();
  Metrics other_metrics;
  ServerOptions same = defaults();
  same.port = taken;
  try {
    Server second(same, Router(), other_metrics);
    ADD_FAILURE() << "two servers on one port";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::unavailable);
  }
  server->stop(seconds(1));
  server->stop(seconds(1));
  Server second(same, Router(), other_metrics);
  EXPECT_EQ(second.port(), taken);
}

}  // namespace
}  // namespace sk::http
