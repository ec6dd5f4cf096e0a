// Bodies both ways: streamed uploads, files, pieces.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>

#include "base/hash.h"
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

TEST_F(Bodies, stream_to_the_sink_in_large_pieces) {
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

TEST_F(Bodies, may_be_empty) {
  start();
  RawClient client(port());
  auto reply = client.request(put_head("Content-Length: 0\r\n"));
  EXPECT_EQ(parse_json(reply.body)["size"], 0);
  reply = client.request(put_head("Transfer-Encoding: chunked\r\n") + "0\r\n\r\n");
  EXPECT_EQ(parse_json(reply.body)["size"], 0);
}

TEST_F(Bodies, may_come_in_chunks_of_any_size) {
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

TEST_F(Bodies, go_out_of_a_file_by_range) {
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

TEST_F(Bodies, go_out_in_pieces_of_memory_and_files) {
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

}  // namespace
}  // namespace sk::http
