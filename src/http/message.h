// Requests and replies as handlers see them: values without sockets.
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

// HTTP headers. Names are case-insensitive, order is preserved, and names may repeat.
class Headers {
 public:
  void add(std::string name, std::string value) { fields_.emplace_back(std::move(name), std::move(value)); }
  void set(std::string name, std::string value);
  void remove(std::string_view name);
  bool has(std::string_view name) const { return get(name).has_value(); }
  // Returns the first value of that name.
  std::optional<std::string> get(std::string_view name) const;
  // Returns all values of that name, joined by ", ". Repeating a list-valued header such as If-Match means
  // the same.
  std::optional<std::string> get_list(std::string_view name) const;
  size_t count(std::string_view name) const;
  const std::vector<std::pair<std::string, std::string>>& all() const { return fields_; }

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

// One request, valid until its reply is sent. The path is percent-decoded per segment, so a parameter may
// contain '/'.
struct Request {
  std::string method;
  std::string target;  // as sent, with query
  std::string path;    // as sent, without query
  Headers headers;
  std::vector<std::pair<std::string, std::string>> query;  // decoded ('+' is a space), in order
  std::map<std::string, std::string, std::less<>> params;  // from the route's pattern, decoded
  std::string route;                                       // the matched pattern, for logs and metrics
  std::string body;            // whole, for buffered routes; empty for streaming routes
  std::string request_id;      // generated, or the client's X-Request-Id if it is safe
  std::string remote_address;  // the client's, resolved through trusted proxies
  // Whom the request's memory counts for: the address, until a handler or RouteOptions::admit knows better.
  std::string owner;
  // "https://host:port", the base of generated links: --public-url, or else the values from trusted proxies
  // and Host.
  std::string base_url;
  TimeUs received_us = 0;
  // Rate limits that the request counts for, as the reply's headers RateLimit and RateLimit-Policy say it;
  // empty where none is set. See http/rate_limits.h.
  std::string rate_limit, rate_limit_policy;
  int64_t retry_after_s = 0;  // set when a limit refuses the request
  bool is_counted = false;    // for its key and principal, which may be authenticated more than once
  // Set by the handler: a folder of the workspace (empty: its root) that the client knows as /mnt/data. Error
  // replies name its paths that way.
  std::optional<std::string> mounted_folder;

  std::optional<std::string> query_value(std::string_view name) const;
  // Returns the named path parameter. CHECKs that the route has it.
  const std::string& param(std::string_view name) const;
};

// Range of an open file: a whole reply body, sent with sendfile, or one piece of it.
struct FileRange {
  std::shared_ptr<Fd> file;
  uint64_t offset = 0;
  uint64_t size = 0;
};

// Body of known length that is produced in pieces. The server requests pieces in order, one at a time, on a
// worker thread, and never twice. next() returns the next piece, or nullopt at the end. If next() throws
// Error, the connection is closed, because the headers are already sent.
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
  // An object that the server keeps until the reply is sent or its client has disconnected. A deferred reply
  // keeps it also for the reply that completes it.
  std::shared_ptr<void> held = {};

  static Reply json(const Json& value, int status = 200);
  static Reply text(std::string text, std::string_view content_type = "text/plain; charset=utf-8",
                    int status = 200);
  static Reply empty(int status = 204);
  static Reply redirect(std::string location, int status = 303);
  // Suspends the connection, without holding a thread, until `deferred` is completed.
  static Reply deferred(std::shared_ptr<Deferred> deferred);
  // Server-sent events. The stream stays open until either side closes it.
  static Reply events(std::shared_ptr<EventStream> stream);
};

// How an incomplete reply ends when the server starts to stop. `finish`: it waits for work and may complete.
// `end`: it waits for events, which may never come, and ends at once.
enum class AtStop { finish, end };

// Promise of a reply. The first complete(), from any thread, counts; later calls are ignored. `on_cancel`
// runs when the client disconnects, the deadline passes or the server stops first; a later reply is dropped.
// `on_lost` runs when a reply was created, by complete() or at the deadline, but the client had already
// disconnected. Both run at most once, on a worker thread.
class Deferred {
 public:
  // `at_deadline` creates the reply at the deadline, such as an empty long poll.
  Deferred(std::chrono::milliseconds deadline, std::function<Reply()> at_deadline,
           std::function<void()> on_cancel = {}, std::function<void()> on_lost = {},
           AtStop at_stop = AtStop::finish);
  ~Deferred();
  // Returns false when the reply is dropped: it is not the first, or its client is known to have
  // disconnected.
  bool complete(Reply reply);
  bool done() const;  // completed, cancelled or past its deadline
  AtStop at_stop() const;
  // Keeps an object until this one is destroyed. Call before the reply is returned.
  void own(std::shared_ptr<void> object) { owned_ = std::move(object); }

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
  std::shared_ptr<void> owned_;  // of any type
};

// Server-sent events. send() may be called from any thread, even before the reply is returned, and never
// blocks. When the limit of unsent bytes is exceeded, the stream is closed and send() returns false. The
// client then resumes with Last-Event-ID. The server sends heartbeat comments.
class EventStream {
 public:
  explicit EventStream(std::function<void()> on_close = {}, AtStop at_stop = AtStop::finish);
  ~EventStream();
  struct Event {
    std::string id, name, data;
    int retry_ms = 0;  // delay before the client reconnects; 0: not sent
  };
  bool send(const Event& event);
  // Ends the stream after the pending events are sent.
  void close();
  bool closed() const;
  // Returns the number of bytes not yet sent. Producers of many events should pause while this is large;
  // otherwise the stream is closed.
  size_t unsent_bytes() const;
  AtStop at_stop() const;
  // Keeps an object until this one is destroyed. Call before the reply is returned.
  void own(std::shared_ptr<void> object) { owned_ = std::move(object); }

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
  std::shared_ptr<void> owned_;  // of any type
};

// Receiver of a streamed request body, created when the headers arrive. Pieces arrive in order, one at a
// time, on worker threads. Back-pressure: no further bytes are read from the client while piece() runs. end()
// creates the reply. A piece() that throws refuses the rest of the body, and its Error becomes the reply.
// Destroyed without end() after such a throw, or when the client disconnects.
class BodySink {
 public:
  virtual ~BodySink() = default;
  virtual void piece(std::string_view bytes) = 0;
  virtual Reply end() = 0;
};

}  // namespace sk::http
