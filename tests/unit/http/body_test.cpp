// Bodies both ways: streamed uploads, files, pieces.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>

#include "base/hash.h"
#include "http/mhd/upload.h"
#include "server_fixture.h"

namespace sk::http {
namespace {

using testing::Flag;
using testing::RawClient;
using testing::ServerTest;

std::string random_bytes(size_t size) {
  std::string bytes(size, '\0');
  fill_random(std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

std::shared_ptr<Fd> memory_file(const std::string& content) {
  auto fd = std::make_shared<Fd>(::memfd_create("test", MFD_CLOEXEC));
  write_all(fd->get(), as_bytes(content), "test file");
  return fd;
}

// What a sink saw, for the test's thread.
struct Seen {
  Flag opened, destroyed, first_piece, may_continue;
  std::atomic<size_t> pieces{0};
  std::atomic<size_t> largest{0};
};

class HashSink final : public BodySink {
 public:
  explicit HashSink(Seen& seen) : seen_(seen) { seen_.opened.raise(); }
  ~HashSink() override { seen_.destroyed.raise(); }
  void piece(std::string_view bytes) override {
    hash_.update(as_bytes(bytes));
    size_ += bytes.size();
    ++seen_.pieces;
    seen_.largest = std::max(seen_.largest.load(), bytes.size());
    seen_.first_piece.raise();
    if (bytes.find("REFUSE") != std::string_view::npos) throw Error(Code::quota_exceeded, "full");
  }
  Reply end() override { return Reply::json({{"size", size_}, {"sha256", hash_.digest().hex()}}); }

 private:
  Seen& seen_;
  Sha256Stream hash_;
  uint64_t size_ = 0;
};

class Bodies : public ServerTest {
 protected:
  void SetUp() override {
    router.add_streaming("PUT", "/upload", [this](Request& request) -> std::unique_ptr<BodySink> {
      if (request.headers.has("X-Refuse")) throw Error(Code::forbidden, "not you");
      return std::make_unique<HashSink>(seen);
    });
    router.add("GET", "/hello", [](Request&) { return Reply::text("hello"); });
  }
  Seen seen;
};

std::string put_head(const std::string& more) {
  return "PUT /upload HTTP/1.1\r\nHost: test\r\n" + more + "\r\n";
}

TEST_F(Bodies, StreamToTheSinkInLargePieces) {
  start();
  RawClient client(port());
  auto content = random_bytes(20 << 20);
  ASSERT_TRUE(client.send(put_head("Content-Length: " + std::to_string(content.size()) + "\r\n")));
  ASSERT_TRUE(client.send(content));
  auto reply = client.read_reply();
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(parse_json(reply.body)["sha256"], sha256(content).hex());
  EXPECT_GE(seen.largest, 64u << 10);
  EXPECT_LE(seen.pieces, (20u << 20) / (64u << 10) + 1);
  EXPECT_EQ(client.get("/hello").status, 200);
}

TEST_F(Bodies, MayBeEmpty) {
  start();
  RawClient client(port());
  auto reply = client.request(put_head("Content-Length: 0\r\n"));
  EXPECT_EQ(parse_json(reply.body)["size"], 0);
  reply = client.request(put_head("Transfer-Encoding: chunked\r\n") + "0\r\n\r\n");
  EXPECT_EQ(parse_json(reply.body)["size"], 0);
}

TEST_F(Bodies, MayComeInChunksOfAnySize) {
  start();
  RawClient client(port());
  auto content = random_bytes(3 << 20);
  std::string wire;
  size_t at = 0;
  for (size_t size = 1; at < content.size(); size = size * 3 + 1) {
    auto part = std::string_view(content).substr(at, size);
    char head[32];
    std::snprintf(head, sizeof head, "%zx\r\n", part.size());
    wire += head + std::string(part) + "\r\n";
    at += part.size();
  }
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(client.send(put_head("Transfer-Encoding: chunked\r\n") + wire + "0\r\n\r\n"));
    EXPECT_EQ(parse_json(client.read_reply().body)["sha256"], sha256(content).hex());
  }
}

TEST_F(Bodies, GoOutOfAFileByRange) {
  auto content = random_bytes(5 << 20);
  router.add("GET", "/file", [file = memory_file(content)](Request&) {
    Reply reply;
    reply.body = FileRange{file, 1000, (5 << 20) - 2000};
    return reply;
  });
  start();
  RawClient client(port());
  auto reply = client.get("/file");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, content.substr(1000, (5 << 20) - 2000));
  auto head = client.request("HEAD /file HTTP/1.1\r\nHost: test\r\n\r\n");
  EXPECT_EQ(head.header("content-length"), std::to_string((5 << 20) - 2000));
  EXPECT_EQ(client.get("/hello").body, "hello");
}

class ListSource final : public PieceSource {
 public:
  explicit ListSource(std::vector<Piece> pieces) : pieces_(std::move(pieces)) {}
  std::optional<Piece> next() override {
    if (at_ == pieces_.size()) return std::nullopt;
    return pieces_[at_++];
  }

