#include "api/vendor/ignored.h"

#include "base/text.h"

namespace sk::api {

void add_ignored(http::Reply& reply, const std::vector<std::string>& names) {
  constexpr size_t kBytesMax = 1024;
  std::string value;
  for (const auto& name : names) {
    auto encoded = percent_encode(name);
    if (value.size() + encoded.size() > kBytesMax) {
      value += value.empty() ? "..." : ", ...";
      break;
    }
    value += (value.empty() ? "" : ", ") + encoded;
  }
  if (!value.empty()) reply.headers.set("X-Sandkeep-Ignored", value);
}

}  // namespace sk::api
