#include "api/rest/new_message.h"

#include "base/path.h"
#include "interpreter/records.h"

namespace sk::api::rest {

namespace {

using conversations::kFolderContainer;

conversations::Transcript transcript_from(const Body& body) {
  int forms = 0;
  for (const char* name : {"text", "response", "events"}) forms += body.has(name) ? 1 : 0;
  if (forms > 1) {
    throw Error(Code::bad_request, "pass one of '" + body.label("text") + "', '" + body.label("response") +
                                       "' and '" + body.label("events") + "'")
        .with("field", body.label("text"));
  }
  if (forms == 0 && !body.has("files")) {
    throw Error(Code::bad_request, "a message has '" + body.label("text") + "', '" + body.label("response") +
                                       "' or '" + body.label("events") + "'")
        .with("field", body.label("text"));
  }
  if (body.has("response")) return conversations::read_response(body.object("response"));
  if (auto events = body.text("events")) return conversations::read_event_stream(*events);
  return conversations::read_plain_text(body.text("text").value_or(""));
}

std::string container_from(const Body& body) {
  auto session = body.text("session");
  auto folder = body.text("folder");
  if (session && folder) {
    throw Error(Code::bad_request,
                "give '" + body.label("session") + "' or '" + body.label("folder") + "', not both")
        .with("field", body.label("folder"));
  }
  if (folder) return std::string(kFolderContainer) + clean_path(*folder);
  if (session && session->size() > 256)
    throw Error(Code::bad_request, "'" + body.label("session") + "' may have at most 256 bytes")
        .with("field", body.label("session"));
  return session.value_or("");
}

}  // namespace

Fields message_fields() {
  return {
      {.name = "text", .about = "The message as plain text or Markdown."},
      {.name = "response",
       .type = FieldType::object,
       .about = "Instead of a text: a whole OpenAI or Foundry response, unchanged."},
      {.name = "events", .about = "Instead of a text: the raw event stream of a response."},
      {.name = "role", .about = "Default: `assistant` for a response, else `user`."},
      {.name = "time",
       .type = FieldType::time,
       .about = "Time of the message. Links refer to the files of that time. Default: now."},
      {.name = "session",
       .about = "The session (`s_…` or `cntr_…`) whose /mnt/data the links refer to. Default: the "
                "conversation's last session."},
      {.name = "folder", .about = "Instead of a session: the folder that was /mnt/data."},
      {.name = "files",
       .type = FieldType::text_list,
       .about =
           "Versions (`v_…`, `cfile_…`, `file-…`) or paths that the message shows in addition to its text."},
      {.name = "title", .about = "A title for the conversation."}};
}

Field source_field() {
  return {.name = "source",
          .type = FieldType::object,
          .about =
              "The source of files that are not on this server: `kind` (openai, foundry or azure), "
              "`base_url`, `key`, and `container` for links that name none. Used once, never stored."};
}

std::optional<bridge::RemoteSource> source_from(const App& app, const Body& body) {
  if (!body.has("source")) return std::nullopt;
  return bridge::parse_source(body.object("source"), app.settings.bridge_allow_private
                                                         ? bridge::PlainHttp::allowed
                                                         : bridge::PlainHttp::refused);
}

conversations::NewMessage new_message_from(const Body& body, std::string conversation, std::string name,
                                           const std::optional<bridge::RemoteSource>& source) {
  conversations::NewMessage out;
  out.conversation = std::move(conversation);
  out.name = std::move(name);
  out.title = body.text("title").value_or("");
  out.role = body.text("role").value_or("");
  out.time_us = body.time("time");
  if (out.time_us && *out.time_us < 0)
    throw Error(Code::bad_request, "'" + body.label("time") + "' lies before 1970")
        .with("field", body.label("time"));
  out.container = container_from(body);
  out.has_source = source.has_value();
  if (source && out.container.empty()) out.container = source->container;
  out.files = body.texts("files");
  out.transcript = transcript_from(body);
  return out;
}

conversations::FindPlace find_place_in(App& app, const Id& workspace) {
  return [&app, workspace](const std::string& container) -> std::optional<conversations::SessionFolder> {
    if (container.starts_with(kFolderContainer))
      return conversations::SessionFolder{workspace, container.substr(kFolderContainer.size())};
    auto id = Id::from_prefixed(container, workspace::prefix::session);
    if (!id) id = Id::from_prefixed(container, "cntr_");
    if (!id) return std::nullopt;
    auto session = interpreter::Records(app.keep.context()).find(*id);
    if (!session) return std::nullopt;
    return conversations::SessionFolder{session->workspace, session->folder};
  };
}

}  // namespace sk::api::rest
