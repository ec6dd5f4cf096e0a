// Sessions of the protocol until 2025-11-25: made by initialize, named by Mcp-Session-Id, with memory of what
// was sent, so that a client whose connection broke goes on where it was.
//
// A session is the client's, not the interpreter's: it holds no files and no variables, and losing it loses
// nothing but subscriptions and unanswered requests. It outlives the server: its id says all that it takes to
// go on (session_id.h), and the id of an event says which request it belongs to, so that a client that comes
// back for an answer which the old server took along is told so.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "api/mcp/channel.h"
#include "api/mcp/resource_watch.h"
#include "base/clock.h"
#include "base/id.h"
#include "http/message.h"

namespace sk::api::mcp {

// What initialize agreed on.
struct Agreed {
  std::string version;
  Json capabilities = Json::object();  // the client's
  Json client_info = Json::object();
};

// Any thread. Shared by the table, by requests under way and by open streams.
class LegacySession : public std::enable_shared_from_this<LegacySession> {
 public:
  // `first_stream`: higher than the numbers that streams of an earlier server's life had.
  LegacySession(std::string id, Id key, Agreed agreed, size_t replay_bytes_max, uint64_t first_stream = 1);

  const std::string& id() const { return id_; }
  const Id& key() const { return key_; }
  const Agreed& agreed() const { return agreed_; }

  // A stream for one request. Its messages are remembered; the reply shows it from its beginning.
  struct Opened {
    std::shared_ptr<Channel> channel;
    http::Reply reply;
  };
  Opened open_stream(const Json& request_id);
  // The stream that belongs to no request (GET); an earlier one ends.
  http::Reply listen();
  // Goes on after the event of that id (Last-Event-ID). Where that is not known any more, answers the request
  // that it belonged to with an error; RpcError where there is none.
  http::Reply resume(std::string_view last_event_id);
  // On the stream that belongs to no request; remembered for it while nobody listens.
  void notify(std::string_view method, Json params);
  bool someone_listens() const;

  // What notifications/cancelled calls for the request of that id, while it runs.
  void set_running(const Json& request_id, std::function<void()> cancel);
  void forget_running(const Json& request_id);
  void cancel(const Json& request_id);
  // An answer of the client to a request of ours; false when none waits for it.
  bool answered(const Message& response);

  // From debug (0) to emergency (7); nullopt until logging/setLevel.
  std::optional<int> log_level() const;
  void set_log_level(int level);

  // Set once by initialize's maker; ends with the session.
  void set_watch(std::shared_ptr<ResourceWatch> watch);
  std::shared_ptr<ResourceWatch> watch() const;

  void touch(TimeUs now_us);
  TimeUs touched_us() const;
  bool has_open_stream() const;
  // Ends all its streams. What it is asked from then on cannot be answered.
  void end();
  bool has_ended() const;

 private:
  class StreamChannel;
  struct Stream {
    std::deque<std::pair<int64_t, std::string>> events;  // number and data
    int64_t last = 0;
    int64_t delivered = 0;  // the last one that a connection took
    bool finished = false;
    std::weak_ptr<http::EventStream> live;
    std::string request = {};  // the request's id as JSON in base64url; empty: it belongs to none
  };

  http::Reply attach(uint64_t number, int64_t after);
  // False when the stream or the session has ended.
  bool send(uint64_t number, const Json& message, bool last);
  void close_stream(uint64_t number, bool finished);
  bool ask(uint64_t number, std::string_view method, Json params, std::function<void(const Message&)> then);
  void make_room_locked();
  static std::string event_id(uint64_t stream, int64_t event, std::string_view request);
  static http::Reply answer_lost(std::string_view event_id, const Json& request_id);

  const std::string id_;
  const Id key_;
  const Agreed agreed_;
  const size_t replay_bytes_max_;

  mutable std::mutex mutex_;  // guards all below
  std::map<uint64_t, Stream> streams_;
  uint64_t next_stream_;  // 0 belongs to no request
  size_t replay_bytes_ = 0;
  std::map<std::string, std::function<void()>> running_;
  std::map<std::string, std::function<void(const Message&)>> asked_;
  uint64_t next_ask_ = 1;
  std::optional<int> log_level_;
  std::shared_ptr<ResourceWatch> watch_;
  TimeUs touched_us_ = 0;
  bool ended_ = false;
};

// All sessions of this server. Any thread.
class LegacySessions {
 public:
  // `secret` signs the ids: the same after a restart.
  LegacySessions(const Clock& clock, size_t most, int64_t idle_s, size_t replay_bytes_max, std::string secret)
      : clock_(clock),
        most_(most),
        idle_us_(idle_s * kSecondUs),
        replay_bytes_max_(replay_bytes_max),
        secret_(std::move(secret)),
        started_us_(clock.now_us()) {}

  // Over the limit the one longest unused ends.
  std::shared_ptr<LegacySession> create(const Id& key, Agreed agreed);
  // Null when there is none of that id, or another key began it, or it ended, or was unused for too
  // long. One that an earlier server began goes on, unless this one runs longer than a session may be unused.
  std::shared_ptr<LegacySession> find(std::string_view id, const Id& key);
  void end(std::string_view id, const Id& key);

 private:
  using ById = std::unordered_map<std::string, std::shared_ptr<LegacySession>>;
  void drop_idle_locked(TimeUs now_us);
  void add_locked(std::shared_ptr<LegacySession> session, TimeUs now_us);
  ById::iterator end_locked(ById::iterator found);
  // Adds a session of an earlier server's life, unless the id is none, or it is over.
  void revive_locked(const std::string& id, const Id& key, TimeUs now_us);

  const Clock& clock_;
  const size_t most_;
  const int64_t idle_us_;
  const size_t replay_bytes_max_;
  const std::string secret_;
  const TimeUs started_us_;
  std::mutex mutex_;  // guards all below
  ById by_id_;
  std::deque<std::string> ended_;  // ids that could be revived otherwise, the newest last
  TimeUs looked_us_ = 0;
};

}  // namespace sk::api::mcp
