#include "http/mhd/unread_heads.h"

#include <sys/socket.h>

#include <array>
#include <string_view>

#include "http/mhd/exchange.h"

namespace sk::http {

namespace {

// The message that libmicrohttpd logs just before it makes a reply of its own.
constexpr std::string_view kBeforeItsOwnReply = "Error processing request";
// Limit on the reads of what is left of the request.
constexpr int kDropsMax = 16;

MHD_Result add_unread_header(void* headers, MHD_ValueKind, const char* name, const char* value) {
  static_cast<Headers*>(headers)->add(name, value ? value : "");
  return MHD_YES;
}

// Closing with unread bytes would reset the connection before the client reads the reply.
void drop_received(int fd) {
  std::array<char, 4096> ignored;
  for (int i = 0; i < kDropsMax; ++i)
    if (::recv(fd, ignored.data(), ignored.size(), MSG_DONTWAIT) <= 0) return;
}

}  // namespace

void UnreadHeads::add(Exchange& exchange) {
  loop_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  exchanges_.insert(&exchange);
}

// A complete head goes to the access handler before the loop turns to another connection. So a complete one
// that has not been there, and that has no reply yet, is the one that is refused now.
void UnreadHeads::on_log(void* self, const char* format, va_list) {
  auto& heads = *static_cast<UnreadHeads*>(self);
  if (heads.loop_.load(std::memory_order_relaxed) != std::this_thread::get_id()) return;
  if (!std::string_view(format).starts_with(kBeforeItsOwnReply)) return;
  for (auto* exchange : heads.exchanges_)
    if (is_being_refused(*exchange)) return answer(*exchange);
}

bool UnreadHeads::is_being_refused(const Exchange& exchange) {
  if (exchange.core_.tls() || exchange.answered_raw_) return false;
  return MHD_get_connection_info(exchange.handle_, MHD_CONNECTION_INFO_HTTP_STATUS) == nullptr &&
         MHD_get_connection_info(exchange.handle_, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE) != nullptr;
}

// Closes the socket for writing after the reply, so that libmicrohttpd's own one is not sent.
void UnreadHeads::answer(Exchange& exchange) {
  auto& request = exchange.request_;
  try {
    MHD_get_connection_values(exchange.handle_, MHD_HEADER_KIND, &add_unread_header, &request.headers);
    exchange.identify_client();
    parse_target(request);
    check_headers(request.headers);
    parse_framing(request.headers, "HTTP/1.1");
    throw Error(Code::bad_request, "The head of the request is malformed.");
  } catch (...) {
    exchange.set_reply(exchange.reply_to(std::current_exception()));
  }
  exchange.send_raw();
  ::shutdown(exchange.connection_.fd, SHUT_WR);
  drop_received(exchange.connection_.fd);
}

}  // namespace sk::http
