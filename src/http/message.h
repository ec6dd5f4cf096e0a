// What a handler sees of a request and what it answers: values without sockets.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"

namespace sk::http {

// Names are compared without regard to case; order is kept; a name may repeat.
class Headers {
 public:
  void add(std::string name, std::string value) { fields_.emplace_back(std::move(name), std::move(value)); }
  void set(std::string name, std::string value);
  void remove(std::string_view name);
  bool has(std::string_view name) const { return get(name).has_value(); }
  // The first value of that name.
  std::optional<std::string> get(std::string_view name) const;
  // All values of that name, joined by ", ", which is what a list-valued header such as If-Match means by
  // repeating.
  std::optional<std::string> get_list(std::string_view name) const;
  size_t count(std::string_view name) const;
  const std::vector<std::pair<std::string, std::string>>& all() const { return fields_; }

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

// One request, valid until its reply was sent. The path is percent-decoded per segment, so a parameter may
// contain '/'.
struct Request {
  std::string method;
  std::string target;  // as sent, with query
  std::string path;    // as sent, without query
  Headers headers;
  std::vector<std::pair<std::string, std::string>> query;  // decoded ('+' is a space there), in order
  std::map<std::string, std::string, std::less<>> params;  // from the route's pattern, decoded
  std::string route;                                       // the pattern that matched, for logs and metrics
  std::string body;            // whole, for buffered routes; empty for streaming ones
  std::string request_id;      // ours, or the client's X-Request-Id when it is harmless
  std::string remote_address;  // the client's, through trusted proxies
  std::string base_url;  // "https://host:port" to mint links with: --public-url, else what proxies we trust
                         // and Host say
  TimeUs received_us = 0;
  // Free for the layers above, such as the principal that authentication found.
  std::shared_ptr<void> context;

  std::optional<std::string> query_value(std::string_view name) const;
  // The named path parameter; CHECKs that the route has it.
  const std::string& param(std::string_view name) const;
};

// Bytes of a body that live elsewhere: memory, or a range of a file that goes out by sendfile.
struct FileRange {
  std::shared_ptr<Fd> file;
  uint64_t offset = 0;
  uint64_t size = 0;
};

// A body of known length in pieces; the server asks for them in order, one at a time, on a worker thread,
// never twice. next() gives the following piece, nullopt at the end; it may throw Error, which cuts the
// connection (headers are out by then).
class PieceSource {
 public:
  using Piece = std::variant<std::string, FileRange>;
  virtual ~PieceSource() = default;
  virtual std::optional<Piece> next() = 0;
};

class EventStream;
class Deferred;

struct Reply {
  struct Pieces {
    uint64_t size;
    std::shared_ptr<PieceSource> source;
  };
  using Body =
      std::variant<std::string, FileRange, Pieces, std::shared_ptr<EventStream>, std::shared_ptr<Deferred>>;

  int status = 200;
  Headers headers;
  Body body;

  static Reply json(const Json& value, int status = 200);
  static Reply text(std::string text, std::string_view content_type = "text/plain; charset=utf-8",
                    int status = 200);
  static Reply empty(int status = 204);
  static Reply redirect(std::string location, int status = 303);
  // The connection is suspended and no thread is held until somebody completes `deferred`.
  static Reply deferred(std::shared_ptr<Deferred> deferred);
  // Server-sent events; the stream stays open until closed by either side.
  static Reply events(std::shared_ptr<EventStream> stream);
};

// How a reply that is not complete ends when the server begins to stop. A reply that waits for work has time
// to finish; a reply that waits for events, which may never come, ends at once.
enum class AtStop { finish, end };

// A promise of a reply. complete() may be called once, from any thread; later calls are ignored. When the
// client goes away first, or the deadline passes, `on_cancel` runs (once, on a worker thread) and the reply,
// if any still comes, is dropped. `on_lost` runs (once, on a worker thread) when a reply was made, by
// complete() or at the deadline, but its client had left before it could be sent.
class Deferred {
 public:
  // At the deadline `at_deadline` makes the reply (e.g. an empty long poll).
  Deferred(std::chrono::milliseconds deadline, std::function<Reply()> at_deadline,
           std::function<void()> on_cancel = {}, std::function<void()> on_lost = {},
           AtStop at_stop = AtStop::finish);
  ~Deferred();
  // False when the reply is dropped: it is not the first, or its client is known to have left.
  bool complete(Reply reply);
  bool done() const;  // completed, cancelled or past its deadline

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// Server-sent events. send() may be called from any thread, also before the reply was returned; it never
// blocks: over the limit of unsent bytes the stream is closed and send() says false, and the client resumes
// by Last-Event-ID. Heartbeat comments go out by themselves.
class EventStream {
 public:
  explicit EventStream(std::function<void()> on_close = {}, AtStop at_stop = AtStop::finish);
  ~EventStream();
  struct Event {
    std::string id, name, data;
    int retry_ms = 0;  // how long a client whose connection ended waits before it comes back; 0: not said
  };
  bool send(const Event& event);
  // Ends the stream after what was sent.
  void close();
  bool closed() const;
  // What the client has not taken yet. Who has much to tell waits while this is large, instead of being cut
  // off.
  size_t unsent_bytes() const;

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// Where a streamed request body goes. Chosen when the headers arrive; pieces come in order, one at a time, on
// worker threads, with back-pressure: no further bytes are read from the client while one runs. end() makes
// the reply. Destroyed without end() when the client goes away or a piece() threw (that Error is then the
// reply). May end early: a piece() that throws refuses the rest of the body.
class BodySink {
 public:
  virtual ~BodySink() = default;
  virtual void piece(std::string_view bytes) = 0;
  virtual Reply end() = 0;
};

}  // namespace sk::http
