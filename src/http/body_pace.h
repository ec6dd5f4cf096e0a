// How slowly a client may send a body. A connection that sends a byte now and then is never idle; without a
// least pace it would hold its place, and the memory of its body, for ever. Pure; any thread.
#pragma once

#include <chrono>
#include <cstdint>

namespace sk::http {

struct BodyPace {
  uint64_t bytes_per_s_min = 0;        // on average since the headers arrived; 0: none
  std::chrono::seconds grace{10};      // time that does not count, for slow starts
  std::chrono::seconds time_max{300};  // for a body that is held in memory, at any pace

  enum class HeldIn { memory, sink };
  bool is_too_slow(HeldIn held, uint64_t received_bytes, std::chrono::steady_clock::duration since) const {
    if (held == HeldIn::memory && since > time_max) return true;
    if (since <= grace) return false;
    auto counted = std::chrono::duration_cast<std::chrono::seconds>(since - grace).count();
    return received_bytes < bytes_per_s_min * static_cast<uint64_t>(counted);
  }
};

}  // namespace sk::http
