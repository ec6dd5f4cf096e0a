#include "base/id.h"

#include <algorithm>

#include "base/error.h"
#include "base/hash.h"

namespace sk {

namespace {

__extension__ typedef unsigned __int128 u128;

u128 to_number(const Id& id) {
  u128 value = 0;
  for (std::byte b : id.bytes) value = (value << 8) | static_cast<uint8_t>(b);
  return value;
}

Id from_number(u128 value) {
  Id id;
  for (size_t i = 16; i-- > 0; value >>= 8) id.bytes[i] = static_cast<std::byte>(value & 255);
  return id;
}

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr int kSequenceBits = 14;
constexpr int kRandomBits = 64;

}  // namespace

std::string Id::base64url21() const {
  std::string out(21, 'A');
  u128 value = to_number(*this);
  for (size_t i = 21; i-- > 0; value >>= 6) out[i] = kAlphabet[static_cast<size_t>(value & 63)];
  return out;
}

TimeUs Id::time_us() const {
  return static_cast<int64_t>(to_number(*this) >> (kSequenceBits + kRandomBits)) * kMillisecondUs;
}

std::optional<Id> Id::from_hex(std::string_view text) {
  if (text.size() != 32 || std::any_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'F'; }))
    return std::nullopt;
  auto raw = sk::from_hex(text);
  if (!raw || (static_cast<uint8_t>((*raw)[0]) & 0xC0) != 0) return std::nullopt;
  return from_raw(*raw);
}

std::optional<Id> Id::from_base64url21(std::string_view text) {
  if (text.size() != 21) return std::nullopt;
  u128 value = 0;
  for (char c : text) {
    auto at = kAlphabet.find(c);
    if (at == std::string_view::npos) return std::nullopt;
    value = (value << 6) | at;
  }
  return from_number(value);
}

std::optional<Id> Id::from_prefixed(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  return from_hex(text.substr(prefix.size()));
}

Id Id::from_raw(std::string_view raw) {
  SK_CHECK(raw.size() == 16);
  Id id;
  std::memcpy(id.bytes.data(), raw.data(), 16);
  return id;
}

Id IdMaker::next() {
  uint64_t random;
  fill_random(std::as_writable_bytes(std::span(&random, 1)));
  MutexLock lock(mutex_);
  int64_t now_ms = clock_.now_us() / kMillisecondUs;
  if (now_ms > last_ms_) {
    last_ms_ = now_ms;
    sequence_ = 0;
  } else if (++sequence_ >= (1u << kSequenceBits)) {
    ++last_ms_;
    sequence_ = 0;
  }
  u128 value = (static_cast<u128>(last_ms_) << kSequenceBits) | sequence_;
  return from_number((value << kRandomBits) | random);
}

}  // namespace sk
