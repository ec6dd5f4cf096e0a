#include "api/common/rates.h"

#include <algorithm>

namespace sk::api {

namespace {

http::RateOptions wrong_key_rate(uint64_t per_min) {
  return {.per_s = static_cast<double>(per_min) / 60, .burst = static_cast<double>(per_min)};
}

}  // namespace

Rates::Rates(const DialectSettings& settings)
    : keys_(http::rate_options(settings.rate_key_per_s, settings.rate_key_burst)),
      principals_(http::rate_options(settings.rate_principal_per_s, settings.rate_principal_burst)),
      wrong_keys_(wrong_key_rate(settings.wrong_keys_per_min)) {}

void Rates::count(http::Request& request, const identity::Actor& actor) {
  if (request.is_counted) return;
  request.is_counted = true;
  if (!keys_.is_on() && !principals_.is_on()) return;
  auto at = now();
  if (actor.key()) http::count_request(request, "key", keys_, http::bucket_of_id(actor.key()), at);
  http::count_request(request, "principal", principals_, http::bucket_of_id(actor.principal()), at);
}

void Rates::note_wrong_key(const http::Request& request, Time at) {
  if (!wrong_keys_.is_on() || http::is_loopback_address(request.remote_address)) return;
  wrong_keys_.take(http::bucket_of_address(request.remote_address), at);
}

bool Rates::is_slowed(const http::Request& request, Time at) const {
  if (!wrong_keys_.is_used()) return false;
  return !wrong_keys_.look(http::bucket_of_address(request.remote_address), at).admitted;
}

Error Rates::too_many_wrong_keys(http::Request& request, Time at) const {
  auto state = wrong_keys_.look(http::bucket_of_address(request.remote_address), at);
  state.admitted = false;
  state.retry_after_s = std::max<int64_t>(state.retry_after_s, 1);
  http::note_rate(request, "wrong-keys", wrong_keys_.options(), state);
  return Error(Code::too_many_requests, "too many wrong keys came from this address")
      .with("limit", "wrong-keys")
      .retry_in(state.retry_after_s)
      .advise(Advice::send_valid_key);
}

}  // namespace sk::api
