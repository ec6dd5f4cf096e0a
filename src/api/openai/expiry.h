// `expires_after`, as containers, files and uploads have it: an anchor and a time from there on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace sk::api::openai {

struct ExpiryRule {
  std::string anchor;  // the only one that is accepted
  std::string unit;    // the field with the number
  int64_t least = 0, most = 0;
};

inline const ExpiryRule kContainerExpiry = {"last_active_at", "minutes", 1, 60 * 24 * 365};
inline const ExpiryRule kFileExpiry = {"created_at", "seconds", 3600, 2'592'000};

// The number, nullopt for no object. Error(bad_request) that names the field; unknown fields go to `ignored`.
std::optional<int64_t> read_expiry(const Json& value, const ExpiryRule& rule,
                                   std::vector<std::string>& ignored);

}  // namespace sk::api::openai
