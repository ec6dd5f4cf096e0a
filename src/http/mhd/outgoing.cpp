#include "http/mhd/outgoing.h"

#include <fcntl.h>

#include "base/log.h"
#include "base/text.h"
#include "http/event_stream.h"
#include "http/gzip.h"
#include "http/mhd/exchange.h"
#include "http/mhd/piece_feed.h"

namespace sk::http {

namespace {

// Read size of a Pieces body per loop iteration: large enough to amortize system calls, small enough to be
// fair to other connections.
constexpr size_t kFeedBytes = 256 << 10;
constexpr size_t kEventBytes = 16 << 10;

void append_vary(Headers& headers, std::string_view name) {
  auto vary = headers.get("Vary");
  if (!vary)
    headers.set("Vary", std::string(name));
  else if (ascii_lower(*vary).find(ascii_lower(name)) == std::string::npos)
    headers.set("Vary", *vary + ", " + std::string(name));
}

// Returns the value of Access-Control-Allow-Origin. Returns nullopt when the request has no origin or the
// origin is not allowed.
std::optional<std::string> allowed_origin(const ServerOptions& options, const Request& request) {
  auto origin = request.headers.get("Origin");
  if (!origin || options.cors_origins.empty()) return std::nullopt;
  for (const auto& allowed : options.cors_origins) {
    if (allowed == "*") return "*";
    if (ascii_lower(allowed) == ascii_lower(*origin)) return origin;
  }
  return std::nullopt;
}

void add_cors(const ServerOptions& options, const Request& request, Headers& headers) {
  if (options.cors_origins.empty()) return;
  auto origin = allowed_origin(options, request);
  if (origin != "*") append_vary(headers, "Origin");
  if (!origin) return;
  headers.set("Access-Control-Allow-Origin", *origin);
  headers.set("Access-Control-Expose-Headers",
              "ETag, Location, Content-Range, Content-Disposition, Retry-After, Last-Modified, X-Request-Id, "
              "Mcp-Session-Id, RateLimit, RateLimit-Policy");
}

std::string join(const std::vector<std::string>& parts) {
  std::string out;
  for (const auto& part : parts) out += (out.empty() ? "" : ", ") + part;
  return out;
}

// State of an event stream while it is being sent.
struct EventFeed {
  std::shared_ptr<Exchange> exchange;
  std::shared_ptr<EventStream> stream;

  ssize_t read(char* out, size_t size);
};

ssize_t EventFeed::read(char* out, size_t size) {
  auto& core = exchange->core();
  bool ends = stream->impl().at_stop == AtStop::end;
  if (core.closing || (core.draining && ends)) stream->close();
  auto watch = std::make_shared<SocketWatcher::Id>(0);
  auto park = [&] {
    if (!exchange->park()) return false;
    *watch = core.watcher.watch(
        exchange->socket(), std::nullopt,
        [weak = std::weak_ptr(stream)](SocketWatcher::Event event) {
          auto alive = weak.lock();
          if (!alive) return;
          if (event == SocketWatcher::Event::stopping)
            alive->close();
          else
            alive->impl().break_off();
        },
        ends ? SocketWatcher::Stop::early : SocketWatcher::Stop::late);
    return true;
  };
  auto wake = [self = exchange, watch] {
    self->core().watcher.forget(*watch);
    self->unpark();
  };
  auto taken = stream->impl().take({out, size}, park, wake);
  using Kind = EventStream::Impl::Taken::Kind;
  if (taken.kind == Kind::nothing_yet) return 0;
  if (taken.kind == Kind::end) return MHD_CONTENT_READER_END_OF_STREAM;
  if (taken.kind == Kind::broken) return MHD_CONTENT_READER_END_WITH_ERROR;
  exchange->count_sent(taken.size);
  return static_cast<ssize_t>(taken.size);
}

template <class T>
void delete_as(void* pointer) {
  std::unique_ptr<T> owner(static_cast<T*>(pointer));
}

ResponsePtr from_string(std::string text, const std::shared_ptr<Exchange>& exchange) {
  exchange->count_sent(text.size());
  auto owned = std::make_unique<std::string>(std::move(text));
  ResponsePtr response(MHD_create_response_from_buffer_with_free_callback_cls(
      owned->size(), owned->data(), &delete_as<std::string>, owned.get()));
  SK_CHECK(response != nullptr, "out of memory");
  owned.release();  // the response deletes it
  return response;
}

ResponsePtr from_file(const FileRange& range, const std::shared_ptr<Exchange>& exchange) {
  if (range.size == 0) return from_string({}, exchange);
  Fd copy(::fcntl(range.file->get(), F_DUPFD_CLOEXEC, 0));  // the response closes this copy
  if (!copy) throw system_error("cannot duplicate a file descriptor", errno);
  ResponsePtr response(MHD_create_response_from_fd_at_offset64(range.size, copy.get(), range.offset));
  if (!response) throw Error(Code::internal, "a file range is too large");
  copy.release();
  exchange->count_sent(range.size);
  return response;
}

ResponsePtr from_pieces(Reply::Pieces pieces, const std::shared_ptr<Exchange>& exchange) {
  if (pieces.size == 0) return from_string({}, exchange);
  using Feed = std::shared_ptr<PieceFeed>;
  auto read = [](void* self, uint64_t, char* out, size_t size) {
    return (*static_cast<Feed*>(self))->read(out, size);
  };
  auto feed = std::make_unique<Feed>(std::make_shared<PieceFeed>(exchange, std::move(pieces.source)));
  size_t block = static_cast<size_t>(std::min<uint64_t>(kFeedBytes, pieces.size));
  ResponsePtr response(
      MHD_create_response_from_callback(pieces.size, block, read, feed.get(), &delete_as<Feed>));
  SK_CHECK(response != nullptr, "out of memory");
  feed.release();
  exchange->count_sent(pieces.size);
  return response;
}

ResponsePtr from_events(std::shared_ptr<EventStream> stream, const std::shared_ptr<Exchange>& exchange) {
  auto read = [](void* self, uint64_t, char* out, size_t size) {
    return static_cast<EventFeed*>(self)->read(out, size);
  };
  auto feed = std::make_unique<EventFeed>(exchange, std::move(stream));
  ResponsePtr response(MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, kEventBytes, read, feed.get(),
                                                         &delete_as<EventFeed>));
  SK_CHECK(response != nullptr, "out of memory");
  feed.release();
  return response;
}

}  // namespace

