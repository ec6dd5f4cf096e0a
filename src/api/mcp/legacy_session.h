// Sessions of the protocol until 2025-11-25. initialize creates a session and Mcp-Session-Id names it. It
// stores sent messages, so that a client can resume after a broken connection.
//
// A session belongs to the client, not to the interpreter. It holds no files or variables; its loss only
// affects subscriptions and unanswered requests. It survives a restart of the server: its id contains all
// that is needed to continue (session_id.h). An event id names its request, so a client that resumes after a
// restart gets an error for a lost answer.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "api/mcp/channel.h"
#include "api/mcp/held_messages.h"
#include "api/mcp/resource_watch.h"
#include "base/clock.h"
#include "base/fair_eviction.h"
#include "base/id.h"
#include "base/memory_budget.h"
#include "base/mutex.h"
#include "http/message.h"
#include "workspace/revocations.h"

namespace sk::api::mcp {

// The result of initialize.
struct Agreed {
  std::string version;
  Json capabilities = Json::object();  // the client's
};

// The error of a request whose session is unknown or has ended.
RpcError session_is_over();

// Any thread. Shared by the table, requests in progress and open streams.
class LegacySession : public std::enable_shared_from_this<LegacySession> {
 public:
  struct Place {
    std::shared_ptr<HeldMessages> held;
    std::string owner;  // for whom the stored messages count
    size_t replay_bytes_max;
  };
  // `first_stream` must exceed all stream numbers that an earlier server process used. The caller adds the
  // session to `place.held`.
  LegacySession(std::string id, Id key, Agreed agreed, Place place, uint64_t first_stream);

  const std::string& id() const { return id_; }
  const Id& key() const { return key_; }
  const Agreed& agreed() const { return agreed_; }

  // A stream for one request. Its messages are stored for replay; the reply sends them from the beginning.
  struct Opened {
    std::shared_ptr<Channel> channel;
    http::Reply reply;
  };
  Opened open_stream(const Json& request_id);
  // Opens the stream that belongs to no request (GET). Closes an earlier one.
  http::Reply listen();
  // Resumes after the event with that id (Last-Event-ID). When the event is unknown, answers its request with
  // an error. RpcError when the id names no request.
  http::Reply resume(std::string_view last_event_id);
  // Sends on the stream that belongs to no request. Stores the message while no client listens.
  void notify(std::string_view method, Json params);
  bool someone_listens() const;

  // Registers the callback that notifications/cancelled runs for the request with that id.
  void set_running(const Json& request_id, std::function<void()> cancel);
  void forget_running(const Json& request_id);
  void cancel(const Json& request_id);
  // Handles the client's answer to a request of this server. Returns false when no such request waits.
  bool answered(const RpcMessage& response);

  // From debug (0) to emergency (7); nullopt until logging/setLevel.
  std::optional<int> log_level() const;
  void set_log_level(int level);

  // Keeps the first watch until the session ends. Returns the watch that the session has: `watch` or an
  // earlier one; null when the session has ended.
  std::shared_ptr<ResourceWatch> adopt_watch(std::shared_ptr<ResourceWatch> watch);
  std::shared_ptr<ResourceWatch> watch() const;

  // Ends the session when its key gives no right any more. Calls that are under way are answered first: the
  // executions of the key end by themselves, and the answers say so. Later calls have no effect.
  void end_with_key(workspace::Revocations& revocations, const workspace::Actor& actor,
                    workspace::RightsMoment checked);

  // Bytes of the stored messages.
  size_t held_bytes() const;
  // Forgets the oldest answers that were sent, or else the oldest message. Returns false when nothing is left
  // except the last message of each stream that goes on.
  bool forget_oldest();

  void touch(TimeUs now_us);
  TimeUs touched_us() const;
  bool has_open_stream() const;
  // Ends all streams. Later messages are dropped.
  void end();
  bool has_ended() const;

 private:
  class StreamChannel;
  struct Stream {
    std::deque<std::pair<int64_t, std::string>> events;  // number and data
    int64_t last = 0;
    int64_t delivered = 0;  // the last one sent to a connection
    bool finished = false;
    std::weak_ptr<http::EventStream> live;
    std::string request =
        {};  // the request's id as JSON in base64url; empty for the stream that belongs to no request
  };

  http::Reply attach(uint64_t number, int64_t after);
  // Returns false when the stream or the session has ended.
  bool send(uint64_t number, const Json& message, bool last);
  bool store_and_send(uint64_t number, const Json& message, bool last);
  void close_stream(uint64_t number, bool finished);
  bool ask(uint64_t number, std::string_view method, Json params,
           std::function<void(const RpcMessage&)> then);
  void end_after_answers();
  bool has_unanswered_locked() const SK_REQUIRES(mutex_);
  bool forget_finished_locked() SK_REQUIRES(mutex_);
  bool forget_oldest_locked() SK_REQUIRES(mutex_);
  void make_room_locked() SK_REQUIRES(mutex_);
  static std::string event_id(uint64_t stream, int64_t event, std::string_view request);
  static http::Reply answer_lost(std::string_view event_id, const Json& request_id);

