#include "api/mcp/legacy_session.h"

#include <algorithm>

#include "api/mcp/session_id.h"
#include "base/text.h"

namespace sk::api::mcp {

namespace {

// How long a client waits before it reconnects.
constexpr int kRetryMs = 500;
// Finished streams kept for clients that did not receive the end.
constexpr size_t kStreamsMax = 64;
// Limit for the stream that belongs to no request, because it never finishes.
constexpr size_t kNotificationsMax = 100;
constexpr size_t kRunningMax = 1000;
constexpr size_t kEndedMax = 10'000;
constexpr int kNotFound = 404;

}  // namespace

RpcError session_is_over() {
  return RpcError(rpc_code::invalid_request, "this MCP session has ended; start a new one with initialize",
                  nullptr, kNotFound);
}

// Sends a request's messages through the session's replay buffer.
class LegacySession::StreamChannel final : public Channel {
 public:
  StreamChannel(std::shared_ptr<LegacySession> session, uint64_t number)
      : session_(std::move(session)), number_(number) {}

  void notify(std::string_view method, Json params) override {
    session_->send(number_, notification_message(method, std::move(params)), false);
  }
  bool finish(Json message) override { return session_->send(number_, message, true); }
  void abandon() override { session_->close_stream(number_, true); }
  bool ask(std::string_view method, Json params, std::function<void(const RpcMessage&)> then) override {
    return session_->ask(number_, method, std::move(params), std::move(then));
  }
  void cut() override { session_->close_stream(number_, false); }

