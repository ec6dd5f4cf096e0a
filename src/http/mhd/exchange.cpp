#include "http/mhd/exchange.h"

#include <sys/socket.h>

#include "base/log.h"
#include "http/deferred.h"
#include "http/event_stream.h"
#include "http/mhd/head_lines.h"
#include "http/mhd/outgoing.h"

namespace sk::http {

namespace {

// A refused body up to this size is read completely, so the connection can be reused.
constexpr uint64_t kDrainBytesMax = 1 << 20;
// A body up to this size is buffered completely before a streaming handler runs.
constexpr uint64_t kGatherBytesMax = 64 << 10;
// After the reply to a larger body, this much more is read and dropped, so the client sees the reply instead
// of a reset.
constexpr uint64_t kLingerBytesMax = 64 << 20;
// With TLS, no reply is possible in the middle of a body. The reply waits for the end of a body up to this
// size.
constexpr uint64_t kSilentDrainBytesMax = 1 << 30;

// The memory of shorter answers is bounded by the number of connections.
constexpr size_t kUncountedReplyBytes = 64 << 10;

constexpr auto kNoWait = std::chrono::steady_clock::time_point::max().time_since_epoch().count();

void tell_closed(EventStream& stream) {
  try {
    stream.impl().on_close();
  } catch (const std::exception& failure) {
    log::error("the end of an event stream was not taken note of", {{"reason", failure.what()}});
  }
}

Error body_too_large(const RouteOptions& options) {
  return Error(Code::too_large,
               "The body is larger than " + std::to_string(options.body_bytes_max) + " bytes.")
      .with("limit_bytes", static_cast<int64_t>(options.body_bytes_max));
}

Error bodies_use_all_memory() {
  return Error(Code::unavailable, "The memory for request bodies is in use.").retry_in(2);
}

}  // namespace

Exchange::Exchange(Core& core, Connection& connection, MHD_Connection* handle, std::string target)
    : core_(core),
      connection_(connection),
      handle_(handle),
      reply_share_(core.reply_budget),
      body_share_(core.body_budget) {
  request_.target = std::move(target);
  request_.received_us = core_.clock.now_us();
}

Exchange::~Exchange() = default;

bool Exchange::park() {
  core_.parked.add();
  // Count before checking: a thread that waits for parked connections either sees this one or has already set
  // `closing`.
  if (core_.closing) {
    core_.parked.remove();
    return false;
  }
  MHD_suspend_connection(handle_);
  return true;
}

bool Exchange::park_request() {
  go_on_before_reading(true);
  return park();
}

// Works around libmicrohttpd's resume order. It reads a resumed connection first and drops the request if the
// client has closed its side, even if the request is complete. Before that it processes connections with a
// non-default timeout. A parked request therefore gets a different timeout.
void Exchange::go_on_before_reading(bool before) {
  before_reading_ = before;
  auto timeout_s = static_cast<unsigned>(core_.options.idle_timeout_s) + (before ? 1 : 0);
  MHD_set_connection_option(handle_, MHD_CONNECTION_OPTION_TIMEOUT, timeout_s);
}

void Exchange::unpark() {
  auto& core = core_;
  MHD_resume_connection(handle_);
  core.parked.remove();
}

MHD_Result Exchange::on_call(const char* method, const char* version, const char* data, size_t* size) {
  // libmicrohttpd also calls this while suspended, as long as one read contains more chunks.
  auto* suspended = MHD_get_connection_info(handle_, MHD_CONNECTION_INFO_CONNECTION_SUSPENDED);
  if (before_reading_ && suspended->suspended == MHD_NO) go_on_before_reading(false);
  auto result = go_on(method, version, data, size);
  bool more_to_come = stage_ == Stage::body && framing_.has_body() &&
                      (framing_.chunked || received_bytes_ + discarded_bytes_ < framing_.length);
  if (result == MHD_YES && more_to_come) announce_end(connection_.fd);
  return result;
}

MHD_Result Exchange::go_on(const char* method, const char* version, const char* data, size_t* size) {
  if (core_.closing || abandoned_) return MHD_NO;
  if (stage_ == Stage::head) return on_head(method, version);
  if (stage_ == Stage::opening) {
    stage_ = Stage::body;
    return reply_ ? refuse() : MHD_YES;
  }
  if (*size > 0) return on_body({data, *size}, size);
  return on_request_complete();
}

MHD_Result Exchange::on_head(const char* method, const char* version) {
  stage_ = Stage::body;
  connection_.waiting_since = kNoWait;
  core_.requests.add();
  core_.request_metrics.under_way.add(1);
  try {
    read_head(method, version);
  } catch (...) {
    // The end of the request is uncertain, so the connection closes after the reply.
    set_reply(reply_to(std::current_exception()));
    return queue_reply();
  }
  try {
    route_ = route();
    if (reply_) return refuse();
    if (route_->options.screen) route_->options.screen(request_);
    if (route_->sink_handler && !gathers()) return open_body();
    if (framing_.length > route_->options.body_bytes_max) throw body_too_large(route_->options);
    bool admits = route_->options.admit && framing_.has_body() && !gathers();
    return admits ? open_body() : MHD_YES;
  } catch (...) {
    set_reply(reply_to(std::current_exception()));
    return refuse();
  }
}

void Exchange::read_head(const char* method, const char* version) {
  request_.method = method;
  HeadLines lines(handle_, method, request_.target, version);
  request_.headers = std::move(lines.headers());
  identify_client();
  auto* head_bytes = MHD_get_connection_info(handle_, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  if (head_bytes && head_bytes->header_size > core_.options.header_bytes_max)
    throw Error(Code::headers_too_large,
                "The headers are larger than " + std::to_string(core_.options.header_bytes_max) + " bytes.");
  lines.check();
  check_headers(request_.headers);
  framing_ = parse_framing(request_.headers, version);
  parse_target(request_);
}

void Exchange::identify_client() {
  request_.request_id = harmless_request_id(request_.headers).value_or("");
  if (request_.request_id.empty()) request_.request_id = core_.ids.next().with_prefix("req_");
  auto forwarded = resolve_forwarded(core_.proxies,
                                     {.peer_address = connection_.address,
                                      .public_url = core_.options.public_url,
                                      .scheme = core_.tls() ? "https" : "http"},
                                     request_.headers);
  request_.remote_address = std::move(forwarded.remote_address);
  request_.owner = request_.remote_address;
  credential_ = turn_of(request_);
  turn_ = core_.turns.of(credential_);
  request_.base_url = std::move(forwarded.base_url);
}

// Returns the route of the request, or null with the reply set (OPTIONS). Throws not_found and
// method_not_allowed.
const Router::Route* Exchange::route() {
  if (request_.path == "*") {
    set_reply(options_reply(core_.options, request_, {"GET", "HEAD", "POST", "PUT", "DELETE"}));
    return nullptr;
  }
  bool preflight = request_.method == "OPTIONS" && request_.headers.has("Access-Control-Request-Method");
  auto match = core_.router.match(request_.method, request_.path);
  count_for_address(match.route);
  if (match.route && !preflight) {
    request_.params = std::move(match.params);
    request_.route = match.route->pattern;
    return match.route;
  }
  if (match.allowed.empty())
    throw Error(Code::not_found, "There is nothing at " + request_.path + ".").advise(Advice::check_address);
  if (request_.method == "OPTIONS") {
    set_reply(options_reply(core_.options, request_, match.allowed));
    return nullptr;
  }
  match.allowed.emplace_back("OPTIONS");
  auto reply = core_.error_reply(
      request_,
      Error(Code::method_not_allowed, request_.path + " does not support " + request_.method + "."));
  std::string allow;
  for (const auto& name : match.allowed) allow += (allow.empty() ? "" : ", ") + name;
  reply.headers.set("Allow", allow);
  set_reply(std::move(reply));
  return nullptr;
}

// Throws Error(too_many_requests) when the client's address sent too many requests.
void Exchange::count_for_address(const Router::Route* route) {
  if (!core_.address_rates.is_on()) return;
  if (route && route->options.counts == RouteOptions::Counts::no) return;
  count_request(request_, "address", core_.address_rates, bucket_of_address(request_.remote_address), began_);
}

// Returns whether to buffer the body before the handler runs. A small body is almost always in the socket's
// buffer already. Buffering it costs one job instead of three, each with a round trip to a worker. A client
// that expects `100 Continue` is still answered first.
bool Exchange::gathers() const {
  return !framing_.chunked && !framing_.expects_continue && framing_.length <= kGatherBytesMax;
}

// Lets a worker decide whether the body is read.
MHD_Result Exchange::open_body() {
  if (!park_request()) return MHD_NO;
  stage_ = Stage::opening;
  submit([self = shared_from_this()] { self->run_opening(); });
  return MHD_YES;
}

void Exchange::run_opening() {
  try {
    if (route_->sink_handler) {
      auto sink = route_->sink_handler(request_);
      if (!body_share_.cover(Upload::kReadAheadBytesMax, request_.owner)) throw bodies_use_all_memory();
      upload_ = std::make_unique<Upload>(*this, std::move(sink));
    } else {
      route_->options.admit(request_);
      // All of it now, so that requests that get a part each do not keep each other from the rest.
      make_room(framing_.length);
    }
    core_.turns.learn(credential_, request_);
  } catch (...) {
    set_reply(reply_to(std::current_exception()));
  }
  unpark();
}

// Refuses the request before its body is read.
MHD_Result Exchange::refuse() {
  if (!framing_.has_body()) return MHD_YES;  // the next call sends the reply
  if (framing_.expects_continue) return queue_reply();
  return refuse_in_body();
}

// Refuses the request while the client is sending. libmicrohttpd accepts a reply only before or after the
// body. A small rest is read completely. Otherwise the reply is written directly to the socket, and some of
// the rest is read and dropped. Closing with unread bytes would reset the connection before the client reads
// the reply.
MHD_Result Exchange::refuse_in_body() {
  discarding_ = true;
  if (!answered_raw_) answer_at_once(received_bytes_);
  return MHD_YES;
}

void Exchange::answer_at_once(uint64_t received_bytes) {
  bool short_rest = !framing_.chunked && framing_.length - received_bytes <= kDrainBytesMax;
  if (!short_rest) send_raw();
}

void Exchange::send_raw() {
  if (core_.tls() || !std::holds_alternative<std::string>(reply_->body)) return;
  auto bytes = serialize_closing(*reply_);
  // If only part of it fits, the client gets a truncated reply. Sending a second reply would be worse.
  answered_raw_ = ::send(connection_.fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL) > 0;
}

bool Exchange::is_too_slow() const {
  auto held = upload_ ? BodyPace::HeldIn::sink : BodyPace::HeldIn::memory;
  return core_.options.body_pace.is_too_slow(held, received_bytes_ + discarded_bytes_,
                                             std::chrono::steady_clock::now() - began_);
}

MHD_Result Exchange::on_body(std::string_view bytes, size_t* left) {
  if (discarding_) {
    discarded_bytes_ += bytes.size();
    *left = 0;
    if (is_too_slow()) return MHD_NO;
    return discarded_bytes_ > (answered_raw_ ? kLingerBytesMax : kSilentDrainBytesMax) ? MHD_NO : MHD_YES;
  }
  if (upload_) {
    switch (upload_->take(bytes)) {
      case Upload::Taken::later:
        return MHD_YES;
      case Upload::Taken::cut:
        return MHD_NO;
      case Upload::Taken::failed:
        // Drop these bytes like all that follow. libmicrohttpd offers remaining bytes again only when more
        // arrive, and these may be the last.
        discarded_bytes_ += bytes.size();
        *left = 0;
        return refuse_in_body();
      case Upload::Taken::all:
        break;
    }
  }
  received_bytes_ += bytes.size();
  *left = 0;
  if (is_too_slow()) {
    // Without waiting for the rest, which may never come.
    refuse_in_body(Error(Code::request_timeout, "The body arrives too slowly."));
    if (!answered_raw_) send_raw();
    return MHD_NO;
  }
  return upload_ ? MHD_YES : take_gathered(bytes);
}

MHD_Result Exchange::take_gathered(std::string_view bytes) {
  uint64_t size = request_.body.size() + bytes.size();
  if (size > route_->options.body_bytes_max) return refuse_in_body(body_too_large(route_->options));
  try {
    if (size > request_.body.capacity())
      make_room(
          std::min<uint64_t>(std::max(size, 2 * request_.body.capacity()), route_->options.body_bytes_max));
  } catch (const Error& error) {
    return refuse_in_body(error);
  }
  request_.body.append(bytes);
  return MHD_YES;
}

// Allocates memory for the body within the budget. Error(unavailable) when that is used up, Error(too_large)
// when it never has as much.
void Exchange::make_room(uint64_t bytes) {
  if (bytes > core_.body_budget.owner_bytes_max())
    throw Error(Code::too_large, "The body is larger than the memory that this server has for it.")
        .with("limit_bytes", static_cast<int64_t>(core_.body_budget.owner_bytes_max()));
  if (!body_share_.cover(bytes, request_.owner)) throw bodies_use_all_memory();
  request_.body.reserve(bytes);
}

// Refuses a request of which a part has arrived, and frees that part.
MHD_Result Exchange::refuse_in_body(const Error& error) {
  if (upload_ && !upload_->abort()) return refuse_in_body();
  request_.body = std::string();
  body_share_.release();
  set_reply(reply_to(std::make_exception_ptr(error)));
  return refuse_in_body();
}

MHD_Result Exchange::on_request_complete() {
  if (discarding_) return answered_raw_ ? MHD_NO : queue_reply();
  if (stage_ == Stage::handling || (!upload_ && reply_)) return queue_reply();
  stage_ = Stage::handling;
  if (upload_) {
    auto taken = upload_->finish();
    if (taken == Upload::Taken::failed) return answered_raw_ ? MHD_NO : queue_reply();
    return taken == Upload::Taken::cut ? MHD_NO : MHD_YES;
  }
  if (route_->options.thread == RouteOptions::Thread::loop) return reply_at_once();
  if (!park_request()) return MHD_NO;
  submit([self = shared_from_this()] { self->run_handler(); });
  return MHD_YES;
}

MHD_Result Exchange::reply_at_once() {
  try {
    set_reply(route_->handler(request_));
  } catch (...) {
    set_reply(reply_to(std::current_exception()));
  }
  return queue_reply();
}

void Exchange::run_handler() {
  Reply reply;
  try {
    reply = route_->sink_handler ? run_gathered() : route_->handler(request_);
  } catch (...) {
    reply = reply_to(std::current_exception());
  }
  core_.turns.learn(credential_, request_);
  settle(std::move(reply));
}

Reply Exchange::run_gathered() {
  std::string body = std::exchange(request_.body, {});
  auto sink = route_->sink_handler(request_);
  if (!body.empty()) sink->piece(body);
  return sink->end();
}

Reply Exchange::reply_to(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    if (error.http_status() == 500 || error.code() == Code::disk_full)
      log::warn("request failed", {{"request_id", request_.request_id},
                                   {"code", info(error.code()).name},
                                   {"reason", error.message()}});
    return core_.error_reply(request_, error);
  } catch (const std::exception& unexpected) {
    log::error(
        "handler threw",
        {{"request_id", request_.request_id}, {"route", request_.route}, {"reason", unexpected.what()}});
  } catch (...) {
    log::error("handler threw something unknown",
               {{"request_id", request_.request_id}, {"route", request_.route}});
  }
  return core_.error_reply(request_,
                           Error(Code::internal, "Internal error of the server; its log has the details."));
}

void Exchange::set_reply(Reply reply) {
  finish_reply(core_.options, request_, reply);
  if (request_.method == "HEAD")
    if (auto* stream = std::get_if<std::shared_ptr<EventStream>>(&reply.body)) {
      (*stream)->close();
      reply.body = std::string();
    }
  hold_memory_of(reply);
  reply_ = std::move(reply);
}

// A client that reads slowly, or not at all, keeps its answer in memory.
void Exchange::hold_memory_of(Reply& reply) {
  auto* text = std::get_if<std::string>(&reply.body);
  if (text == nullptr || text->size() <= kUncountedReplyBytes) return;
  if (reply_share_.cover(text->size(), turn_.raw())) return;
  reply = core_.error_reply(request_, Error(Code::unavailable, "The memory for answers is in use."));
  finish_reply(core_.options, request_, reply);
}

void Exchange::settle(Reply reply) {
  // The handler has read the body. Its memory is free before the client sees the reply and sends the next.
  request_.body = std::string();
  body_share_.release();
  if (reply.held) held_ = std::move(reply.held);
  if (auto* deferred = std::get_if<std::shared_ptr<Deferred>>(&reply.body))
    return await(std::move(*deferred));
  set_reply(std::move(reply));
  unpark();
}

// Ends the request without a reply; the loop closes the connection.
void Exchange::abandon() {
  abandoned_ = true;
  unpark();
}

// Watch before attaching: once attached, a completion on another thread may resume the connection and close
// its socket.
void Exchange::await(std::shared_ptr<Deferred> deferred) {
  if (!deferred->impl().take())
    return settle(reply_to(std::make_exception_ptr(std::logic_error("a deferred reply was returned twice"))));
  auto self = shared_from_this();
  auto due = std::chrono::steady_clock::now() + deferred->impl().deadline;
  watch_ = core_.watcher.watch(
      socket(), due,
      [self, deferred](SocketWatcher::Event event) {
        if (!deferred->impl().claim()) return;
        self->submit([self, deferred, event] { self->give_up(deferred, event); });
      },
      deferred->impl().at_stop == AtStop::end ? SocketWatcher::Stop::early : SocketWatcher::Stop::late);
  auto attached = deferred->impl().attach([self, deferred](Reply reply) {
    self->core_.watcher.forget(self->watch_);
    return self->deliver(deferred, std::move(reply));
  });
  if (attached != Deferred::Impl::Attached::completed) return;
  core_.watcher.forget(watch_);
  deliver(deferred, deferred->impl().take_early());
}

// Sends a deferred reply. Returns false when the client has disconnected. on_lost runs on another thread,
// because complete() may be called under a lock that it needs.
bool Exchange::deliver(const std::shared_ptr<Deferred>& deferred, Reply reply) {
  if (!socket_state(socket()).client_gone()) {
    settle(std::move(reply));
    return true;
  }
  submit([self = shared_from_this(), deferred] {
    try {
      if (deferred->impl().on_lost) deferred->impl().on_lost();
    } catch (const std::exception& error) {
      log::error("a lost reply could not be undone", {{"reason", error.what()}});
    }
    self->abandon();
  });
  return false;
}

// Worker thread, with the deferred reply claimed: the client disconnected, the deadline passed, or the server
// is stopping.
void Exchange::give_up(const std::shared_ptr<Deferred>& deferred, SocketWatcher::Event event) {
  Reply reply;
  try {
    if (event == SocketWatcher::Event::stopping)
      reply = core_.error_reply(request_, Error(Code::unavailable, "The server is stopping."));
    else if (event == SocketWatcher::Event::due)
      reply = deferred->impl().at_deadline();
    if (deferred->impl().on_cancel) deferred->impl().on_cancel();
  } catch (...) {
    reply = reply_to(std::current_exception());
  }
  if (event == SocketWatcher::Event::disconnected) return abandon();
  if (event == SocketWatcher::Event::stopping) return settle(std::move(reply));
  deliver(deferred, std::move(reply));
}

MHD_Result Exchange::queue_reply() {
  SK_CHECK(reply_.has_value(), "no reply for " + request_.route);
  if (auto* stream = std::get_if<std::shared_ptr<EventStream>>(&reply_->body)) start_events(*stream);
  status_ = reply_->status;
  connection_.at_last_request.received = socket_state(connection_.fd).bytes.received;
  if (core_.draining) reply_->headers.set("Connection", "close");
  ResponsePtr response;
  try {
    response = make_response(*reply_, shared_from_this());
  } catch (...) {
    auto failed = reply_to(std::current_exception());
    set_reply(std::move(failed));
    status_ = reply_->status;
    response = make_response(*reply_, shared_from_this());
  }
  return MHD_queue_response(handle_, static_cast<unsigned>(status_), response.get());
}

void Exchange::start_events(std::shared_ptr<EventStream> stream) {
  events_ = std::move(stream);
  events_->impl().begin(core_.reply_budget, std::string(turn_.raw()), core_.options.event_buffer_bytes_max);
  schedule_heartbeat(core_, events_);
}

// Repeats until the stream is closed. The timer does not keep the stream alive.
void Exchange::schedule_heartbeat(Core& core, const std::weak_ptr<EventStream>& stream) {
  auto due = std::chrono::steady_clock::now() + std::chrono::seconds(core.options.event_heartbeat_s);
  core.watcher.watch(
      -1, due,
      [&core, stream](SocketWatcher::Event event) {
        auto alive = stream.lock();
        if (!alive || event == SocketWatcher::Event::stopping || alive->closed()) return;
        alive->impl().heartbeat();
        schedule_heartbeat(core, stream);
      },
      SocketWatcher::Stop::late);
}

void Exchange::on_completed(MHD_RequestTerminationCode how) {
  // Now, because a job may keep this object a moment longer.
  held_.reset();
  if (upload_) upload_->abort();
  if (events_) {
    events_->impl().break_off();
    if (events_->impl().on_close) submit([stream = events_] { tell_closed(*stream); });
  }
  log_and_count(how);
  auto socket = socket_state(connection_.fd);
  connection_.at_last_request.sent = socket.bytes.sent;
  if (socket.client_closed) announce_end(connection_.fd);
  connection_.timed_out = how == MHD_REQUEST_TERMINATED_TIMEOUT_REACHED;
  connection_.explained = how != MHD_REQUEST_TERMINATED_COMPLETED_OK && !connection_.timed_out;
  connection_.waiting_since = std::chrono::steady_clock::now().time_since_epoch().count();
  if (stage_ != Stage::head) {
    core_.request_metrics.under_way.add(-1);
    core_.requests.remove();
  }
}

void Exchange::log_and_count(MHD_RequestTerminationCode how) {
  bool whole = how == MHD_REQUEST_TERMINATED_COMPLETED_OK;
  if (answered_raw_) status_ = reply_->status;
  if (status_ == 0) {
    // libmicrohttpd replied by itself, as it does for unreadable headers.
    auto* by_library = MHD_get_connection_info(handle_, MHD_CONNECTION_INFO_HTTP_STATUS);
    if (by_library) status_ = static_cast<int>(by_library->http_status);
  }
  auto duration_us = core_.clock.now_us() - request_.received_us;
  core_.request_metrics.finished(route_, status_, duration_us);
  core_.request_metrics.received_bytes.add(received_bytes_);
  if (whole) core_.request_metrics.sent_bytes.add(sent_bytes_);
  if (!core_.options.log_requests) return;
  // A stranger can cause these without end. Each request of others has its line.
  bool of_stranger = !route_ || status_ == 401 || status_ == 429;
  log::write(
      log::Level::info, "request",
      {{"method", request_.method},
       {"route", route_ ? route_->pattern : "-"},
       {"path", core_.options.loggable_path ? core_.options.loggable_path(request_.path) : request_.path},
       {"status", status_},
       {"received", received_bytes_},
       {"sent", sent_bytes_},
       {"us", duration_us},
       {"from", request_.remote_address},
       {"request_id", request_.request_id},
       {"outcome", whole           ? "ok"
                   : answered_raw_ ? "refused"
                                   : "aborted"}},
      of_stranger ? log::Fold::repeats : log::Fold::nothing);
}

}  // namespace sk::http
