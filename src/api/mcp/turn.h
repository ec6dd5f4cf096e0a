// One request of a client on its way through this dialect: which era of the protocol it speaks, who asks,
// what was asked, and where the answer goes.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "api/common/call.h"
#include "api/mcp/channel.h"
#include "api/mcp/jsonrpc.h"
#include "api/mcp/legacy_session.h"

namespace sk::api::mcp {

class Hub;

inline constexpr std::string_view kModernVersion = "2026-07-28";
inline constexpr std::string_view kNewestLegacyVersion = "2025-11-25";
inline constexpr std::string_view kLegacyVersions[] = {"2025-11-25", "2025-06-18", "2025-03-26",
                                                       "2024-11-05"};

// `legacy`: begins with initialize, until 2025-11-25. `modern`: every request stands alone, from 2026-07-28.
enum class Era { legacy, modern };

// What an answer needs of its request; outlives it.
struct Envelope {
  Json id;
  Era era = Era::legacy;
  Json server_info;

  // The result as a whole message, with what the era adds to every result.
  Json wrap(Json result) const;
};

// Lives as long as the HTTP request's handler; one thread at a time. What answers later copies what it needs.
struct Turn {
  Call& call;  // who asks, for the domain and the access log
  Hub& hub;
  Era era = Era::legacy;
  std::string version = {};
  Message message = {};
  Json capabilities = Json::object();           // the client's
  std::shared_ptr<LegacySession> session = {};  // null for modern requests, and at /azure/mcp
  bool takes_events = true;                     // by Accept
  Envelope envelope = {};

  const Json& params() const { return message.params; }
  const Json& meta() const { return member(message.params, "_meta"); }
  // null when the client wants no progress.
  const Json& progress_token() const { return member(meta(), "progressToken"); }
  // Whether log notifications of that level (0 debug … 7 emergency) are wanted.
  bool wants_log(int level) const;
  bool client_can(std::string_view capability) const {
    return capabilities.contains(std::string(capability));
  }

  // For an answer that comes later; at most once. `cancel` runs when a modern client leaves before it, and
  // when a legacy client says so; one that merely leaves may come back.
  std::shared_ptr<Channel> open_channel(std::function<void()> cancel);
  std::optional<http::Reply> reply = {};  // set by open_channel
};

// debug … emergency as 0 … 7; nullopt for any other text.
std::optional<int> log_level_number(std::string_view name);

}  // namespace sk::api::mcp
