#include "base/environment.h"

#include <unistd.h>

#include <string_view>

namespace sk {

Environment process_environment() {
  Environment out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    std::string_view text = *entry;
    auto equals = text.find('=');
    if (equals != std::string_view::npos) out.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return out;
}

}  // namespace sk
