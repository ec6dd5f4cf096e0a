// A mount point of OpenAI's API with its options: /v1, and the paths that Foundry uses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace sk::api {

struct OpenAiMount {
  std::string prefix;  // such as "/v1"; may have parameters, which are ignored
  std::string tag;     // identifies the mount in operation ids
  // Defaults for new containers.
  std::optional<int64_t> idle_s = {};  // unset: the server's default
  int64_t awake_max_s = 0;
  // Whether a container file may be requested by name in place of its id.
  bool files_by_name = false;
};

}  // namespace sk::api
