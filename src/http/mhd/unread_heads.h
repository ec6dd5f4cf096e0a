// The requests of one loop whose heads the access handler has not seen yet. libmicrohttpd refuses some of
// them by itself, such as those with a malformed Content-Length: with a page of HTML, and up to version
// 0.9.76 with the head of that reply twice. It tells nobody but its log. This class listens to the log and
// answers such a request before libmicrohttpd does. Not with TLS, where only libmicrohttpd can send. Internal
// to this room.
#pragma once

#include <atomic>
#include <cstdarg>
#include <thread>
#include <unordered_set>

namespace sk::http {

class Exchange;

class UnreadHeads {
 public:
  // Loop thread.
  void add(Exchange& exchange);
  void remove(Exchange& exchange) { exchanges_.erase(&exchange); }

  // libmicrohttpd's external logger, whose first argument is an UnreadHeads. Any thread; those that are not
  // the loop's do nothing.
  static void on_log(void* self, const char* format, va_list arguments);

 private:
  static bool is_being_refused(const Exchange& exchange);
  static void answer(Exchange& exchange);

  std::atomic<std::thread::id> loop_{};
  std::unordered_set<Exchange*> exchanges_;  // loop thread only
};

}  // namespace sk::http
