// Stores many transcripts in one call. Each message succeeds or fails alone, and the answer reports each one.
#include "api/common/advice_words.h"
#include "api/rest/conversation_json.h"
#include "api/rest/new_message.h"
#include "api/rest/rest.h"
#include "base/json_reading.h"

namespace sk::api::rest {

namespace {

using http::Reply;
using workspace::Right;
namespace prefix = workspace::prefix;

const Fields& item_fields() {
  static const Fields fields =
      Fields{{.name = "conversation", .about = "The conversation, as your app calls it.", .required = true},
             {.name = "message", .about = "The message, as your app calls it.", .required = true}} +
      message_fields();
  return fields;
}

Json failure_json(const Error& error) {
  return {{"code", info(error.code()).name},
          {"message", error.message()},
          {"hint", hint_for(Audience::rest, error)}};
}

// One line of the answer.
struct Line {
  std::string conversation, name;
  std::optional<Json> error;
};

Json line_json(App& app, const workspace::Authority& home, const Line& line) {
  Json out = {{"conversation", line.conversation},
              {"message", line.name},
              {"stored", !line.error},
              {"kept", 0},
              {"missing", 0},
              {"not_captured", 0},
              {"pending", 0},
              {"error", line.error ? *line.error : Json(nullptr)}};
  if (line.error) return out;
  auto message = app.conversations.find_message(home, line.conversation, line.name);
  if (!message) return out;  // deleted meanwhile
  for (const auto& file : message->files) {
    auto& count = out[std::string(conversations::name_of(file.state))];
    count = count.get<int64_t>() + 1;
  }
  return out;
}

Reply lines_reply(App& app, const workspace::Authority& home, const std::vector<Line>& lines) {
  Json items = Json::array();
  for (const auto& line : lines) items.push_back(line_json(app, home, line));
  return Reply::json({{"items", std::move(items)}});
}

// Stores one message. Its error is reported in its own line.
Line store(Call& call, const workspace::Authority& home, const Json& item, size_t number,
           const std::optional<bridge::RemoteSource>& source, std::vector<conversations::Message>& stored) {
  Line line{text_in(item, "conversation"), text_in(item, "message"), std::nullopt};
  try {
    Body body(item_fields(), item, "messages[" + std::to_string(number) + "].");
    auto wanted = new_message_from(body, body.need_text("conversation"), body.need_text("message"), source);
    if (!wanted.time_us && !wanted.transcript.completed_us) wanted.time_us = wanted.transcript.created_us;
    stored.push_back(
        call.app.conversations.put(home, std::move(wanted), find_place_in(call.app, home.workspace_id())));
  } catch (const Error& error) {
    // Server errors, such as a full disk or quota, would affect all further messages too.
    if (error.http_status() >= 500) throw;
    line.error = failure_json(error);
  }
  return line;
}

Reply backfill(Call& call) {
  const auto& items = call.body.objects("messages");
  if (items.size() > call.app.settings.batch_operations_max) {
    throw Error(Code::too_large, "a backfill may have at most " +
                                     std::to_string(call.app.settings.batch_operations_max) + " messages");
  }
  auto name = call.body.text("workspace");
  auto home = name ? call.open_workspace(*name, Right::write)
                   : call.app.keep.workspaces().open_default(call.actor, Right::write);
  auto source = source_from(call.app, call.body);
  if (source) call.hold_connection();
  std::vector<conversations::Message> stored;
  std::vector<Line> lines;
  for (size_t i = 0; i < items.size(); ++i) lines.push_back(store(call, home, items[i], i, source, stored));
  if (!source) return lines_reply(call.app, home, lines);

  auto answer = [&app = call.app, home, lines] { return lines_reply(app, home, lines); };
  auto wait = std::chrono::seconds(call.app.settings.bridge_wait_max_s + call.app.settings.bridge_stall_s);
  auto deferred = std::make_shared<http::Deferred>(wait, answer);
  call.app.captures.start({.authority = home,
                           .messages = std::move(stored),
                           .source = std::move(*source),
                           .done = [deferred, answer] { deferred->complete(answer()); }});
  return Reply::deferred(deferred);
}

}  // namespace

void add_backfill_routes(Routes& routes) {
  routes.add(
      {.method = "POST",
       .pattern = kRoot + "/conversations",
       .id = "backfill_messages",
       .tag = "conversations",
       .summary = "Stores many messages at once, such as an existing chat history",
       .details = "Each of `messages` has `conversation`, `message` and the fields of a message; its `time` "
                  "selects the versions that its links mean. A message that cannot be stored has an `error`; "
                  "the others are stored anyway.",
       .body_kind = BodyKind::json,
       .body =
           {{.name = "messages", .type = FieldType::object_list, .about = "The messages.", .required = true},
            {.name = "workspace", .about = "The workspace's id or name. Default: your default workspace."},
            source_field()},
       .answers = {{200, "The result of each message, in order.", "BackfillResult"}},
       .errors = {Code::forbidden, Code::not_found, Code::too_large, Code::too_many_requests,
                  Code::quota_exceeded},
       .body_bytes_max = routes.app().settings.message_bytes_max},
      backfill);
}

}  // namespace sk::api::rest
