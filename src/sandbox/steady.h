// Monotonic clock for timeouts; unrelated to the time of day.
#pragma once

#include <chrono>
#include <cstdint>

namespace sk::sandbox {

inline int64_t steady_us() {
  auto since_start = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(since_start).count();
}

}  // namespace sk::sandbox