  const std::string id_;
  const Id key_;
  const Agreed agreed_;
  const Place place_;

  mutable Mutex mutex_;
  std::map<uint64_t, Stream> streams_ SK_GUARDED_BY(mutex_);
  uint64_t next_stream_ SK_GUARDED_BY(mutex_);  // stream 0 belongs to no request
  size_t replay_bytes_ SK_GUARDED_BY(mutex_) = 0;
  MemoryBudget::Share memory_ SK_GUARDED_BY(mutex_);  // of replay_bytes_
  std::map<std::string, std::function<void()>> running_ SK_GUARDED_BY(mutex_);
  std::map<std::string, std::function<void(const RpcMessage&)>> asked_ SK_GUARDED_BY(mutex_);
  uint64_t next_ask_ SK_GUARDED_BY(mutex_) = 1;
  std::optional<int> log_level_ SK_GUARDED_BY(mutex_);
  std::shared_ptr<ResourceWatch> watch_ SK_GUARDED_BY(mutex_);
  std::optional<workspace::RightWatch> key_watch_ SK_GUARDED_BY(mutex_);
  TimeUs touched_us_ SK_GUARDED_BY(mutex_) = 0;
  bool is_ending_ SK_GUARDED_BY(mutex_) = false;  // ends with the last answer
  bool ended_ SK_GUARDED_BY(mutex_) = false;
};

// All sessions of this server. Any thread.
class LegacySessions {
 public:
  using Shares = FairEviction<std::string>;  // of principals, by the ids of their sessions
  // A session belongs to the key that began it, and counts for the key's principal.
  struct Owner {
    Id principal, key;
  };

  // Stored messages of all sessions need `memory`; without it, sessions forget their oldest ones
  // (held_messages.h). `secret` signs the ids. It must be the same after a restart.
  LegacySessions(const Clock& clock, Shares::Limits limits, int64_t idle_s, size_t replay_bytes_max,
                 MemoryBudget& memory, std::string secret)
      : clock_(clock),
        idle_us_(idle_s * kSecondUs),
        replay_bytes_max_(replay_bytes_max),
        held_(std::make_shared<HeldMessages>(memory)),
        secret_(std::move(secret)),
        started_us_(clock.now_us()),
        shares_(limits) {}

  // Creates a session. Above a limit, ends the least recently used one of this principal, or of the principal
  // that has the most.
  std::shared_ptr<LegacySession> create(const Owner& owner, Agreed agreed);
  // Returns null when the id is unknown, belongs to another key, has ended, or was idle for too long. Revives
  // a session of an earlier server process, unless this process has already run longer than the idle timeout.
  std::shared_ptr<LegacySession> find(std::string_view id, const Owner& owner);
  void end(std::string_view id, const Owner& owner);

 private:
  using ById = std::unordered_map<std::string, std::shared_ptr<LegacySession>>;
  void drop_idle_locked(TimeUs now_us) SK_REQUIRES(mutex_);
  void add_locked(const Owner& owner, std::shared_ptr<LegacySession> session, TimeUs now_us)
      SK_REQUIRES(mutex_);
  ById::iterator end_locked(ById::iterator found) SK_REQUIRES(mutex_);
  std::shared_ptr<LegacySession> make(std::string id, const Owner& owner, Agreed agreed,
                                      uint64_t first_stream) const;
  // Adds a session of an earlier server process, unless the id is invalid or the session has ended.
  void revive_locked(const std::string& id, const Owner& owner, TimeUs now_us) SK_REQUIRES(mutex_);

  const Clock& clock_;
  const int64_t idle_us_;
  const size_t replay_bytes_max_;
  const std::shared_ptr<HeldMessages> held_;
  const std::string secret_;
  const TimeUs started_us_;
  Mutex mutex_;
  ById by_id_ SK_GUARDED_BY(mutex_);
  Shares shares_ SK_GUARDED_BY(mutex_);                  // has the same sessions as by_id_
  std::deque<std::string> ended_ SK_GUARDED_BY(mutex_);  // ids that could otherwise be revived, newest last
  TimeUs looked_us_ SK_GUARDED_BY(mutex_) = 0;
};

inline LegacySessions::Owner owner_of(const workspace::Actor& actor) {
  return {.principal = actor.principal(), .key = actor.key()};
}

}  // namespace sk::api::mcp