void finish_reply(const ServerOptions& options, const Request& request, Reply& reply) {
  reply.headers.set("X-Request-Id", request.request_id);
  // Browsers must neither guess a type nor keep an answer that its handler did not declare cacheable.
  reply.headers.set("X-Content-Type-Options", "nosniff");
  if (!reply.headers.has("Cache-Control")) reply.headers.set("Cache-Control", "no-store");
  if (options.hsts) reply.headers.set("Strict-Transport-Security", "max-age=31536000");
  add_rate_headers(request, reply.headers);
  add_cors(options, request, reply.headers);
  if (!worth_gzip(reply)) return;
  append_vary(reply.headers, "Accept-Encoding");
  if (!accepts_gzip(request.headers.get_list("Accept-Encoding").value_or(""))) return;
  auto& text = std::get<std::string>(reply.body);
  text = gzip(text);
  reply.headers.set("Content-Encoding", "gzip");
}

Reply options_reply(const ServerOptions& options, const Request& request,
                    const std::vector<std::string>& allowed) {
  Reply reply = Reply::empty(204);
  auto methods = allowed;
  methods.emplace_back("OPTIONS");
  reply.headers.set("Allow", join(methods));
  if (!request.headers.has("Access-Control-Request-Method") || !allowed_origin(options, request))
    return reply;
  reply.headers.set("Access-Control-Allow-Methods", join(methods));
  if (auto headers = request.headers.get("Access-Control-Request-Headers"))
    reply.headers.set("Access-Control-Allow-Headers", *headers);
  reply.headers.set("Access-Control-Max-Age", "600");
  return reply;
}

ResponsePtr make_response(Reply& reply, const std::shared_ptr<Exchange>& exchange) {
  auto response = std::visit(
      [&](auto&& body) {
        using Body = std::decay_t<decltype(body)>;
        if constexpr (std::is_same_v<Body, std::string>) return from_string(std::move(body), exchange);
        if constexpr (std::is_same_v<Body, FileRange>) return from_file(body, exchange);
        if constexpr (std::is_same_v<Body, Reply::Pieces>) return from_pieces(std::move(body), exchange);
        if constexpr (std::is_same_v<Body, std::shared_ptr<EventStream>>)
          return from_events(std::move(body), exchange);
        SK_CHECK(!(std::is_same_v<Body, std::shared_ptr<Deferred>>), "a deferred reply was queued");
        return ResponsePtr();
      },
      reply.body);
  for (const auto& [name, value] : reply.headers.all()) {
    // libmicrohttpd rejects names and values that would break the message, and lengths, which handlers must
    // not set.
    if (MHD_add_response_header(response.get(), name.c_str(), value.c_str()) != MHD_YES)
      log::debug("reply header dropped", {{"name", name}});
  }
  return response;
}

std::string serialize_closing(const Reply& reply) {
  const auto& body = std::get<std::string>(reply.body);
  std::string out = "HTTP/1.1 " + std::to_string(reply.status) + " " +
                    MHD_get_reason_phrase_for(static_cast<unsigned>(reply.status)) + "\r\n";
  for (const auto& [name, value] : reply.headers.all()) {
    if (value.find_first_of("\r\n") == std::string::npos) out += name + ": " + value + "\r\n";
  }
  return out + "Content-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" + body;
}

}  // namespace sk::http
