#include "api/foundry/foundry.h"

namespace sk::api::foundry {

std::vector<OpenAiMount> mounts(const DialectSettings& settings) {
  // Uses Foundry's limits, so that tests against this server meet them too. The files remain regardless.
  auto mount_at = [&](std::string prefix, std::string tag) {
    return OpenAiMount{.prefix = std::move(prefix),
                       .tag = std::move(tag),
                       .idle_s = settings.foundry_idle_s,
                       .awake_max_s = settings.foundry_awake_max_s,
                       .files_by_name = true};
  };
  return {
      // The resource itself, as with Azure OpenAI: the current path, and the older one with api-version.
      mount_at("/openai/v1", "resource"),
      mount_at("/openai", "resource_dated"),
      // A project, as AIProjectClient.getOpenAIClient() calls it, without and with the name of an agent.
      mount_at("/api/projects/{project}/openai/v1", "project"),
      mount_at("/api/projects/{project}/agents/{agent}/endpoint/protocols/openai", "agent"),
      // A toolbox addresses containers and files directly below the project.
      mount_at("/api/projects/{project}", "toolbox"),
  };
}

}  // namespace sk::api::foundry
