// One request of a client: the era of the protocol, the actor, the message, and the destination of the
// answer.
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

// The parts of a request that its answer needs; outlives the request.
struct Envelope {
  Json id;
  Era era = Era::legacy;
  Json server_info;

  // Returns the result as a complete message, with the fields that the era adds to every result.
  Json wrap(Json result) const;
};

// Lives as long as the handler of the HTTP request; one thread at a time. Code that answers later copies the
// parts it needs.
struct Turn {
  Call& call;  // the actor, for the domain and the access log
  Hub& hub;
  Era era = Era::legacy;
  std::string version = {};
  RpcMessage message = {};
  Json capabilities = Json::object();           // the client's
  std::shared_ptr<LegacySession> session = {};  // null for modern requests, and at /azure/mcp
  bool takes_events = true;                     // according to Accept
  Envelope envelope = {};

  const Json& params() const { return message.params; }
  const Json& meta() const { return field_in(message.params, "_meta"); }
  // Returns null when the client wants no progress notifications.
  const Json& progress_token() const { return field_in(meta(), "progressToken"); }
  // Returns whether the client wants log notifications of that level (0 debug … 7 emergency).
  bool wants_log(int level) const;
  bool client_can(std::string_view capability) const {
    return capabilities.contains(std::string(capability));
  }

  // Opens a channel for a later answer; call at most once. `cancel` runs when a modern client disconnects
  // before the answer, or when a legacy client cancels. A legacy client that only disconnects may resume.
  // `cancel` runs on any thread, possibly before open_channel() returns. Throws like Call::hold_connection();
  // a tool that starts work calls that first.
  std::shared_ptr<Channel> open_channel(std::function<void()> cancel);
  std::optional<http::Reply> reply = {};  // set by open_channel
};

// Maps debug … emergency to 0 … 7; nullopt for other text.
std::optional<int> log_level_number(std::string_view name);

}  // namespace sk::api::mcp
