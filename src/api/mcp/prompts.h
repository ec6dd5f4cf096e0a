// Prompts: templates that a person selects in a client, about stored files and sessions. Any thread.
#pragma once

#include <optional>

#include "api/mcp/turn.h"

namespace sk::api::mcp {

// prompts/list and prompts/get.
std::optional<Json> list_prompts(Turn& turn);
std::optional<Json> get_prompt(Turn& turn);

}  // namespace sk::api::mcp
