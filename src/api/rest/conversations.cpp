// Conversations: an app stores its messages and reads them back with permanent links.
#include "api/common/shapes.h"
#include "api/rest/conversation_json.h"
#include "api/rest/errors.h"
#include "api/rest/new_message.h"
#include "api/rest/rest.h"
#include "base/path.h"

namespace sk::api::rest {

namespace {

using http::Reply;
using workspace::Right;
namespace prefix = workspace::prefix;

const std::string kConversations = kRoot + "/conversations";
const std::string kConversation = kConversations + "/{conversation}";
const std::string kMessages = kConversation + "/messages";
const std::string kMessage = kMessages + "/{message}";

Field workspace_field() {
  return {.name = "workspace", .about = "The workspace's id or name. Default: your default workspace."};
}

Fields view_fields() {
  return {workspace_field(),
          {.name = "links",
           .about = "`private` links need a key; `signed` links need none. Default: `private`.",
           .choices = {"private", "signed"}}};
}

workspace::Authority open_home(Call& call, Right right) {
  auto name = call.query.text("workspace");
  if (name) return call.open_workspace(*name, right);
  auto home = call.app.keep.workspaces().open_default(call.actor, Right::read);
  return call.open_workspace(home.workspace_id().with_prefix(prefix::workspace), right);
}

MessageView view_of(const Call& call) {
  return {call.app, call.actor, call.request.base_url,
          call.query.text("links") == "signed" ? LinkStyle::is_signed : LinkStyle::needs_key};
}

conversations::Conversation need_conversation(Call& call, const workspace::Authority& home) {
  const auto& name = call.request.param("conversation");
  auto found = call.app.conversations.find(home, name);
  if (!found)
    throw Error(Code::not_found, "there is no conversation '" + name + "'")
        .hint("List a workspace's conversations: GET /api/v1/conversations.");
  return *found;
}

conversations::Message need_message(App& app, const workspace::Authority& home,
                                    const std::string& conversation, const std::string& name) {
  auto found = app.conversations.find_message(home, conversation, name);
  if (!found)
    throw Error(Code::not_found,
                "there is no message '" + name + "' in the conversation '" + conversation + "'")
        .hint("List the conversation's messages: GET …/messages.");
  return *found;
}

bool has_pending(const conversations::Message& message) {
  for (const auto& file : message.files) {
    if (file.state == conversations::ShownState::pending) return true;
  }
  return false;
}

// Returns a deferred reply that completes when every file was fetched or given up; no thread waits. Fetching
// continues when the client disconnects.
Reply capture_and_reply(Call& call, const workspace::Authority& home, conversations::Message message,
                        bridge::RemoteSource source) {
  auto view = view_of(call);
  auto answer = [view, home, conversation = message.conversation_name, name = message.name] {
    return Reply::json(message_json(view, need_message(view.app, home, conversation, name)));
  };
  http::Request request;  // the part that an error reply needs
  request.request_id = call.request.request_id;
  request.path = call.request.path;
  auto guarded = [answer, request] {
    try {
      return answer();
    } catch (const Error& error) {
      return error_reply(request, error);
    }
  };
  auto wait = std::chrono::seconds(call.app.settings.bridge_wait_max_s + call.app.settings.bridge_stall_s);
  auto deferred = std::make_shared<http::Deferred>(wait, guarded);
  call.app.captures.start({.authority = home,
                           .messages = {std::move(message)},
                           .source = std::move(source),
                           .done = [deferred, guarded] { deferred->complete(guarded()); }});
  return Reply::deferred(deferred);
}

Reply put_message(Call& call) {
  auto home = open_home(call, Right::write);
  auto source = source_from(call.app, call.body);
  if (source) call.hold_connection();
  auto wanted =
      new_message_from(call.body, call.request.param("conversation"), call.request.param("message"), source);
  auto message =
      call.app.conversations.put(home, std::move(wanted), find_place_in(call.app, home.workspace_id()));
  if (source && has_pending(message))
    return capture_and_reply(call, home, std::move(message), std::move(*source));
  return Reply::json(message_json(view_of(call), message));
}

Reply get_message(Call& call) {
  auto home = open_home(call, Right::read);
  auto message =
      need_message(call.app, home, call.request.param("conversation"), call.request.param("message"));
  call.note("read", "message " + message.conversation_name + "/" + message.name);
  return Reply::json(message_json(view_of(call), message));
}

Reply list_messages(Call& call) {
  auto home = open_home(call, Right::read);
  auto conversation = need_conversation(call, home);
  auto page = call.app.conversations.messages(home, conversation, call.query.text("cursor").value_or(""),
                                              call.limit(100));
  call.note("list", "messages of " + conversation.name);
  auto view = view_of(call);
  return Reply::json(
      page_json(page, [&](const conversations::Message& message) { return message_json(view, message); }));
}

// Filters by the file that `file_id`, `path` or `version` names.
conversations::ConversationFilter filter_of(Call& call, const workspace::Authority& home) {
  conversations::ConversationFilter out;
  auto file = call.query.text("file_id"), path = call.query.text("path"),
       version = call.query.text("version");
  if (file.has_value() + path.has_value() + version.has_value() > 1)
    throw Error(Code::bad_request, "pass one of 'file_id', 'path' and 'version'");
  if (file) out.file = parse_id(*file, prefix::file, "file_id");
  if (version) out.version = parse_id(*version, prefix::version, "version");
  if (path) out.file = call.app.keep.files().get(home, clean_file_path(*path)).id;
  return out;
}

Reply list_conversations(Call& call) {
  auto home = open_home(call, Right::read);
  auto page = call.app.conversations.list(home, filter_of(call, home), call.query.text("cursor").value_or(""),
                                          call.limit(call.app.settings.list_page_max));
  call.note("list", "conversations");
  return Reply::json(page_json(page, conversation_json));
}

Reply delete_message(Call& call) {
  auto home = open_home(call, Right::write);
  call.app.conversations.remove_message(home, call.request.param("conversation"),
                                        call.request.param("message"));
  return Reply::empty();
}

Reply delete_conversation(Call& call) {
  auto home = open_home(call, Right::write);
  call.app.conversations.remove(home, call.request.param("conversation"));
  return Reply::empty();
}

void add_message_routes(Routes& routes, uint64_t body_bytes_max) {
  routes.add(
      {.method = "PUT",
       .pattern = kMessage,
       .id = "put_message",
       .tag = "conversations",
       .summary = "Stores a message, and returns it with every file resolved",
       .details = "Links to `sandbox:/mnt/data/…` in any spelling, citations and images become stored "
                  "versions, as of the time of the message. Unresolved files are listed under `problems`: "
                  "`missing`, or `not_captured` with a reason (`gone`, `denied`, `cannot_tell`). Storing a "
                  "message again under its name replaces its text; files stored for it stay.",
       .query = view_fields(),
       .body_kind = BodyKind::json,
       .body = message_fields() + Fields{source_field()},
       .answers = {{200, "The message.", "Message"}},
       .errors = {Code::forbidden, Code::not_found, Code::conflict, Code::too_large, Code::too_many_requests,
                  Code::quota_exceeded},
       .body_bytes_max = body_bytes_max},
      put_message);
  routes.add({.method = "GET",
              .pattern = kMessage,
              .id = "get_message",
              .tag = "conversations",
              .summary = "Returns one message, with the current state of its files",
              .query = view_fields(),
              .answers = {{200, "The message.", "Message"}},
              .errors = {Code::not_found}},
             get_message);
  routes.add({.method = "DELETE",
              .pattern = kMessage,
              .id = "delete_message",
              .tag = "conversations",
              .summary = "Deletes a message; its files stay",
              .query = {workspace_field()},
              .answers = {{204, "It is deleted."}},
              .errors = {Code::forbidden, Code::not_found}},
             delete_message);
  routes.add({.method = "GET",
              .pattern = kMessages,
              .id = "list_messages",
              .tag = "conversations",
              .summary = "Lists a conversation's messages, oldest first",
              .query = view_fields() + page_fields(),
              .answers = {{200, "The messages.", "MessagePage"}},
              .errors = {Code::not_found}},
             list_messages);
}

}  // namespace

void add_conversation_routes(Routes& routes) {
  add_message_routes(routes, routes.app().settings.message_bytes_max);
  routes.add(
      {.method = "GET",
       .pattern = kConversations,
       .id = "list_conversations",
       .tag = "conversations",
       .summary = "Lists conversations, most recently changed first; or those that show a file",
       .query = Fields{workspace_field(),
                       {.name = "file_id", .about = "Only conversations that show a version of this file."},
                       {.name = "path", .about = "The same, by the current path of the file."},
                       {.name = "version", .about = "Only conversations that show this version."}} +
                page_fields(),
       .answers = {{200, "The conversations.", "ConversationPage"}},
       .errors = {Code::not_found}},
      list_conversations);
  routes.add({.method = "GET",
              .pattern = kConversation,
              .id = "get_conversation",
              .tag = "conversations",
              .summary = "One conversation",
              .query = {workspace_field()},
              .answers = {{200, "The conversation, without its messages.", "Conversation"}},
              .errors = {Code::not_found}},
             [](Call& call) {
               return Reply::json(conversation_json(need_conversation(call, open_home(call, Right::read))));
             });
  routes.add({.method = "DELETE",
              .pattern = kConversation,
              .id = "delete_conversation",
              .tag = "conversations",
              .summary = "Deletes a conversation with its messages; their files stay",
              .query = {workspace_field()},
              .answers = {{204, "It is deleted."}},
              .errors = {Code::forbidden, Code::not_found}},
             delete_conversation);
}

}  // namespace sk::api::rest
