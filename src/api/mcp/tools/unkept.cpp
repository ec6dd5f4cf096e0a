// session_unkept: lists files that a session could not keep, and retries them.
#include <atomic>

#include "api/common/need_interpreter.h"
#include "api/mcp/tool.h"
#include "workspace/links.h"

namespace sk::api::mcp {

namespace {

using interpreter::Interpreter;
namespace prefix = workspace::prefix;

constexpr size_t kItemsMax = 100;

ToolResult unkept_result(const workspace::Page<interpreter::Unkept>& page, const std::string& base_url) {
  ToolResult result;
  Json items = Json::array();
  for (const auto& item : page.items) {
    Json one = {{"path", item.path},
                {"what", interpreter::name_of(item.what)},
                {"reason", interpreter::name_of(item.reason)},
                {"message", item.message},
                {"only_copy", item.only_copy}};
    result.text.append("- ").append(interpreter::name_of(item.what)).append(" ");
    if (item.version) {
      one["version_id"] = item.version.with_prefix(prefix::version);
      one["link"] = base_url + workspace::Links::path_of(item.version, item.path);
      result.text.append(markdown_link(item.version, item.path, base_url)).append(" ");
      result.text.append(item.version.with_prefix(prefix::version));
    } else {
      result.text.append(as_code(item.path));
    }
    result.text.append(": ").append(item.message).append("\n");
    items.push_back(std::move(one));
  }
  if (items.empty()) result.text = "Everything is kept.\n";
  if (page.has_more) result.text.append("- … and more\n");
  result.structured = {{"unkept", std::move(items)}, {"has_more", page.has_more}};
  return result;
}

ToolResult retried_result(const Interpreter::Retried& retried,
                          const workspace::Page<interpreter::Unkept>& left, const std::string& base_url) {
  auto result = unkept_result(left, base_url);
  result.text = "Settled " + std::to_string(retried.settled) + ", " + std::to_string(retried.remaining) +
                " remain.\n" + result.text;
  result.structured["settled"] = retried.settled;
  result.structured["remaining"] = retried.remaining;
  return result;
}

// Answers in the turn's channel after the session's files were compared.
void retry(ToolCall& call, const Id& session) {
  auto& interpreter = need_interpreter(call.app());
  auto& turn = call.turn;
  auto authority = session_authority(call.app(), call.actor(), session);
  turn.call.hold_connection();
  auto retrying = interpreter.retry_unkept(authority, session);
  // The work finishes even when the client disconnects; only the answer is dropped.
  auto cancelled = std::make_shared<std::atomic<bool>>(false);
  auto channel = turn.open_channel([cancelled] { *cancelled = true; });
  retrying.then([channel, cancelled, session, &app = call.app(), authority, base_url = call.base_url(),
                 envelope = turn.envelope, client = turn.session](Result<Interpreter::Retried> retried) {
    if (client) client->forget_running(envelope.id);
    if (*cancelled) return channel->abandon();
    auto result = result_of<ToolResult>([&] {
      return retried_result(retried.take(), session_directory(app).unkept(authority, session, "", kItemsMax),
                            base_url);
    });
    channel->finish(envelope.wrap((result.error() ? failed(*result.error()) : result.take()).to_json()));
  });
}

std::optional<ToolResult> session_unkept(ToolCall& call) {
  auto wanted = call.need_text("session");
  auto id = Id::from_prefixed(wanted, prefix::session);
  if (!id)
    throw Error(Code::bad_request, "'session' must be an id (s_…)").hint("Use list_sessions to see the ids.");
  if (!call.flag("retry"))
    return unkept_result(session_directory(call.app())
                             .unkept(session_authority(call.app(), call.actor(), *id), *id, "", kItemsMax),
                         call.base_url());
  retry(call, *id);
  return std::nullopt;
}

}  // namespace

Tools unkept_tools() {
  return {
      {.name = "session_unkept",
       .title = "List or retry unkept files",
       .about =
           "Lists files that a session could not store in the workspace because of a quota, a lock or an "
           "invalid name, or that were recovered after a power cut. `retry` tries to keep them again.",
       .input = {{"session", field::text("An id (s_…).")}, {"retry", field::flag("Try again to keep them.")}},
       .required = {"session"},
       .output = {{"unkept", field::list_of({"path", "what", "reason", "message"})},
                  {"settled", field::any("integer")},
                  {"remaining", field::any("integer")}},
       .repeatable = true,
       .runs_code = true,
       .run = session_unkept},
  };
}

}  // namespace sk::api::mcp
