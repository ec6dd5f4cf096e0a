// What a server is measured against, and with: the least that a plain program on one thread would do with the
// same bytes, and clients that cost less than any server. Each prints one JSON object.
//
//   bench_peer keep FILE TARGET                hashes FILE with SHA-256, writes it to TARGET, syncs it
//   bench_peer serve FILE                      prints a port, then answers every request with FILE: read,
//   send bench_peer commits DIR COUNT GROUP         COUNT rows of 4 KiB into SQLite, GROUP rows per durable
//   commit bench_peer get PORT TARGET                 one download, thrown away bench_peer put PORT TARGET
//   FILE|BYTES      one upload of a file, or of so many random bytes bench_peer puts PORT TARGET COUNT
//   CLIENTS  COUNT uploads of 4 KiB to TARGET/<number>.bin, CLIENTS at a time
//   bench_peer posts PORT COUNT FILE…          COUNT requests; each FILE is one client's, as it goes on the
//   wire
//
// PORT is on 127.0.0.1; requests carry the key in BENCH_KEY, if there is one.
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/evp.h>
#include <sqlite3.h>
#include <sys/epoll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kPieceBytes = 256 << 10;
constexpr size_t kSmallBytes = 4096;

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "bench_peer: %s: %s\n", what.c_str(), std::strerror(errno));
  std::exit(1);
}

void need(bool good, const std::string& what) {
  if (!good) fail(what);
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

int open_or_fail(const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC, 0600);
  need(fd >= 0, path);
  return fd;
}

uint64_t size_of(int fd) {
  struct stat facts;
  need(::fstat(fd, &facts) == 0, "fstat");
  return static_cast<uint64_t>(facts.st_size);
}

void write_all(int fd, const char* data, size_t size) {
  while (size > 0) {
    const ssize_t done = ::write(fd, data, size);
    need(done > 0, "write");
    data += done;
    size -= static_cast<size_t>(done);
  }
}

// The latency of each of many operations.
class Latencies {
 public:
  void add(double seconds) { seconds_.push_back(seconds); }

  void print(double elapsed_s) {
    std::sort(seconds_.begin(), seconds_.end());
    std::printf(R"({"seconds": %.6f, "per_second": %.1f, "p50_ms": %.3f, "p99_ms": %.3f})"
                "\n",
                elapsed_s, static_cast<double>(seconds_.size()) / elapsed_s, at(0.5) * 1e3, at(0.99) * 1e3);
  }

 private:
  double at(double share) const {
    if (seconds_.empty()) return 0;
    return seconds_[std::min(seconds_.size() - 1,
                             static_cast<size_t>(share * static_cast<double>(seconds_.size())))];
  }

  std::vector<double> seconds_;
};

void print_transfer(uint64_t bytes, double seconds) {
  std::printf(R"({"bytes": %llu, "seconds": %.6f})"
              "\n",
              static_cast<unsigned long long>(bytes), seconds);
}

// Peers.

