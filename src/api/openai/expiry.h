// `expires_after` of containers, files and uploads: an anchor and an offset from it. Pure functions; any
// thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace sk::api::openai {

struct ExpiryRule {
  std::string anchor;  // the only accepted value
  std::string unit;    // the name of the field that holds the number
  int64_t least = 0, most = 0;
};

inline const ExpiryRule kContainerExpiry = {"last_active_at", "minutes", 1, 60 * 24 * 365};
inline const ExpiryRule kFileExpiry = {"created_at", "seconds", 3600, 2'592'000};

// Returns the number; nullopt without an object. Error(bad_request) names the field. Adds unknown fields to
// `ignored`.
std::optional<int64_t> read_expiry(const Json& value, const ExpiryRule& rule,
                                   std::vector<std::string>& ignored);

}  // namespace sk::api::openai
