// Prompts: beginnings that a person picks in a client, about files and sessions that are here.
#pragma once

#include <optional>

#include "api/mcp/turn.h"

namespace sk::api::mcp {

// prompts/list and prompts/get.
std::optional<Json> list_prompts(Turn& turn);
std::optional<Json> get_prompt(Turn& turn);

}  // namespace sk::api::mcp