void keep(const std::string& source, const std::string& target) {
  const int in = open_or_fail(source, O_RDONLY);
  std::vector<char> piece(kPieceBytes);
  const auto start = Clock::now();
  const int out = open_or_fail(target, O_WRONLY | O_CREAT | O_TRUNC);
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> hash(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  EVP_DigestInit_ex(hash.get(), EVP_sha256(), nullptr);
  uint64_t total = 0;
  while (true) {
    const ssize_t got = ::read(in, piece.data(), piece.size());
    need(got >= 0, source);
    if (got == 0) break;
    EVP_DigestUpdate(hash.get(), piece.data(), static_cast<size_t>(got));
    write_all(out, piece.data(), static_cast<size_t>(got));
    total += static_cast<uint64_t>(got);
  }
  unsigned char digest[EVP_MAX_MD_SIZE];
  need(EVP_DigestFinal_ex(hash.get(), digest, nullptr) == 1, "hash");
  need(::fsync(out) == 0, target);
  print_transfer(total, seconds_since(start));
}

sockaddr_in here(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

void answer(int client, const std::string& path) {
  char request[8192];
  if (::read(client, request, sizeof request) <= 0) return;
  const int in = open_or_fail(path, O_RDONLY);
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(size_of(in)) + "\r\n\r\n";
  write_all(client, head.data(), head.size());
  std::vector<char> piece(kPieceBytes);
  while (true) {
    const ssize_t got = ::read(in, piece.data(), piece.size());
    need(got >= 0, path);
    if (got == 0) break;
    write_all(client, piece.data(), static_cast<size_t>(got));
  }
  ::close(in);
}

// Until it is killed.
void serve(const std::string& path) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  auto address = here(0);
  socklen_t length = sizeof address;
  need(::bind(listener, reinterpret_cast<sockaddr*>(&address), length) == 0, "bind");
  need(::listen(listener, 16) == 0, "listen");
  need(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length) == 0, "getsockname");
  std::printf("{\"port\": %d}\n", ntohs(address.sin_port));
  std::fflush(stdout);
  while (true) {
    const int client = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    need(client >= 0, "accept");
    answer(client, path);
    ::close(client);
  }
}

void run_sql(sqlite3* database, const char* sql) {
  char* message = nullptr;
  if (sqlite3_exec(database, sql, nullptr, nullptr, &message) != SQLITE_OK)
    fail(std::string(sql) + ": " + message);
}

// Random, so that no content is there already.
void refresh(std::vector<char>& bytes, std::mt19937_64& random) {
  for (size_t at = 0; at + sizeof(uint64_t) <= bytes.size(); at += sizeof(uint64_t)) {
    const uint64_t value = random();
    std::memcpy(bytes.data() + at, &value, sizeof value);
  }
}

// As the catalog has it: a write-ahead log that is synced by every commit.
void commits(const std::string& directory, int count, int group) {
  sqlite3* database = nullptr;
  if (sqlite3_open((directory + "/peer.sqlite").c_str(), &database) != SQLITE_OK) fail("sqlite3_open");
  run_sql(database, "PRAGMA journal_mode=WAL");
  run_sql(database, "PRAGMA synchronous=FULL");
  run_sql(database, "CREATE TABLE IF NOT EXISTS files (path TEXT PRIMARY KEY, bytes BLOB) WITHOUT ROWID");
  sqlite3_stmt* insert = nullptr;
  sqlite3_prepare_v2(database, "INSERT INTO files VALUES ($1, $2)", -1, &insert, nullptr);
  std::vector<char> bytes(kSmallBytes);
  std::random_device seed;
  std::mt19937_64 random((uint64_t{seed()} << 32) | seed());
  const std::string prefix = std::to_string(random()) + "/";
  Latencies latencies;
  const auto start = Clock::now();
  for (int done = 0; done < count;) {
    const auto commit_start = Clock::now();
    const int end = std::min(count, done + group);
    const int in_group = end - done;
    run_sql(database, "BEGIN IMMEDIATE");
    for (; done < end; ++done) {
      const std::string path = prefix + std::to_string(done);
      refresh(bytes, random);
      sqlite3_bind_text(insert, 1, path.data(), static_cast<int>(path.size()), SQLITE_STATIC);
      sqlite3_bind_blob(insert, 2, bytes.data(), static_cast<int>(bytes.size()), SQLITE_STATIC);
      if (sqlite3_step(insert) != SQLITE_DONE) fail(sqlite3_errmsg(database));
      sqlite3_reset(insert);
    }
    run_sql(database, "COMMIT");
    for (int i = 0; i < in_group; ++i) latencies.add(seconds_since(commit_start));
  }
  const double elapsed_s = seconds_since(start);
  sqlite3_finalize(insert);
  sqlite3_close(database);
  latencies.print(elapsed_s);
}

// Clients.

