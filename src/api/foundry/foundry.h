// Microsoft Foundry's dialect: OpenAI's API under a project's paths, with Foundry's limits.
#pragma once

#include <vector>

#include "api/settings.h"
#include "api/vendor/openai_mount.h"

namespace sk::api::foundry {

// Returns all mount points at which Foundry's clients look for OpenAI's API.
std::vector<OpenAiMount> mounts(const DialectSettings& settings);

}  // namespace sk::api::foundry