 private:
  const std::shared_ptr<LegacySession> session_;
  const uint64_t number_;
};

LegacySession::LegacySession(std::string id, Id key, Agreed agreed, Place place, uint64_t first_stream)
    : id_(std::move(id)),
      key_(key),
      agreed_(std::move(agreed)),
      place_(std::move(place)),
      next_stream_(first_stream),
      memory_(place_.held->budget(), place_.owner) {
  streams_[0];
}

std::string LegacySession::event_id(uint64_t stream, int64_t event, std::string_view request) {
  auto id = std::to_string(stream) + "-" + std::to_string(event);
  return request.empty() ? id : id.append("-").append(request);
}

LegacySession::Opened LegacySession::open_stream(const Json& request_id) {
  uint64_t number;
  {
    MutexLock lock(mutex_);
    number = next_stream_++;
    streams_[number].request = to_base64url(as_bytes(to_text(request_id)));
    make_room_locked();
  }
  return {std::make_shared<StreamChannel>(shared_from_this(), number), attach(number, -1)};
}

http::Reply LegacySession::listen() {
  int64_t last;
  {
    MutexLock lock(mutex_);
    last = streams_[0].delivered;
  }
  return attach(0, last);
}

http::Reply LegacySession::resume(std::string_view last_event_id) {
  auto parts = split(last_event_id, '-');
  // Base64url may contain dashes.
  auto request = parts.size() > 2 ? last_event_id.substr(parts[0].size() + parts[1].size() + 2) : "";
  auto stream = parse_unsigned(parts[0]);
  auto event = parts.size() > 1 ? parse_unsigned(parts[1]) : std::nullopt;
  bool known = false, is_of_earlier_life = false;
  if (stream && event && *event < (1ull << 62)) {
    MutexLock lock(mutex_);
    auto found = streams_.find(*stream);
    known = found != streams_.end();
    // A notification of an earlier server process; its numbers are not valid here.
    is_of_earlier_life = known && *stream == 0 && static_cast<int64_t>(*event) > found->second.last;
  }
  if (is_of_earlier_life) return listen();
  if (known) return attach(*stream, static_cast<int64_t>(*event));
  auto request_text = from_base64url(request);
  auto request_id = request_text ? Json::parse(*request_text, nullptr, false) : Json();
  if (stream && event && (request_id.is_string() || request_id.is_number()))
    return answer_lost(last_event_id, request_id);
  throw RpcError(rpc_code::invalid_request, "the stream cannot be resumed from this Last-Event-ID any more",
                 nullptr, 400);
}

// Answers with an error. Without an answer, the client would wait until its timeout.
http::Reply LegacySession::answer_lost(std::string_view event_id, const Json& request_id) {
  RpcError error(rpc_code::server,
                 "the answer to this request is lost, because the server was restarted or the replay buffer "
                 "was exceeded; the request may have run",
                 {{"code", info(Code::unavailable).name},
                  {"hint",
                   "Before you send it again, check whether it ran: list_sessions shows the interpreter that "
                   "was used last, list_files and activity show what was written."}});
  auto events = std::make_shared<http::EventStream>();
  events->send({std::string(event_id), {}, to_text(error_message(request_id, error))});
  events->close();
  return events_reply(events);
}

// `after` is -1 for a new stream. Sends an event with only an id first, so that the client can resume even if
// the connection breaks before the first message.
http::Reply LegacySession::attach(uint64_t number, int64_t after) {
  // Stream 0 carries notifications. Every other stream waits for the answer to a call.
  auto at_stop = number == 0 ? http::AtStop::end : http::AtStop::finish;
  auto events = std::make_shared<http::EventStream>(std::function<void()>(), at_stop);
  MutexLock lock(mutex_);
  auto& stream = streams_[number];
  if (auto earlier = stream.live.lock()) earlier->close();
  stream.live = events;
  // Clients of older versions parse every event as a message and would fail on an empty one.
  if (agreed_.version >= "2025-11-25")
    events->send({event_id(number, std::max<int64_t>(after, 0), stream.request), {}, "", kRetryMs});
  for (const auto& [event, data] : stream.events)
    if (event > after) events->send({event_id(number, event, stream.request), {}, data});
  stream.delivered = stream.last;
  if (stream.finished || ended_) events->close();
  return events_reply(events);
}

bool LegacySession::send(uint64_t number, const Json& message, bool last) {
  if (!store_and_send(number, message, last)) return false;
  place_.held->make_room(place_.owner);
  return true;
}

bool LegacySession::store_and_send(uint64_t number, const Json& message, bool last) {
  auto data = to_text(message);
  MutexLock lock(mutex_);
  auto found = streams_.find(number);
  if (found == streams_.end() || found->second.finished || ended_) return false;
  auto& stream = found->second;
  auto event = ++stream.last;
  auto live = stream.live.lock();
  bool sent = live && live->send({event_id(number, event, stream.request), {}, data});
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
  if (is_ending_ && !has_unanswered_locked()) ended_ = true;
  return true;
}

bool LegacySession::has_unanswered_locked() const {
  return std::ranges::any_of(streams_,
                             [](const auto& one) { return one.first != 0 && !one.second.finished; });
}

void LegacySession::close_stream(uint64_t number, bool finished) {
  MutexLock lock(mutex_);
  auto found = streams_.find(number);
  if (found == streams_.end()) return;
  if (finished) found->second.finished = true;
  if (auto live = found->second.live.lock()) live->close();
}

bool LegacySession::forget_finished_locked() {
  auto oldest =
      std::ranges::find_if(streams_, [](const auto& one) { return one.first != 0 && one.second.finished; });
  if (oldest == streams_.end()) return false;
  for (const auto& [event, data] : oldest->second.events) replay_bytes_ -= data.size();
  streams_.erase(oldest);
  return true;
}

bool LegacySession::forget_oldest_locked() {
  if (forget_finished_locked()) return true;
  auto oldest = std::ranges::find_if(streams_, [](const auto& one) { return one.second.events.size() > 1; });
  if (oldest == streams_.end()) return false;
  replay_bytes_ -= oldest->second.events.front().second.size();
  oldest->second.events.pop_front();
  return true;
}

// Keeps the limits of one session. The memory of all is shared by HeldMessages.
void LegacySession::make_room_locked() {
  while (streams_.size() > kStreamsMax && forget_finished_locked()) {
  }
  while (replay_bytes_ > place_.replay_bytes_max && forget_oldest_locked()) {
  }
  memory_.set(replay_bytes_);
}

size_t LegacySession::held_bytes() const {
  MutexLock lock(mutex_);
  return replay_bytes_;
}

bool LegacySession::forget_oldest() {
  MutexLock lock(mutex_);
  bool forgot = forget_oldest_locked();
  memory_.set(replay_bytes_);
  return forgot;
}

void LegacySession::notify(std::string_view method, Json params) {
  send(0, notification_message(method, std::move(params)), false);
}

bool LegacySession::someone_listens() const {
  MutexLock lock(mutex_);
  auto live = streams_.at(0).live.lock();
  return live && !live->closed();
}

bool LegacySession::ask(uint64_t number, std::string_view method, Json params,
                        std::function<void(const RpcMessage&)> then) {
  Json message;
  {
    MutexLock lock(mutex_);
    if (asked_.size() >= kRunningMax || ended_) return false;
    std::string id = "ask-" + std::to_string(next_ask_++);
    asked_[id] = std::move(then);
    message = {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}};
  }
  send(number, message, false);
  return true;
}

