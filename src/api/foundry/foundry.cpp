#include "api/foundry/foundry.h"

namespace sk::api::foundry {

namespace {

// What Foundry gives a session: an hour of activity, and half an hour without any. Whoever tests an app here
// meets the same limits as there; the files stay all the same.
constexpr int64_t kAwakeMaxS = 60 * 60;
constexpr int64_t kIdleS = 30 * 60;

OpenAiMount mount_at(std::string prefix, std::string tag) {
  return {.prefix = std::move(prefix),
          .tag = std::move(tag),
          .idle_s = kIdleS,
          .awake_max_s = kAwakeMaxS,
          .files_by_name = true};
}

}  // namespace

std::vector<OpenAiMount> mounts() {
  return {
      // The resource itself, as with Azure OpenAI: current, and with the api-version of before.
      mount_at("/openai/v1", "resource"),
      mount_at("/openai", "resource_dated"),
      // A project: what AIProjectClient.getOpenAIClient() calls, without and with the name of an agent.
      mount_at("/api/projects/{project}/openai/v1", "project"),
      mount_at("/api/projects/{project}/agents/{agent}/endpoint/protocols/openai", "agent"),
      // A toolbox names containers and files right below the project.
      mount_at("/api/projects/{project}", "toolbox"),
  };
}

}  // namespace sk::api::foundry