 private:
  std::vector<Piece> pieces_;
  size_t at_ = 0;
};

TEST_F(Bodies, GoOutInPiecesOfMemoryAndFiles) {
  auto content = random_bytes(4 << 20);
  router.add("GET", "/pieces", [&, file = memory_file(content)](Request&) {
    std::vector<PieceSource::Piece> pieces;
    pieces.emplace_back(content.substr(0, 10));
    pieces.emplace_back(FileRange{file, 10, 3'000'000});
    pieces.emplace_back(std::string());
    pieces.emplace_back(FileRange{file, 3'000'010, 0});
    pieces.emplace_back(content.substr(3'000'010));
    Reply reply;
    reply.body = Reply::Pieces{content.size(), std::make_shared<ListSource>(std::move(pieces))};
    return reply;
  });
  start();
  RawClient client(port());
  for (int i = 0; i < 3; ++i) {
    auto reply = client.get("/pieces");
    EXPECT_EQ(reply.header("content-length"), std::to_string(content.size()));
    EXPECT_TRUE(reply.body == content);
  }
}

TEST_F(Bodies, ThatBreakOffDestroyTheSinkAndGetNoAnswer) {
  start();
  for (auto head : {"Content-Length: 1000000\r\n", "Transfer-Encoding: chunked\r\n"}) {
    Seen& now = seen;
    RawClient client(port());
    client.send(put_head(head));
    ASSERT_TRUE(now.opened.await());
    client.send("3e8\r\n" + std::string(500, 'x'));
    client.half_close();
    EXPECT_EQ(client.read_all(), "");
    EXPECT_TRUE(now.destroyed.await());
  }
}

TEST_F(Bodies, AreAskedForOnlyAfterTheSinkWasAccepted) {
  start();
  RawClient client(port());
  client.send(put_head("Content-Length: 5\r\nExpect: 100-continue\r\n"));
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_TRUE(seen.opened.raised());
  client.send("hello");
  EXPECT_EQ(parse_json(client.read_reply().body)["size"], 5);
}

TEST_F(Bodies, AreNotAskedForWhenTheSinkRefuses) {
  start();
  RawClient client(port());
  client.send(put_head("Content-Length: 5000000\r\nExpect: 100-continue\r\nX-Refuse: yes\r\n"));
  auto reply = client.read_reply();
  EXPECT_EQ(reply.status, 403);
  EXPECT_TRUE(client.closed());
}

TEST_F(Bodies, ThatAreSmallAndRefusedLeaveTheConnectionUsable) {
  start();
  RawClient client(port());
  client.send(put_head("Content-Length: 100000\r\nX-Refuse: yes\r\n") + std::string(100'000, 'x'));
  EXPECT_EQ(client.read_reply().status, 403);
  EXPECT_EQ(client.get("/hello").body, "hello");
}

TEST_F(Bodies, ThatAreLargeAndRefusedGetTheirAnswerWhileStillSending) {
  start();
  for (auto head : {"Content-Length: 100000000\r\nX-Refuse: yes\r\n",
                    "Transfer-Encoding: chunked\r\nX-Refuse: yes\r\n"}) {
    RawClient client(port());
    client.send(put_head(head));
    client.send("100000\r\n" + std::string(1 << 20, 'x'));
    auto reply = client.read_reply();
    EXPECT_EQ(reply.status, 403);
    EXPECT_EQ(reply.header("connection"), "close");
    EXPECT_FALSE(reply.header("x-request-id").empty());
  }
}

TEST_F(Bodies, CanBeRefusedInTheMiddle) {
  start();
  RawClient client(port());
  client.send(put_head("Content-Length: 200000000\r\n"));
  client.send(std::string(100'000, 'x') + "REFUSE" + std::string(100'000, 'x'));
  ASSERT_TRUE(seen.destroyed.await());
  client.send(std::string(100'000, 'x'));
  auto reply = client.read_reply();
  EXPECT_EQ(reply.status, 507);
  EXPECT_EQ(parse_json(reply.body)["error"]["code"], "quota_exceeded");
}

// All that is left comes after the refusal and in one read: nothing more will come that could wake the
// connection.
TEST_F(Bodies, ThatAreRefusedJustBeforeTheirEndGetTheirAnswer) {
  Flag refused;
  options.error_reply = [&](const Request& request, const Error& error) {
    refused.raise();
    return error_to_reply(request, error);
  };
  start();
  for (size_t rest : {1'000, 30'000, 900'000}) {
    refused.lower();
    RawClient client(port());
    client.send(put_head("Content-Length: " + std::to_string(70'000 + rest) + "\r\n"));
    client.send("REFUSE" + std::string(69'994, 'x'));
    ASSERT_TRUE(refused.await());
    client.send(std::string(rest, 'x'));
    auto reply = client.read_reply();
    EXPECT_EQ(reply.status, 507) << rest << ": " << reply.body;
    EXPECT_EQ(client.get("/hello").body, "hello") << rest;
  }
}

TEST_F(Bodies, WhoseRefusalWasHeardBeforeTheirEndCloseTheConnectionAtTheirEnd) {
  start();
  RawClient client(port());
  client.send(put_head("Transfer-Encoding: chunked\r\n") + "11170\r\nREFUSE" + std::string(69'994, 'x') +
              "\r\n");
  EXPECT_EQ(client.read_reply().status, 507);
  client.send("5\r\nhello\r\n0\r\n\r\n");
  EXPECT_TRUE(client.closed());
}

TEST_F(Bodies, CanBeRefusedAtTheEnd) {
  start();
  RawClient client(port());
  client.send(put_head("Content-Length: 6\r\n") + "REFUSE");
  EXPECT_EQ(client.read_reply().status, 507);
  EXPECT_EQ(client.get("/hello").body, "hello");
}

// A sink that lets go of its first piece only when told.
class HoldingSink final : public BodySink {
 public:
  explicit HoldingSink(Seen& seen) : seen_(seen) {}
  void piece(std::string_view bytes) override {
    size_ += bytes.size();
    seen_.first_piece.raise();
    EXPECT_TRUE(seen_.may_continue.await());
  }
  Reply end() override { return Reply::json({{"size", size_}}); }

 private:
  Seen& seen_;
  uint64_t size_ = 0;
};

TEST_F(Bodies, PushBackOnAClientThatIsFasterThanTheSink) {
  router.add_streaming("PUT", "/slow", [this](Request&) { return std::make_unique<HoldingSink>(seen); });
  start();
  RawClient client(port());
  int small = 64 << 10;
  ::setsockopt(client.fd(), SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
  constexpr size_t kSize = 64 << 20;
  client.send("PUT /slow HTTP/1.1\r\nHost: test\r\nContent-Length: " + std::to_string(kSize) + "\r\n\r\n");
  std::string block(1 << 20, 'x');
  size_t sent = 0;
  // Until the kernel takes no more for a while: what is under way then is bounded, although the client would
  // send all.
  for (;;) {
    pollfd wait{client.fd(), POLLOUT, 0};
    if (::poll(&wait, 1, 500) == 0) break;
    auto count =
        ::send(client.fd(), block.data(), std::min(block.size(), kSize - sent), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count > 0) sent += static_cast<size_t>(count);
    if (sent == kSize) break;
  }
  EXPECT_LT(sent, kSize / 2);
  ASSERT_TRUE(seen.first_piece.await());
  seen.may_continue.raise();
  while (sent < kSize) {
    auto size = std::min(block.size(), kSize - sent);
    ASSERT_TRUE(client.send(std::string_view(block).substr(0, size)));
    sent += size;
  }
  EXPECT_EQ(parse_json(client.read_reply().body)["size"], kSize);
}

TEST_F(Bodies, AreWholeAlsoWhenTheClientClosesItsSideBeforeTheSinkHasTakenThem) {
  router.add_streaming("PUT", "/slow", [this](Request&) { return std::make_unique<HoldingSink>(seen); });
  options.loop_threads = 1;
  start();
  RawClient other(port()), client(port());
  EXPECT_EQ(other.get("/hello").status, 200);
  auto chunk = "1000\r\n" + std::string(4096, 'x') + "\r\n";
  auto chunks = [&](size_t count) {
    std::string wire;
    while (count-- > 0) wire += chunk;
    return wire;
  };
  client.send("PUT /slow HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks(20));
  ASSERT_TRUE(seen.first_piece.await());
  // A little more than may wait beside the piece that the sink holds: the last chunks stay with
  // libmicrohttpd.
  constexpr size_t kChunks = (Upload::kReadAheadBytesMax >> 12) + 9;
  client.send(chunks(kChunks) + "0\r\n\r\n");
  client.half_close();
  // Another request of the same loop: by now it has read what it could.
  EXPECT_EQ(other.get("/hello").status, 200);
  seen.may_continue.raise();
  EXPECT_EQ(parse_json(client.read_reply().body)["size"], (20 + kChunks) * 4096);
}

TEST_F(Bodies, InPiecesAreCutOffWhereTheirSourceFails) {
  struct Failing final : PieceSource {
    int calls = 0;
    std::optional<Piece> next() override {
      if (++calls == 2) throw Error(Code::corrupt, "bad disk");
      return std::string(1000, 'x');
    }
  };
  struct Short final : PieceSource {
    bool done = false;
    std::optional<Piece> next() override {
      if (std::exchange(done, true)) return std::nullopt;
      return std::string(1000, 'x');
    }
  };
  router.add("GET", "/failing", [](Request&) {
    Reply reply;
    reply.body = Reply::Pieces{5000, std::make_shared<Failing>()};
    return reply;
  });
  router.add("GET", "/short", [](Request&) {
    Reply reply;
    reply.body = Reply::Pieces{5000, std::make_shared<Short>()};
    return reply;
  });
  start();
  for (auto path : {"/failing", "/short"}) {
    RawClient client(port());
    client.send("GET " + std::string(path) + " HTTP/1.1\r\nHost: test\r\n\r\n");
    auto head = client.read_head();
    EXPECT_EQ(head.header("content-length"), "5000");
    EXPECT_LE(client.read_all().size(), 1000u) << path;
  }
  RawClient client(port());
  EXPECT_EQ(client.get("/hello").body, "hello");
}

TEST_F(Bodies, InPiecesEndQuietlyWhenTheClientLeaves) {
  struct Endless final : PieceSource {
    explicit Endless(Flag& flag) : gone(flag) {}
    ~Endless() override { gone.raise(); }
    std::optional<Piece> next() override { return std::string(1 << 20, 'x'); }
    Flag& gone;
  };
  Flag gone;
  router.add("GET", "/endless", [&](Request&) {
    Reply reply;
    reply.body = Reply::Pieces{uint64_t{1} << 40, std::make_shared<Endless>(gone)};
    return reply;
  });
  start();
  {
    RawClient client(port());
    client.send("GET /endless HTTP/1.1\r\nHost: test\r\n\r\n");
    client.read_exactly(10 << 20);
  }
  EXPECT_TRUE(gone.await());
}

}  // namespace
}  // namespace sk::http
