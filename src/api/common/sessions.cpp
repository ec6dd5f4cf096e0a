#include "api/common/sessions.h"

#include <algorithm>

namespace sk::api {

namespace {
constexpr size_t kSessionsMax = 10'000;
constexpr int64_t kIdleUs = 12 * 3600 * kSecondUs;
constexpr int64_t kLifeUs = 7 * 86'400 * kSecondUs;
}  // namespace

std::string Sessions::start(std::string secret) {
  auto token = random_base64url(32);
  auto now_us = clock_.now_us();
  MutexLock lock(mutex_);
  if (by_token_.size() >= kSessionsMax) {
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

std::optional<Sessions::Session> Sessions::find(std::string_view token) {
  auto now_us = clock_.now_us();
  MutexLock lock(mutex_);
  auto found = by_token_.find(sha256(token));
  if (found == by_token_.end()) return std::nullopt;
  auto& session = found->second;
  if (now_us - session.used_us > kIdleUs || now_us - session.started_us > kLifeUs) {
    by_token_.erase(found);
    return std::nullopt;
  }
  session.used_us = now_us;
  return session;
}

void Sessions::end(std::string_view token) {
  MutexLock lock(mutex_);
  by_token_.erase(sha256(token));
}

}  // namespace sk::api
