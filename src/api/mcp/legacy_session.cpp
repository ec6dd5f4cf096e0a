#include "api/mcp/legacy_session.h"

#include "base/hash.h"
#include "base/text.h"

namespace sk::api::mcp {

namespace {

// How long a client whose stream ended waits before it comes back.
constexpr int kRetryMs = 500;
// Finished streams that are remembered, for a client that did not get their end.
constexpr size_t kStreamsMax = 64;
// Of those that belong to no request, which never finishes.
constexpr size_t kNotificationsMax = 100;
constexpr size_t kRunningMax = 1000;
constexpr size_t kIdBytes = 24;

}  // namespace

// A request's messages on its way through the session's memory.
class LegacySession::StreamChannel final : public Channel {
 public:
  StreamChannel(std::shared_ptr<LegacySession> session, uint64_t number)
      : session_(std::move(session)), number_(number) {}

  void notify(std::string_view method, Json params) override {
    session_->send(number_, notification_message(method, std::move(params)), false);
  }
  bool finish(Json message) override { return session_->send(number_, message, true); }
  void abandon() override { session_->close_stream(number_, true); }
  bool ask(std::string_view method, Json params, std::function<void(const Message&)> then) override {
    return session_->ask(number_, method, std::move(params), std::move(then));
  }
  void cut() override { session_->close_stream(number_, false); }

 private:
  const std::shared_ptr<LegacySession> session_;
  const uint64_t number_;
};

LegacySession::LegacySession(std::string id, Id key, Agreed agreed, size_t replay_bytes_max)
    : id_(std::move(id)), key_(key), agreed_(std::move(agreed)), replay_bytes_max_(replay_bytes_max) {
  streams_[0];
}

std::string LegacySession::event_id(uint64_t stream, int64_t event) const {
  return std::to_string(stream) + "-" + std::to_string(event);
}

LegacySession::Opened LegacySession::open_stream() {
  uint64_t number;
  {
    std::lock_guard lock(mutex_);
    number = next_stream_++;
    streams_[number];
    make_room_locked();
  }
  return {std::make_shared<StreamChannel>(shared_from_this(), number), attach(number, -1)};
}

http::Reply LegacySession::listen() {
  int64_t last;
  {
    std::lock_guard lock(mutex_);
    last = streams_[0].delivered;
  }
  return attach(0, last);
}

http::Reply LegacySession::resume(std::string_view last_event_id) {
  auto dash = last_event_id.find('-');
  auto stream = parse_unsigned(last_event_id.substr(0, dash));
  auto event = dash == std::string_view::npos ? std::nullopt : parse_unsigned(last_event_id.substr(dash + 1));
  bool known = false;
  if (stream && event && *event < (1ull << 62)) {
    std::lock_guard lock(mutex_);
    known = streams_.contains(*stream);
  }
  if (!known)
    throw RpcError(rpc_code::invalid_request, "Last-Event-ID is not one that can be resumed any more",
                   nullptr, 400);
  return attach(*stream, static_cast<int64_t>(*event));
}

// `after` -1: a new stream, which begins with an event that has nothing but an id, so that its client can
// come back even if the connection breaks before the first message.
http::Reply LegacySession::attach(uint64_t number, int64_t after) {
  // Stream 0 is for news; the others each wait for the answer to a call.
  auto at_stop = number == 0 ? http::AtStop::end : http::AtStop::finish;
  auto events = std::make_shared<http::EventStream>(std::function<void()>(), at_stop);
  std::lock_guard lock(mutex_);
  auto& stream = streams_[number];
  if (auto earlier = stream.live.lock()) earlier->close();
  stream.live = events;
  // Clients of older versions read every event as a message, and would stumble over an empty one.
  if (agreed_.version >= "2025-11-25")
    events->send({event_id(number, std::max<int64_t>(after, 0)), {}, "", kRetryMs});
  for (const auto& [event, data] : stream.events)
    if (event > after) events->send({event_id(number, event), {}, data});
  stream.delivered = stream.last;
  if (stream.finished || ended_) events->close();
  return events_reply(events);
}

bool LegacySession::send(uint64_t number, const Json& message, bool last) {
  auto data = to_text(message);
  std::lock_guard lock(mutex_);
  auto found = streams_.find(number);
  if (found == streams_.end() || found->second.finished || ended_) return false;
  auto& stream = found->second;
  auto event = ++stream.last;
  auto live = stream.live.lock();
  bool sent = live && live->send({event_id(number, event), {}, data});
  if (sent) stream.delivered = event;
  replay_bytes_ += data.size();
  stream.events.emplace_back(event, std::move(data));
  if (number == 0 && stream.events.size() > kNotificationsMax) {
    replay_bytes_ -= stream.events.front().second.size();
    stream.events.pop_front();
  }
  if (last) {
    stream.finished = true;
    if (live) live->close();
  }
  make_room_locked();
  return true;
}

void LegacySession::close_stream(uint64_t number, bool finished) {
  std::lock_guard lock(mutex_);
  auto found = streams_.find(number);
  if (found == streams_.end()) return;
  if (finished) found->second.finished = true;
  if (auto live = found->second.live.lock()) live->close();
}

void LegacySession::make_room_locked() {
  auto is_over = [&] { return streams_.size() > kStreamsMax || replay_bytes_ > replay_bytes_max_; };
  for (auto it = streams_.begin(); it != streams_.end() && is_over();) {
    if (it->first == 0 || !it->second.finished) {
      ++it;
      continue;
    }
    for (const auto& [event, data] : it->second.events) replay_bytes_ -= data.size();
    it = streams_.erase(it);
  }
  for (auto& [number, stream] : streams_) {
    while (replay_bytes_ > replay_bytes_max_ && stream.events.size() > 1) {
      replay_bytes_ -= stream.events.front().second.size();
      stream.events.pop_front();
    }
  }
}

void LegacySession::notify(std::string_view method, Json params) {
  send(0, notification_message(method, std::move(params)), false);
}

bool LegacySession::someone_listens() const {
  std::lock_guard lock(mutex_);
  auto live = streams_.at(0).live.lock();
  return live && !live->closed();
}

bool LegacySession::ask(uint64_t number, std::string_view method, Json params,
                        std::function<void(const Message&)> then) {
  Json message;
  {
    std::lock_guard lock(mutex_);
    if (asked_.size() >= kRunningMax || ended_) return false;
    std::string id = "ask-" + std::to_string(next_ask_++);
    asked_[id] = std::move(then);
    message = {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}};
  }
  send(number, message, false);
  return true;
}

