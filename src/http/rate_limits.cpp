#include "http/rate_limits.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

#include "base/hash.h"

namespace sk::http {

namespace {

// Units are sums of fractions; after exactly the announced time there is one.
constexpr double kUnitTolerance = 1e-6;
// The burst, where none is set.
constexpr uint64_t kBurstSeconds = 10;

uint64_t random_seed() {
  uint64_t seed = 0;
  fill_random(std::as_writable_bytes(std::span(&seed, 1)));
  return seed;
}

// The finalizer of MurmurHash3.
uint64_t mixed(uint64_t value) {
  value ^= value >> 33;
  value *= 0xff51afd7ed558ccdull;
  value ^= value >> 33;
  value *= 0xc4ceb9fe1a85ec53ull;
  return value ^ (value >> 33);
}

int64_t whole_seconds(double seconds) {
  constexpr double kMost = 1e9;
  return static_cast<int64_t>(std::ceil(std::clamp(seconds - kUnitTolerance, 0.0, kMost)));
}

uint64_t read_big_endian(const unsigned char* bytes, size_t size) {
  uint64_t out = 0;
  for (size_t i = 0; i < size; ++i) out = out << 8 | bytes[i];
  return out;
}

// Parses without allocating. IPv4 addresses are mapped into IPv6.
std::optional<in6_addr> parse_client_address(std::string_view text) {
  char copy[INET6_ADDRSTRLEN] = {};
  if (text.size() >= sizeof copy || text.find('\0') != std::string_view::npos) return std::nullopt;
  std::memcpy(copy, text.data(), text.size());
  in6_addr out{};
  if (::inet_pton(AF_INET6, copy, &out) == 1) return out;
  out.s6_addr[10] = out.s6_addr[11] = 0xff;
  if (::inet_pton(AF_INET, copy, &out.s6_addr[12]) == 1) return out;
  return std::nullopt;
}

}  // namespace

RateOptions rate_options(uint64_t per_s, uint64_t burst) {
  return {.per_s = static_cast<double>(per_s),
          .burst = static_cast<double>(burst > 0 ? burst : per_s * kBurstSeconds)};
}

BucketKey bucket_of_address(std::string_view address) {
  auto parsed = parse_client_address(address);
  if (!parsed) return {.high = ~uint64_t{0}, .low = ~uint64_t{0}};
  // Addresses of one family have the same upper half of `low`, which those of the other do not have.
  if (IN6_IS_ADDR_V4MAPPED(&*parsed))
    return {.high = 0, .low = uint64_t{1} << 32 | read_big_endian(parsed->s6_addr + 12, 4)};
  return {.high = read_big_endian(parsed->s6_addr, 8), .low = 0};
}

BucketKey bucket_of_id(const Id& id) {
  BucketKey out;
  std::memcpy(&out.high, id.bytes.data(), 8);
  std::memcpy(&out.low, id.bytes.data() + 8, 8);
  return out;
}

bool is_loopback_address(std::string_view address) {
  auto parsed = parse_client_address(address);
  if (!parsed) return false;
  return IN6_IS_ADDR_V4MAPPED(&*parsed) ? parsed->s6_addr[12] == 127 : IN6_IS_ADDR_LOOPBACK(&*parsed);
}

BucketTable::BucketTable(RateOptions options, size_t rows_max)
    : options_{.per_s = options.per_s, .burst = std::max(options.burst, 1.0)},
      rows_max_(std::max<size_t>(rows_max, 1)),
      seed_(random_seed()) {
  if (!is_on()) return;
  rows_.reserve(rows_max_);
  chains_.assign(std::bit_ceil(rows_max_), kNone);
}

size_t BucketTable::chain_of(const BucketKey& key) const {
  return static_cast<size_t>(mixed(mixed(key.high ^ seed_) ^ key.low));
}

uint32_t BucketTable::find(const BucketKey& key) const {
  auto index = chains_[chain_of(key) & (chains_.size() - 1)];
  while (index != kNone && rows_[index].key != key) index = rows_[index].next;
  return index;
}

void BucketTable::leave_chain(uint32_t index) {
  auto* link = &chains_[chain_of(rows_[index].key) & (chains_.size() - 1)];
  while (*link != index) link = &rows_[*link].next;
  *link = rows_[index].next;
}

void BucketTable::leave_order(uint32_t index) {
  const auto& row = rows_[index];
  (row.older == kNone ? oldest_ : rows_[row.older].newer) = row.newer;
  (row.newer == kNone ? newest_ : rows_[row.newer].older) = row.older;
}

void BucketTable::become_newest(uint32_t index) {
  auto& row = rows_[index];
  row.older = newest_;
  row.newer = kNone;
  (newest_ == kNone ? oldest_ : rows_[newest_].newer) = index;
  newest_ = index;
}

double BucketTable::units_at(const Row& row, Time now) const {
  auto elapsed = std::chrono::duration<double>(std::max(now - row.at, Time::duration::zero()));
  return std::min(options_.burst, row.units + elapsed.count() * options_.per_s);
}

// Returns the row of a key that has none. It is in its chain, but not in the order yet.
uint32_t BucketTable::make(const BucketKey& key, Time now) {
  uint32_t index;
  double units = options_.burst;
  if (rows_.size() < rows_max_) {
    index = static_cast<uint32_t>(rows_.size());
    rows_.emplace_back();
  } else {
    index = oldest_;
    units = units_at(rows_[index], now);
    leave_chain(index);
    leave_order(index);
  }
  auto& chain = chains_[chain_of(key) & (chains_.size() - 1)];
  rows_[index] = {.key = key, .units = units, .at = now, .next = chain};
  chain = index;
  return index;
}

RateState BucketTable::state_of(double units, bool admitted) const {
  RateState out;
  out.admitted = admitted;
  out.remaining = static_cast<uint64_t>(units + kUnitTolerance);
  if (out.remaining == 0)
    out.retry_after_s = std::max<int64_t>(1, whole_seconds((1 - units) / options_.per_s));
  out.full_after_s = whole_seconds((options_.burst - units) / options_.per_s);
  return out;
}

RateState BucketTable::take(const BucketKey& key, Time now) {
  SK_CHECK(is_on());
  used_.store(true, std::memory_order_relaxed);
  MutexLock lock(mutex_);
  auto index = find(key);
  if (index == kNone)
    index = make(key, now);
  else
    leave_order(index);
  become_newest(index);
  auto& row = rows_[index];
  row.units = units_at(row, now);
  row.at = std::max(row.at, now);
  bool admitted = row.units >= 1 - kUnitTolerance;
  if (admitted) row.units = std::max(row.units - 1, 0.0);
  return state_of(row.units, admitted);
}

RateState BucketTable::look(const BucketKey& key, Time now) const {
  if (!is_on()) return {};
  MutexLock lock(mutex_);
  auto index = find(key);
  double units = index == kNone ? options_.burst : units_at(rows_[index], now);
  return state_of(units, units >= 1 - kUnitTolerance);
}

size_t BucketTable::rows() const {
  MutexLock lock(mutex_);
  return rows_.size();
}

void note_rate(Request& request, std::string_view policy, const RateOptions& options,
               const RateState& state) {
  auto add = [policy](std::string& list, std::string_view first, uint64_t a, std::string_view second,
                      int64_t b) {
    if (!list.empty()) list += ", ";
    list.append("\"").append(policy).append("\";").append(first).append("=").append(std::to_string(a));
    list.append(";").append(second).append("=").append(std::to_string(b));
  };
  add(request.rate_limit_policy, "q", static_cast<uint64_t>(options.burst), "w",
      std::max<int64_t>(1, whole_seconds(options.burst / options.per_s)));
  add(request.rate_limit, "r", state.remaining, "t",
      state.remaining > 0 ? state.full_after_s : state.retry_after_s);
  if (!state.admitted) request.retry_after_s = std::max(request.retry_after_s, state.retry_after_s);
}

void count_request(Request& request, std::string_view policy, BucketTable& table, const BucketKey& key,
                   BucketTable::Time now) {
  if (!table.is_on()) return;
  auto state = table.take(key, now);
  note_rate(request, policy, table.options(), state);
  if (state.admitted) return;
  throw Error(Code::too_many_requests, "This " + std::string(policy) + " sends more requests than it may.")
      .with("limit", std::string(policy))
      .retry_in(state.retry_after_s);
}

void add_rate_headers(const Request& request, Headers& headers) {
  if (!request.rate_limit.empty()) {
    headers.set("RateLimit", request.rate_limit);
    headers.set("RateLimit-Policy", request.rate_limit_policy);
  }
  if (request.retry_after_s > 0) headers.set("Retry-After", std::to_string(request.retry_after_s));
}

}  // namespace sk::http
