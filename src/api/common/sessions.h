// Who is signed in to the page: opaque tokens in cookies, known to this process only. A restart signs
// everybody out.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/clock.h"
#include "base/hash.h"

namespace sk::api {

// Any thread.
class Sessions {
 public:
  explicit Sessions(const Clock& clock) : clock_(clock) {}

  struct Session {
    std::string secret;  // the key, kept in memory only, so that every request asks whether it is still valid
    std::string form_token;  // stands in every form of the page; a form without it was not made by us
    TimeUs started_us = 0;
    TimeUs used_us = 0;
  };

  // The token for the cookie. Over the limit of sessions the one longest unused ends.
  std::string start(std::string secret);
  // nullopt when unknown, unused for 12 hours or older than 7 days.
  std::optional<Session> find(std::string_view token);
  void end(std::string_view token);

 private:
  const Clock& clock_;
  std::mutex mutex_;
  std::unordered_map<Sha256, Session>
      by_token_;  // guarded by mutex_; by hash, so that a look-up's timing tells nothing
};

}  // namespace sk::api
