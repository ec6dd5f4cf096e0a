// Rates of requests per key and per principal, and the slow-down of addresses that try wrong keys. The rates
// of addresses alone are limited in src/http, before a request is authenticated. Any thread; nothing here
// waits, so the socket's own thread may call it.
#pragma once

#include <chrono>

#include "api/settings.h"
#include "base/error.h"
#include "http/message.h"
#include "http/rate_limits.h"
#include "identity/types.h"

namespace sk::api {

class Rates {
 public:
  explicit Rates(const DialectSettings& settings);

  using Time = http::BucketTable::Time;
  static Time now() { return std::chrono::steady_clock::now(); }

  // Counts an authenticated request for its key and its principal, once. Error(too_many_requests) when one of
  // them sent too many.
  void count(http::Request& request, const identity::Actor& actor);

  // Takes note of a secret that is nobody's key.
  void note_wrong_key(const http::Request& request, Time at = now());
  // Returns whether so many wrong keys came from the request's address that only right ones are looked up.
  // Addresses of this machine are never slowed down: behind a proxy that is not trusted, everybody has one.
  bool is_slowed(const http::Request& request, Time at = now()) const;
  // The error for a request of such an address that has no right key. Also sets the headers of the reply.
  Error too_many_wrong_keys(http::Request& request, Time at = now()) const;

 private:
  http::BucketTable keys_;
  http::BucketTable principals_;
  http::BucketTable wrong_keys_;  // by address
};

}  // namespace sk::api
