#include "api/common/sign_ins.h"

namespace sk::api {

namespace {
constexpr int64_t kIdleUs = 12 * 3600 * kSecondUs;
constexpr int64_t kLifeUs = 7 * 86'400 * kSecondUs;
}  // namespace

std::string SignIns::start(const Id& principal, std::string secret) {
  auto token = random_base64url(32);
  auto hash = sha256(token);
  auto now_us = clock_.now_us();
  MutexLock lock(mutex_);
  if (auto leaving = shares_.add(principal, hash)) by_token_.erase(*leaving);
  by_token_[hash] = {.secret = std::move(secret),
                     .form_token = random_base64url(24),
                     .started_us = now_us,
                     .used_us = now_us};
  return token;
}

std::optional<SignIns::SignIn> SignIns::find(std::string_view token) {
  auto now_us = clock_.now_us();
  MutexLock lock(mutex_);
  auto hash = sha256(token);
  auto found = by_token_.find(hash);
  if (found == by_token_.end()) return std::nullopt;
  auto& one = found->second;
  if (now_us - one.used_us > kIdleUs || now_us - one.started_us > kLifeUs) {
    by_token_.erase(found);
    shares_.remove(hash);
    return std::nullopt;
  }
  one.used_us = now_us;
  shares_.touch(hash);
  return one;
}

void SignIns::end(std::string_view token) {
  auto hash = sha256(token);
  MutexLock lock(mutex_);
  by_token_.erase(hash);
  shares_.remove(hash);
}

}  // namespace sk::api
