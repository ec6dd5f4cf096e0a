// Where OpenAI's API is mounted and what is particular there: at /v1, and wherever Foundry has it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace sk::api {

struct OpenAiMount {
  std::string prefix;  // such as "/v1"; may have parameters, which are not looked at
  std::string tag;     // names the mount in operation ids
  // For new containers that say nothing themselves.
  std::optional<int64_t> idle_s = {};  // unset: the server's default
  int64_t awake_max_s = 0;
  // Whether a container's file may be asked for by its name where its id belongs.
  bool files_by_name = false;
};

}  // namespace sk::api
