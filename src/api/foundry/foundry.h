// Microsoft Foundry's dialect: OpenAI's API under a project's addresses, with Foundry's own limits.
#pragma once

#include <vector>

#include "api/settings.h"
#include "api/vendor/openai_mount.h"

namespace sk::api::foundry {

// All places where Foundry's clients look for OpenAI's API.
std::vector<OpenAiMount> mounts(const Settings& settings);

}  // namespace sk::api::foundry