bool LegacySession::answered(const RpcMessage& response) {
  std::function<void(const RpcMessage&)> then;
  {
    MutexLock lock(mutex_);
    auto found = response.id.is_string() ? asked_.find(response.id.get<std::string>()) : asked_.end();
    if (found == asked_.end()) return false;
    then = std::move(found->second);
    asked_.erase(found);
  }
  then(response);
  return true;
}

void LegacySession::set_running(const Json& request_id, std::function<void()> cancel) {
  MutexLock lock(mutex_);
  if (running_.size() < kRunningMax) running_[to_text(request_id)] = std::move(cancel);
}

void LegacySession::forget_running(const Json& request_id) {
  MutexLock lock(mutex_);
  running_.erase(to_text(request_id));
}

void LegacySession::cancel(const Json& request_id) {
  std::function<void()> cancel;
  {
    MutexLock lock(mutex_);
    auto found = running_.find(to_text(request_id));
    if (found == running_.end()) return;
    cancel = std::move(found->second);
    running_.erase(found);
  }
  cancel();
}

std::optional<int> LegacySession::log_level() const {
  MutexLock lock(mutex_);
  return log_level_;
}

void LegacySession::set_log_level(int level) {
  MutexLock lock(mutex_);
  log_level_ = level;
}

std::shared_ptr<ResourceWatch> LegacySession::adopt_watch(std::shared_ptr<ResourceWatch> watch) {
  MutexLock lock(mutex_);
  if (!watch_ && !ended_) watch_ = std::move(watch);
  return watch_;
}

std::shared_ptr<ResourceWatch> LegacySession::watch() const {
  MutexLock lock(mutex_);
  return watch_;
}

void LegacySession::end_with_key(workspace::Revocations& revocations, const workspace::Actor& actor,
                                 workspace::RightsMoment checked) {
  MutexLock lock(mutex_);
  if (key_watch_) return;
  auto on_end = [weak = weak_from_this()](const Error&) {
    if (auto self = weak.lock()) self->end_after_answers();
  };
  key_watch_ = revocations.watch_key(actor, std::move(on_end), checked);
}

void LegacySession::touch(TimeUs now_us) {
  MutexLock lock(mutex_);
  touched_us_ = now_us;
}

TimeUs LegacySession::touched_us() const {
  MutexLock lock(mutex_);
  return touched_us_;
}

bool LegacySession::has_open_stream() const {
  MutexLock lock(mutex_);
  for (const auto& [number, stream] : streams_) {
    auto live = stream.live.lock();
    if (live && !live->closed()) return true;
  }
  return false;
}

void LegacySession::end() {
  std::shared_ptr<ResourceWatch> watch;
  {
    MutexLock lock(mutex_);
    ended_ = true;
    watch = std::move(watch_);
    asked_.clear();
    for (auto& [number, stream] : streams_)
      if (auto live = stream.live.lock()) live->close();
  }
}

