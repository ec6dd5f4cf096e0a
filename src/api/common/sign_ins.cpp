#include "api/common/sign_ins.h"

#include <algorithm>

namespace sk::api {

namespace {
constexpr size_t kSignInsMax = 10'000;
constexpr int64_t kIdleUs = 12 * 3600 * kSecondUs;
constexpr int64_t kLifeUs = 7 * 86'400 * kSecondUs;
}  // namespace

std::string SignIns::start(std::string secret) {
  auto token = random_base64url(32);
  auto now_us = clock_.now_us();
  MutexLock lock(mutex_);
  if (by_token_.size() >= kSignInsMax) {
    by_token_.erase(std::min_element(by_token_.begin(), by_token_.end(), [](const auto& a, const auto& b) {
      return a.second.used_us < b.second.used_us;
    }));
  }
  by_token_[sha256(token)] = {.secret = std::move(secret),
                              .form_token = random_base64url(24),
                              .started_us = now_us,
                              .used_us = now_us};
  return token;
}

std::optional<SignIns::SignIn> SignIns::find(std::string_view token) {
  auto now_us = clock_.now_us();
  MutexLock lock(mutex_);
  auto found = by_token_.find(sha256(token));
  if (found == by_token_.end()) return std::nullopt;
  auto& one = found->second;
  if (now_us - one.used_us > kIdleUs || now_us - one.started_us > kLifeUs) {
    by_token_.erase(found);
    return std::nullopt;
  }
  one.used_us = now_us;
  return one;
}

void SignIns::end(std::string_view token) {
  MutexLock lock(mutex_);
  by_token_.erase(sha256(token));
}

}  // namespace sk::api