int connect_here(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto address = here(port);
  need(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0, "connect");
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

std::string request_head(const char* method, const std::string& target, uint64_t body_bytes) {
  std::string head = std::string(method) + " " + target + " HTTP/1.1\r\nHost: 127.0.0.1\r\n";
  if (const char* key = std::getenv("BENCH_KEY"))
    head += std::string("Authorization: Bearer ") + key + "\r\n";
  if (body_bytes > 0) head += "Content-Length: " + std::to_string(body_bytes) + "\r\n";
  return head + "\r\n";
}

// An answer as it arrives; only its status and length matter.
class Answer {
 public:
  // True when all of it is there.
  bool take(const char* data, size_t size) {
    if (!in_body_) {
      head_.append(data, size);
      const size_t end = head_.find("\r\n\r\n");
      if (end == std::string::npos) return false;
      tail_ = head_.substr(end + 4);
      head_.resize(end);
      in_body_ = true;
      read_head();
      body_bytes_ = tail_.size();
    } else {
      tail_.append(data, size);
      body_bytes_ += size;
    }
    if (tail_.size() > kLastChunk.size()) tail_.erase(0, tail_.size() - kLastChunk.size());
    return chunked_ ? tail_ == kLastChunk : body_bytes_ >= expected_;
  }

  uint64_t body_bytes() const { return body_bytes_; }

 private:
  void read_head() {
    if (head_.size() < 12 || head_[9] != '2') {
      std::fprintf(stderr, "bench_peer: the server answered:\n%s\n", head_.c_str());
      std::exit(1);
    }
    std::string lower = head_;
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    chunked_ = lower.find("\r\ntransfer-encoding: chunked") != std::string::npos;
    const size_t at = lower.find("\r\ncontent-length:");
    if (chunked_) return;
    if (at == std::string::npos) fail("an answer without its length");
    expected_ = std::strtoull(lower.c_str() + at + 17, nullptr, 10);
  }

  static constexpr std::string_view kLastChunk = "0\r\n\r\n";

  std::string head_;
  std::string tail_;  // the last bytes of the body, as on the wire
  bool in_body_ = false;
  bool chunked_ = false;
  uint64_t expected_ = 0;
  uint64_t body_bytes_ = 0;
};

uint64_t read_answer(int fd) {
  std::vector<char> piece(1 << 20);
  Answer answer;
  while (true) {
    const ssize_t got = ::read(fd, piece.data(), piece.size());
    need(got > 0, "the answer ended early");
    if (answer.take(piece.data(), static_cast<size_t>(got))) return answer.body_bytes();
  }
}

void get(int port, const std::string& target) {
  const auto start = Clock::now();
  const int fd = connect_here(port);
  const std::string head = request_head("GET", target, 0);
  write_all(fd, head.data(), head.size());
  const uint64_t bytes = read_answer(fd);
  print_transfer(bytes, seconds_since(start));
}

void send_file(int socket, int file, uint64_t size) {
  for (uint64_t sent = 0; sent < size;) {
    const ssize_t done = ::sendfile(socket, file, nullptr, std::min<uint64_t>(size - sent, 1 << 30));
    need(done > 0, "sendfile");
    sent += static_cast<uint64_t>(done);
  }
}

void send_random(int socket, uint64_t size) {
  std::mt19937_64 random{std::random_device{}()};
  std::vector<char> piece(kPieceBytes);
  for (uint64_t sent = 0; sent < size; sent += piece.size()) {
    if (size - sent < piece.size()) piece.resize(size - sent);
    refresh(piece, random);
    write_all(socket, piece.data(), piece.size());
  }
}

void put(int port, const std::string& target, const std::string& source) {
  const bool is_count = source.find_first_not_of("0123456789") == std::string::npos;
  const int file = is_count ? -1 : open_or_fail(source, O_RDONLY);
  const uint64_t size = is_count ? std::stoull(source) : size_of(file);
  const auto start = Clock::now();
  const int fd = connect_here(port);
  const std::string head = request_head("PUT", target, size);
  write_all(fd, head.data(), head.size());
  if (is_count)
    send_random(fd, size);
  else
    send_file(fd, file, size);
  read_answer(fd);
  print_transfer(size, seconds_since(start));
}

// One of many clients that send one request after another.
struct Sender {
  int fd = -1;
  Answer answer;
  Clock::time_point start;
};

// `next_request` gives what a client sends next, as it goes on the wire.
void drive(int port, int count, int clients, const std::function<std::string(size_t client)>& next_request) {
  const int poll = ::epoll_create1(EPOLL_CLOEXEC);
  std::vector<Sender> senders(static_cast<size_t>(clients));
  Latencies latencies;
  int sent = 0, answered = 0;
  const auto send_next = [&](Sender& sender) {
    const std::string request = next_request(static_cast<size_t>(&sender - senders.data()));
    ++sent;
    sender.answer = Answer();
    sender.start = Clock::now();
    write_all(sender.fd, request.data(), request.size());
  };
  for (Sender& sender : senders) {
    sender.fd = connect_here(port);
    epoll_event event{.events = EPOLLIN, .data = {.ptr = &sender}};
    need(::epoll_ctl(poll, EPOLL_CTL_ADD, sender.fd, &event) == 0, "epoll_ctl");
  }
  const auto start = Clock::now();
  for (Sender& sender : senders)
    if (sent < count) send_next(sender);
  std::vector<char> piece(64 << 10);
  std::vector<epoll_event> events(senders.size());
  while (answered < count) {
    const int ready = ::epoll_wait(poll, events.data(), static_cast<int>(events.size()), -1);
    need(ready > 0 || errno == EINTR, "epoll_wait");
    for (int i = 0; i < ready; ++i) {
      auto& sender = *static_cast<Sender*>(events[static_cast<size_t>(i)].data.ptr);
      const ssize_t got = ::read(sender.fd, piece.data(), piece.size());
      need(got > 0, "the answer ended early");
      if (!sender.answer.take(piece.data(), static_cast<size_t>(got))) continue;
      latencies.add(seconds_since(sender.start));
      ++answered;
      if (sent < count) send_next(sender);
    }
  }
  latencies.print(seconds_since(start));
}

void puts(int port, const std::string& target, int count, int clients) {
  std::vector<char> bytes(kSmallBytes);
  std::mt19937_64 random{std::random_device{}()};
  int number = 0;
  drive(port, count, clients, [&](size_t) {
    std::string request = request_head("PUT", target + "/" + std::to_string(number++) + ".bin", kSmallBytes);
    refresh(bytes, random);
    request.append(bytes.data(), bytes.size());
    return request;
  });
}

void posts(int port, int count, const std::vector<std::string>& files) {
  std::vector<std::string> requests;
  for (const std::string& file : files) {
    const int fd = open_or_fail(file, O_RDONLY);
    std::string request(size_of(fd), '\0');
    need(::read(fd, request.data(), request.size()) == static_cast<ssize_t>(request.size()), "read");
    ::close(fd);
    requests.push_back(request);
  }
  drive(port, count, static_cast<int>(requests.size()), [&](size_t client) { return requests[client]; });
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto is = [&](const char* name, size_t arguments) {
    return words.size() == arguments + 1 && words[0] == name;
  };
  if (is("keep", 2))
    keep(words[1], words[2]);
  else if (is("serve", 1))
    serve(words[1]);
  else if (is("commits", 3))
    commits(words[1], std::stoi(words[2]), std::stoi(words[3]));
  else if (is("get", 2))
    get(std::stoi(words[1]), words[2]);
  else if (is("put", 3))
    put(std::stoi(words[1]), words[2], words[3]);
  else if (is("puts", 4))
    puts(std::stoi(words[1]), words[2], std::stoi(words[3]), std::stoi(words[4]));
  else if (words.size() >= 4 && words[0] == "posts")
    posts(std::stoi(words[1]), std::stoi(words[2]), {words.begin() + 3, words.end()});
  else {
    std::fputs("usage: see the top of bench/peer.cpp\n", stderr);
    return 2;
  }
  return 0;
}