void LegacySession::end_after_answers() {
  {
    MutexLock lock(mutex_);
    is_ending_ = true;
    if (auto live = streams_[0].live.lock()) live->close();
    if (has_unanswered_locked()) return;
  }
  end();
}

bool LegacySession::has_ended() const {
  MutexLock lock(mutex_);
  return ended_ || is_ending_;
}

std::shared_ptr<LegacySession> LegacySessions::create(const Owner& owner, Agreed agreed) {
  auto now_us = clock_.now_us();
  auto id = make_session_id({agreed.version, owner.key, now_us}, secret_);
  auto session = make(std::move(id), owner, std::move(agreed), 1);
  MutexLock lock(mutex_);
  add_locked(owner, session, now_us);
  return session;
}

std::shared_ptr<LegacySession> LegacySessions::make(std::string id, const Owner& owner, Agreed agreed,
                                                    uint64_t first_stream) const {
  LegacySession::Place place{held_, owner.principal.hex(), replay_bytes_max_};
  auto session =
      std::make_shared<LegacySession>(std::move(id), owner.key, std::move(agreed), place, first_stream);
  held_->add(place.owner, session);
  return session;
}

void LegacySessions::add_locked(const Owner& owner, std::shared_ptr<LegacySession> session, TimeUs now_us) {
  session->touch(now_us);
  drop_idle_locked(now_us);
  if (auto leaving = shares_.add(owner.principal, session->id())) end_locked(by_id_.find(*leaving));
  by_id_[session->id()] = std::move(session);
}

LegacySessions::ById::iterator LegacySessions::end_locked(ById::iterator found) {
  found->second->end();
  // Only sessions of an earlier process can be revived, so only their ids are stored.
  auto facts = read_session_id(found->first, secret_);
  if (facts && facts->issued_us < started_us_) ended_.push_back(found->first);
  if (ended_.size() > kEndedMax) ended_.pop_front();
  shares_.remove(found->first);
  return by_id_.erase(found);
}

void LegacySessions::revive_locked(const std::string& id, const Owner& owner, TimeUs now_us) {
  if (by_id_.contains(id)) return;
  auto facts = read_session_id(id, secret_);
  if (!facts || facts->key != owner.key || facts->issued_us >= started_us_) return;
  // The last use is unknown, but it was before this server started.
  if (now_us - started_us_ > idle_us_) return;
  if (std::find(ended_.begin(), ended_.end(), id) != ended_.end()) return;
  // A time in milliseconds exceeds any number of streams.
  auto first_stream = static_cast<uint64_t>(now_us / 1000);
  add_locked(owner, make(id, owner, {.version = facts->version}, first_stream), now_us);
}

std::shared_ptr<LegacySession> LegacySessions::find(std::string_view id, const Owner& owner) {
  auto now_us = clock_.now_us();
  MutexLock lock(mutex_);
  revive_locked(std::string(id), owner, now_us);
  auto found = by_id_.find(std::string(id));
  if (found == by_id_.end() || found->second->key() != owner.key) return nullptr;
  auto session = found->second;
  bool is_idle = now_us - session->touched_us() > idle_us_ && !session->has_open_stream();
  if (is_idle || session->has_ended()) {
    end_locked(found);
    return nullptr;
  }
  session->touch(now_us);
  shares_.touch(session->id());
  return session;
}

void LegacySessions::end(std::string_view id, const Owner& owner) {
  if (!find(id, owner)) return;
  MutexLock lock(mutex_);
  if (auto found = by_id_.find(std::string(id)); found != by_id_.end()) end_locked(found);
}

void LegacySessions::drop_idle_locked(TimeUs now_us) {
  constexpr int64_t kLookEveryUs = 60 * kSecondUs;
  if (now_us - looked_us_ < kLookEveryUs) return;
  looked_us_ = now_us;
  for (auto it = by_id_.begin(); it != by_id_.end();) {
    bool idle = now_us - it->second->touched_us() > idle_us_ && !it->second->has_open_stream();
    it = idle ? end_locked(it) : std::next(it);
  }
}

}  // namespace sk::api::mcp
