// Identifiers of 126 bits. The top 48 bits are the creation time in milliseconds, so ids sort by creation
// time. Each dialect has its own text form: a prefix and 32 hex digits (ours: "f_…", "v_…"; OpenAI's:
// "cfile_…", "file-…"), or 21 base64url characters.
#pragma once

#include <array>
#include <compare>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/text.h"

namespace sk {

// Big-endian; the two highest bits are zero. The zero id means "none" and is never generated.
struct Id {
  std::array<std::byte, 16> bytes{};

  auto operator<=>(const Id&) const = default;
  explicit operator bool() const { return *this != Id{}; }
  std::string hex() const { return to_hex(bytes); }
  std::string base64url21() const;
  std::string raw() const { return std::string(as_text(bytes)); }
  std::string with_prefix(std::string_view prefix) const { return std::string(prefix) + hex(); }
  TimeUs time_us() const;

  // These parsers return nullopt unless the text has exactly the named form.
  static std::optional<Id> from_hex(std::string_view text);
  static std::optional<Id> from_base64url21(std::string_view text);
  static std::optional<Id> from_prefixed(std::string_view text, std::string_view prefix);
  // Creates an id from exactly 16 raw bytes, as stored in the catalog. CHECKs the length.
  static Id from_raw(std::string_view raw);
};

// Generates ids that are strictly increasing within one process, even if the clock stalls or steps back.
// Thread-safe.
class IdMaker {
 public:
  explicit IdMaker(const Clock& clock) : clock_(clock) {}
  Id next();

 private:
  const Clock& clock_;
  Mutex mutex_;
  int64_t last_ms_ SK_GUARDED_BY(mutex_) = 0;
  uint64_t sequence_ SK_GUARDED_BY(mutex_) = 0;  // 14-bit counter within one millisecond
};

}  // namespace sk

template <>
struct std::hash<sk::Id> {
  size_t operator()(const sk::Id& id) const noexcept {
    size_t out;
    std::memcpy(&out, id.bytes.data() + 8, sizeof out);
    return out;
  }
};

// Prefixes of the ids in our own API.
namespace sk::prefix {

inline constexpr std::string_view workspace = "ws_";
inline constexpr std::string_view file = "f_";
inline constexpr std::string_view version = "v_";
inline constexpr std::string_view principal = "p_";
inline constexpr std::string_view key = "key_";
inline constexpr std::string_view lock = "lock_";
inline constexpr std::string_view session = "s_";
inline constexpr std::string_view execution = "x_";

}  // namespace sk::prefix
