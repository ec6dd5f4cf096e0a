#include "api/mcp/turn.h"

#include <algorithm>
#include <array>

namespace sk::api::mcp {

std::optional<int> log_level_number(std::string_view name) {
  constexpr std::array kLevels = {"debug", "info",     "notice", "warning",
                                  "error", "critical", "alert",  "emergency"};
  auto found = std::find(kLevels.begin(), kLevels.end(), name);
  if (found == kLevels.end()) return std::nullopt;
  return static_cast<int>(found - kLevels.begin());
}

Json Envelope::wrap(Json result) const {
  if (era == Era::modern) {
    if (!result.contains("resultType")) result["resultType"] = "complete";
    result["_meta"]["io.modelcontextprotocol/serverInfo"] = server_info;
  }
  return result_message(id, std::move(result));
}

bool Turn::wants_log(int level) const {
  std::optional<int> least;
  if (session) least = session->log_level();
  if (era == Era::modern) {
    const auto& name = field_in(meta(), "io.modelcontextprotocol/logLevel");
    if (name.is_string()) least = log_level_number(name.get<std::string>());
  }
  return least && level >= *least;
}

std::shared_ptr<Channel> Turn::open_channel(std::function<void()> cancel) {
  SK_CHECK(!reply.has_value());
  call.hold_connection();
  if (session) session->set_running(message.id, cancel);
  if (session && takes_events) {
    auto opened = session->open_stream(message.id);
    reply = std::move(opened.reply);
    return opened.channel;
  }
  if (era == Era::legacy) cancel = {};
  if (takes_events) {
    auto channel = std::make_shared<EventChannel>(std::move(cancel));
    reply = channel->reply();
    return channel;
  }
  auto channel = std::make_shared<JsonChannel>(std::move(cancel));
  reply = channel->reply();
  return channel;
}

}  // namespace sk::api::mcp