bool LegacySession::answered(const Message& response) {
  std::function<void(const Message&)> then;
  {
    std::lock_guard lock(mutex_);
    auto found = response.id.is_string() ? asked_.find(response.id.get<std::string>()) : asked_.end();
    if (found == asked_.end()) return false;
    then = std::move(found->second);
    asked_.erase(found);
  }
  then(response);
  return true;
}

void LegacySession::set_running(const Json& request_id, std::function<void()> cancel) {
  std::lock_guard lock(mutex_);
  if (running_.size() < kRunningMax) running_[to_text(request_id)] = std::move(cancel);
}

void LegacySession::forget_running(const Json& request_id) {
  std::lock_guard lock(mutex_);
  running_.erase(to_text(request_id));
}

void LegacySession::cancel(const Json& request_id) {
  std::function<void()> cancel;
  {
    std::lock_guard lock(mutex_);
    auto found = running_.find(to_text(request_id));
    if (found == running_.end()) return;
    cancel = std::move(found->second);
    running_.erase(found);
  }
  cancel();
}

std::optional<int> LegacySession::log_level() const {
  std::lock_guard lock(mutex_);
  return log_level_;
}

void LegacySession::set_log_level(int level) {
  std::lock_guard lock(mutex_);
  log_level_ = level;
}

void LegacySession::set_watch(std::shared_ptr<ResourceWatch> watch) {
  std::lock_guard lock(mutex_);
  watch_ = std::move(watch);
}

std::shared_ptr<ResourceWatch> LegacySession::watch() const {
  std::lock_guard lock(mutex_);
  return watch_;
}

void LegacySession::touch(TimeUs now_us) {
  std::lock_guard lock(mutex_);
  touched_us_ = now_us;
}

TimeUs LegacySession::touched_us() const {
  std::lock_guard lock(mutex_);
  return touched_us_;
}

bool LegacySession::has_open_stream() const {
  std::lock_guard lock(mutex_);
  for (const auto& [number, stream] : streams_) {
    auto live = stream.live.lock();
    if (live && !live->closed()) return true;
  }
  return false;
}

void LegacySession::end() {
  std::shared_ptr<ResourceWatch> watch;
  {
    std::lock_guard lock(mutex_);
    ended_ = true;
    watch = std::move(watch_);
    asked_.clear();
    for (auto& [number, stream] : streams_)
      if (auto live = stream.live.lock()) live->close();
  }
}

bool LegacySession::has_ended() const {
  std::lock_guard lock(mutex_);
  return ended_;
}

std::shared_ptr<LegacySession> LegacySessions::create(const Id& key, Agreed agreed) {
  auto session =
      std::make_shared<LegacySession>(random_base64url(kIdBytes), key, std::move(agreed), replay_bytes_max_);
  auto now_us = clock_.now_us();
  session->touch(now_us);
  std::lock_guard lock(mutex_);
  drop_idle_locked(now_us);
  if (by_id_.size() >= most_) {
    auto oldest = by_id_.begin();
    for (auto it = by_id_.begin(); it != by_id_.end(); ++it)
      if (it->second->touched_us() < oldest->second->touched_us()) oldest = it;
    oldest->second->end();
    by_id_.erase(oldest);
  }
  by_id_[session->id()] = session;
  return session;
}

std::shared_ptr<LegacySession> LegacySessions::find(std::string_view id, const Id& key) {
  auto now_us = clock_.now_us();
  std::lock_guard lock(mutex_);
  auto found = by_id_.find(std::string(id));
  if (found == by_id_.end() || found->second->key() != key) return nullptr;
  auto session = found->second;
  bool is_idle = now_us - session->touched_us() > idle_us_ && !session->has_open_stream();
  if (is_idle || session->has_ended()) {
    session->end();
    by_id_.erase(found);
    return nullptr;
  }
  session->touch(now_us);
  return session;
}

void LegacySessions::end(std::string_view id, const Id& key) {
  auto session = find(id, key);
  if (!session) return;
  session->end();
  std::lock_guard lock(mutex_);
  by_id_.erase(std::string(id));
}

void LegacySessions::drop_idle_locked(TimeUs now_us) {
  constexpr int64_t kLookEveryUs = 60 * kSecondUs;
  if (now_us - looked_us_ < kLookEveryUs) return;
  looked_us_ = now_us;
  std::erase_if(by_id_, [&](const auto& item) {
    bool idle = now_us - item.second->touched_us() > idle_us_ && !item.second->has_open_stream();
    if (idle) item.second->end();
    return idle;
  });
}

}  // namespace sk::api::mcp
