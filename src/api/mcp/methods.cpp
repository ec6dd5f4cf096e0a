#include "api/mcp/methods.h"

#include <algorithm>

#include "api/mcp/hub.h"
#include "api/mcp/prompts.h"
#include "api/mcp/resources.h"
#include "api/mcp/schema.h"

namespace sk::api::mcp {

namespace {

// How long a modern client may cache a list. Lists of tools and prompts change only with the program. Files
// change at any time and differ between users.
constexpr int64_t kStableTtlMs = 3'600'000;
constexpr size_t kCapabilitiesBytesMax = 16 << 10;

std::optional<Json> list_tools(Turn& turn) {
  if (!field_in(turn.params(), "cursor").is_null())
    throw RpcError(rpc_code::invalid_params, "the cursor is not valid");
  return Json{{"tools", turn.hub.list_tools(turn.call.actor, turn.version)}};
}

std::optional<Json> call_tool(Turn& turn) {
  auto name = need_text(turn.params(), "name");
  const auto* tool = turn.hub.find_tool(name, turn.call.actor);
  if (tool == nullptr)
    throw RpcError(rpc_code::invalid_params, "there is no tool with that name for this key");
  if (turn.era == Era::legacy && turn.params().contains("task") && !tool->has_tasks)
    throw RpcError(rpc_code::method_not_found, "this tool cannot run as a task");
  static const Json none = Json::object();
  const auto& given = field_in(turn.params(), "arguments");
  const auto& arguments = given.is_null() ? none : given;
  if (auto problem = find_violation(tool->input_schema(), arguments)) {
    if (arguments.is_object() && arguments.contains("url") && name == "upload")
      return failed("bad_request", "this server fetches nothing from other addresses",
                    "Download it on your side, then use the curl line of upload, or write_file.")
          .to_json();
    return failed("bad_request", *problem, "See the tool's inputSchema.").to_json();
  }
  ToolCall call(turn, arguments);
  try {
    auto result = tool->run(call);
    return result ? std::optional(result->to_json()) : std::nullopt;
  } catch (const Error& error) {
    turn.call.note_denied(error);
    return failed(error).to_json();
  }
}

std::optional<Json> set_log_level(Turn& turn) {
  auto level = log_level_number(need_text(turn.params(), "level"));
  if (!level) throw RpcError(rpc_code::invalid_params, "params.level must be one of debug … emergency");
  if (turn.session) turn.session->set_log_level(*level);
  return Json::object();
}

std::optional<Json> discover(Turn& turn) {
  Json versions = Json::array({kModernVersion});
  for (auto version : kLegacyVersions) versions.push_back(version);
  return Json{{"supportedVersions", std::move(versions)},
              {"capabilities", turn.hub.capabilities(turn.era, turn.version)},
              {"instructions", turn.hub.offer.instructions}};
}

// Returns how long a client may cache the result of a method; nullopt when it must not.
std::optional<int64_t> cache_ttl_ms(std::string_view method) {
  if (method == "server/discover" || method == "tools/list" || method == "prompts/list" ||
      method == "resources/templates/list")
    return kStableTtlMs;
  if (method == "resources/list" || method == "resources/read") return 0;
  return std::nullopt;
}

enum class In { both, legacy, modern };
struct Method {
  std::string_view name;
  In era;
  bool needs_resources;  // unavailable on servers that only have tools
  bool needs_session;
  std::optional<Json> (*run)(Turn&);
};

std::optional<Json> ping(Turn&) { return Json::object(); }

constexpr Method kMethods[] = {
    {"ping", In::legacy, false, false, ping},
    {"server/discover", In::modern, false, false, discover},
    {"tools/list", In::both, false, false, list_tools},
    {"tools/call", In::both, false, false, call_tool},
    {"resources/list", In::both, true, false, list_resources},
    {"resources/templates/list", In::both, true, false, list_templates},
    {"resources/read", In::both, true, false, read_resource},
    {"resources/subscribe", In::legacy, true, true, subscribe_resource},
    {"resources/unsubscribe", In::legacy, true, true, unsubscribe_resource},
    {"subscriptions/listen", In::modern, true, false, listen},
    {"prompts/list", In::both, true, false, list_prompts},
    {"prompts/get", In::both, true, false, get_prompt},
    {"completion/complete", In::both, true, false, complete},
    {"logging/setLevel", In::legacy, true, true, set_log_level},
    {"tasks/get", In::both, true, false, get_task},
    {"tasks/result", In::legacy, true, false, task_result},
    {"tasks/list", In::legacy, true, false, list_tasks},
    {"tasks/cancel", In::both, true, false, cancel_task},
    {"tasks/update", In::modern, true, false, update_task},
};

bool fits(const Method& method, const Turn& turn) {
  if (method.name != turn.message.method) return false;
  if (method.needs_resources && !turn.hub.offer.has_resources) return false;
  if (method.needs_session && !turn.session) return false;
  if (method.era == In::both) return true;
  return (method.era == In::modern) == (turn.era == Era::modern);
}

}  // namespace

std::optional<Json> dispatch(Turn& turn) {
  auto found = std::find_if(std::begin(kMethods), std::end(kMethods),
                            [&](const Method& method) { return fits(method, turn); });
  if (found == std::end(kMethods))
    throw RpcError(rpc_code::method_not_found, "this server does not have that method", nullptr, 404);
  auto result = found->run(turn);
  if (result && turn.era == Era::modern) {
    if (auto ttl_ms = cache_ttl_ms(found->name)) {
      (*result)["ttlMs"] = *ttl_ms;
      (*result)["cacheScope"] = "private";  // results differ between keys
    }
  }
  return result;
}

void notified(Turn& turn) {
  if (!turn.session) return;
  if (turn.message.method == "notifications/cancelled") {
    const auto& id = field_in(turn.params(), "requestId");
    if (!id.is_null()) turn.session->cancel(id);
  }
}

Json initialize(Turn& turn) {
  auto wanted = need_text(turn.params(), "protocolVersion");
  const auto& capabilities = field_in(turn.params(), "capabilities");
  bool known =
      std::find(std::begin(kLegacyVersions), std::end(kLegacyVersions), wanted) != std::end(kLegacyVersions);
  turn.version = known ? wanted : std::string(kNewestLegacyVersion);
  if (!turn.hub.offer.has_sessions) {
    turn.version = "2025-03-26";
  } else {
    if (to_text(capabilities).size() > kCapabilitiesBytesMax)
      throw RpcError(rpc_code::invalid_params, "params.capabilities has more than 16 KiB", nullptr, 400);
    turn.session = turn.hub.sessions.create(
        owner_of(turn.call.actor),
        {.version = turn.version, .capabilities = capabilities.is_object() ? capabilities : Json::object()});
    turn.session->end_with_key(turn.call.app.keep.revocations(), turn.call.actor, turn.call.checked);
  }
  return {{"protocolVersion", turn.version},
          {"capabilities", turn.hub.capabilities(Era::legacy, turn.version)},
          {"serverInfo", turn.hub.server_info()},
          {"instructions", turn.hub.offer.instructions}};
}

}  // namespace sk::api::mcp
