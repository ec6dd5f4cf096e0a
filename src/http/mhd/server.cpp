#include "http/server.h"

#include <microhttpd.h>
#include <sys/socket.h>

#include "base/log.h"
#include "base/mutex.h"
#include "http/mhd/acceptor.h"
#include "http/mhd/core.h"
#include "http/mhd/exchange.h"
#include "http/mhd/outgoing.h"
#include "http/mhd/unread_heads.h"
#include "http/tls.h"

namespace sk::http {

namespace {

// Memory of one connection in libmicrohttpd. Half of it is the read buffer, so uploads arrive in large reads.
// It is cleared after each request, so a larger value is not better.
constexpr size_t kConnectionMemoryBytes = 96 << 10;
constexpr size_t kReadIncrementBytes = 64 << 10;
// Time limit for sending the refusals of a stopping server.
constexpr std::chrono::milliseconds kRefusalsMost{250};

struct DaemonDeleter {
  void operator()(MHD_Daemon* daemon) const { MHD_stop_daemon(daemon); }
};
using DaemonPtr = std::unique_ptr<MHD_Daemon, DaemonDeleter>;

// The loop's reference to a request.
using Held = std::shared_ptr<Exchange>;

// One of libmicrohttpd's loops, with a thread of its own.
struct Loop {
  explicit Loop(Core& the_core) : core(the_core) {}
  Core& core;
  UnreadHeads heads;
  DaemonPtr daemon;  // last: its thread uses all above
};

void* on_uri(void* self, const char* uri, MHD_Connection* handle) {
  auto& loop = *static_cast<Loop*>(self);
  auto* info = MHD_get_connection_info(handle, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  auto& connection = *static_cast<Connection*>(info->socket_context);
  auto exchange = std::make_shared<Exchange>(loop.core, connection, handle, uri ? uri : "");
  loop.heads.add(*exchange);
  // Truncate the query. Otherwise libmicrohttpd would split it into records that are never read and that
  // overflow its memory for long queries. The text is in libmicrohttpd's own buffer and is about to be
  // overwritten anyway.
  if (uri)
    if (auto* question = std::strchr(const_cast<char*>(uri), '?')) question[1] = '\0';
  return std::make_unique<Held>(std::move(exchange)).release();
}

MHD_Result on_request(void* self, MHD_Connection*, const char*, const char* method, const char* version,
                      const char* data, size_t* size, void** context) {
  auto& exchange = **static_cast<Held*>(*context);
  static_cast<Loop*>(self)->heads.remove(exchange);
  return exchange.on_call(method, version, data, size);
}

void on_request_completed(void* self, MHD_Connection*, void** context, MHD_RequestTerminationCode how) {
  if (!*context) return;
  std::unique_ptr<Held> held(static_cast<Held*>(std::exchange(*context, nullptr)));
  static_cast<Loop*>(self)->heads.remove(**held);
  (*held)->on_completed(how);
}

// Explains the closing of a connection. libmicrohttpd closes silently when a request line is unreadable or
// late. If there are unanswered bytes, send the reason.
void explain_closing(const Core& core, const Connection& connection) {
  auto socket = socket_state(connection.fd);
  // The kernel counts the client's FIN as a byte received.
  bool unanswered = socket.bytes.received > connection.at_last_request.received + 1 &&
                    socket.bytes.sent == connection.at_last_request.sent;
  if (core.tls() || core.closing || connection.explained || !unanswered) return;
  // An unreadable request closes the connection as soon as it arrives. libmicrohttpd's coarse clock may
  // shorten the timeout by some milliseconds.
  bool slow =
      connection.timed_out || socket.since_received * 2 > std::chrono::seconds(core.options.idle_timeout_s);
  Request request;
  request.request_id = "none";
  auto error = slow ? Error(Code::request_timeout, "The request did not arrive in time.")
                    : Error(Code::bad_request, "This is not an HTTP request.");
  auto reply = serialize_closing(core.error_reply(request, error));
  ::send(connection.fd, reply.data(), reply.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

void on_connection(void* self, MHD_Connection* handle, void** context, MHD_ConnectionNotificationCode code) {
  auto& core = static_cast<Loop*>(self)->core;
  if (code == MHD_CONNECTION_NOTIFY_STARTED) {
    auto connection = std::make_unique<Connection>();
    connection->fd = MHD_get_connection_info(handle, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    connection->address =
        address_text(MHD_get_connection_info(handle, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr);
    connection->waiting_since = std::chrono::steady_clock::now().time_since_epoch().count();
    core.connections.open(*connection);
    *context = connection.release();
  } else {
    std::unique_ptr<Connection> connection(static_cast<Connection*>(std::exchange(*context, nullptr)));
    explain_closing(core, *connection);
    core.connections.close(*connection);
  }
}

// Keeps targets encoded; our own code decodes them per segment.
size_t keep_escaped(void*, MHD_Connection*, char* text) { return std::strlen(text); }

// GnuTLS's usual ciphers, for TLS 1.2 and 1.3 only.
constexpr const char* kTlsPriorities = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:%SERVER_PRECEDENCE";

std::unique_ptr<Loop> start_loop(Core& core) {
  auto loop = std::make_unique<Loop>(core);
  unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET;
  flags |= MHD_USE_ERROR_LOG;
  // Without TURBO, libmicrohttpd shuts down a socket before it notifies us of closing. With TLS, that
  // shutdown ends the session properly.
  flags |= core.tls() ? static_cast<unsigned>(MHD_USE_TLS) : static_cast<unsigned>(MHD_USE_TURBO);
  std::vector<MHD_OptionItem> tls;
  if (core.tls()) {
    tls.push_back({MHD_OPTION_HTTPS_MEM_KEY, 0, const_cast<char*>(core.options.tls_key_pem.c_str())});
    tls.push_back({MHD_OPTION_HTTPS_PRIORITIES, 0, const_cast<char*>(kTlsPriorities)});
    tls.push_back({MHD_OPTION_HTTPS_MEM_CERT, 0, const_cast<char*>(core.options.tls_cert_pem.c_str())});
  }
  tls.push_back({MHD_OPTION_END, 0, nullptr});
  // Without STRICT_FOR_CLIENT, which would add nothing: heads are checked in request_head.h and head_lines.h.
  loop->daemon.reset(MHD_start_daemon(
      flags, 0, nullptr, nullptr, &on_request, loop.get(),                                         //
      MHD_OPTION_EXTERNAL_LOGGER, &UnreadHeads::on_log, &loop->heads,                              //
      MHD_OPTION_URI_LOG_CALLBACK, &on_uri, loop.get(),                                            //
      MHD_OPTION_NOTIFY_COMPLETED, &on_request_completed, loop.get(),                              //
      MHD_OPTION_NOTIFY_CONNECTION, &on_connection, loop.get(),                                    //
      MHD_OPTION_UNESCAPE_CALLBACK, &keep_escaped, nullptr,                                        //
      MHD_OPTION_CONNECTION_TIMEOUT, static_cast<unsigned>(core.options.idle_timeout_s),           //
      MHD_OPTION_CONNECTION_LIMIT, static_cast<unsigned>(core.options.connections_max + 16),       //
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, kConnectionMemoryBytes + core.options.header_bytes_max,  //
      MHD_OPTION_CONNECTION_MEMORY_INCREMENT, kReadIncrementBytes,                                 //
      MHD_OPTION_ARRAY, tls.data(), MHD_OPTION_END));
  if (!loop->daemon)
    throw Error(Code::unavailable,
                core.tls() ? "cannot start the server: the TLS library refuses the certificate or key"
                           : "cannot start the server's loop");
  return loop;
}

}  // namespace

struct Server::Impl {
  Impl(Listener listener, ServerOptions options, Router router, Metrics& metrics);
  void hand_over(Fd socket, const sockaddr* address, socklen_t length);
  void schedule_sweep();
  bool drain(std::chrono::milliseconds limit) SK_REQUIRES(stop_mutex);

  Core core;
  std::vector<std::unique_ptr<Loop>> loops;
  size_t next_loop = 0;  // acceptor's thread only
  Acceptor acceptor;     // after the loops, because it feeds them
  Mutex stop_mutex;
  bool stopped SK_GUARDED_BY(stop_mutex) = false;
};

Server::Impl::Impl(Listener listener, ServerOptions options, Router router, Metrics& metrics)
    : core(std::move(options), std::move(router), metrics),
      acceptor(std::move(listener), {core.tls(), core.options.idle_timeout_s}, core.connections,
               [this](Fd socket, const sockaddr* address, socklen_t length) {
                 hand_over(std::move(socket), address, length);
               }) {
  if (core.tls()) check_tls_pair(core.options.tls_cert_pem, core.options.tls_key_pem);
  for (size_t i = 0; i < std::max<size_t>(core.options.loop_threads, 1); ++i)
    loops.push_back(start_loop(core));
  schedule_sweep();
  acceptor.start();
}

void Server::Impl::hand_over(Fd socket, const sockaddr* address, socklen_t length) {
  auto* daemon = loops[next_loop++ % loops.size()]->daemon.get();
  auto text = address_text(address);
  // libmicrohttpd now owns the socket, even if the call fails.
  if (MHD_add_connection(daemon, socket.release(), address, length) != MHD_YES) core.connections.leave(text);
}

// Headers may take twice the idle timeout: once for idling, and once for sending them.
void Server::Impl::schedule_sweep() {
  auto period = std::chrono::seconds(std::max(1, core.options.idle_timeout_s / 4));
  core.watcher.watch(-1, std::chrono::steady_clock::now() + period, [this](SocketWatcher::Event event) {
    if (event == SocketWatcher::Event::stopping) return;
    core.connections.sweep(std::chrono::seconds(core.options.idle_timeout_s * 2));
    schedule_sweep();
  });
}

Server::Server(ServerOptions options, Router router, Metrics& metrics)
    : Server(Listener(options.host, options.port), options, std::move(router), metrics) {}

Server::Server(Listener listener, ServerOptions options, Router router, Metrics& metrics)
    : impl_(std::make_unique<Impl>(std::move(listener), std::move(options), std::move(router), metrics)) {}

Server::~Server() { stop(std::chrono::milliseconds(0)); }

uint16_t Server::port() const { return impl_->acceptor.port(); }

HttpLoad Server::load() const {
  const Core& core = impl_->core;
  auto at_least_none = [](int64_t value) { return static_cast<size_t>(std::max<int64_t>(0, value)); };
  return {.connections = core.connections.count(),
          .requests = at_least_none(core.request_metrics.under_way.value()),
          .workers = core.pool.load().all,
          .body_bytes = at_least_none(core.body_budget.used_bytes()),
          .body_bytes_max = core.options.body_memory_bytes_max};
}

bool Server::drain(std::chrono::milliseconds limit) {
  MutexLock lock(impl_->stop_mutex);
  return impl_->stopped || impl_->drain(limit);
}

bool Server::Impl::drain(std::chrono::milliseconds limit) {
  acceptor.stop();
  core.draining = true;
  core.watcher.cancel(SocketWatcher::Stop::early);
  return core.requests.wait_none_for(limit);
}

void Server::stop(std::chrono::milliseconds limit) {
  MutexLock lock(impl_->stop_mutex);
  if (std::exchange(impl_->stopped, true)) return;
  auto& core = impl_->core;
  if (!impl_->drain(limit)) {
    core.watcher.cancel(SocketWatcher::Stop::late);
    if (!core.requests.wait_none_for(kRefusalsMost))
      log::warn("requests are cut off at the end of the drain");
  }
  core.closing = true;
  core.watcher.cancel(SocketWatcher::Stop::late);
  // A suspended connection cannot be closed. Its job or its deferred reply ends the suspension.
  core.parked.wait_none();
  impl_->loops.clear();
  core.pool.stop();
}

}  // namespace sk::http
