#include "api/rest/conversation_json.h"

#include <set>

#include "api/common/shapes.h"
#include "conversations/markdown.h"
#include "conversations/rewriting.h"
#include "workspace/links.h"

namespace sk::api::rest {

namespace {

namespace prefix = workspace::prefix;
using conversations::ShownState;
using conversations::ViewedFile;

std::string_view kind_name(conversations::Mention::Kind kind) {
  switch (kind) {
    case conversations::Mention::Kind::citation:
      return "citation";
    case conversations::Mention::Kind::image:
      return "image";
    case conversations::Mention::Kind::attachment:
      return "attachment";
    case conversations::Mention::Kind::link:
      break;
  }
  return "link";
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

std::string link_of(const MessageView& view, const ViewedFile& file) {
  auto path = workspace::Links::path_of(file.version->id, file.shown.name);
  if (view.style == LinkStyle::needs_key) return view.base_url + path;
  // The signature does not depend on the name.
  auto home = view.app.keep.workspaces().find_readable(view.actor, file.version->workspace);
  if (!home) return view.base_url + path;
  auto with_signature = view.app.keep.links().signed_path_of(*home, *file.version);
  return view.base_url + path + with_signature.substr(with_signature.find('?'));
}

bool stands_in_text(const ViewedFile& file) { return file.shown.link && file.shown.link->outer_end > 0; }

// Returns a generated thumbnail for images. Returns the image itself when it is small and no thumbnail can be
// generated.
Json thumbnail_of(const App& app, const workspace::Version& version, const std::string& link) {
  constexpr uint64_t kSmallBytes = 64 << 10;
  if (app.interpreter.can_have_thumbnail(version))
    return link + (link.find('?') == std::string::npos ? "?" : "&") + "thumbnail=true";
  bool small_image = version.mime.starts_with("image/") && version.size <= kSmallBytes;
  return small_image ? Json(link) : Json(nullptr);
}

Json attachment_json(const App& app, const ViewedFile& file, const std::string& link) {
  const auto& version = *file.version;
  return {{"name", file.shown.name},
          {"kind", kind_name(file.shown.kind)},
          {"mime", version.mime},
          {"size", version.size},
          {"link", link},
          {"thumbnail", thumbnail_of(app, version, link)},
          {"version_id", version.id.with_prefix(prefix::version)},
          {"file_id", version.file.with_prefix(prefix::file)},
          {"workspace_id", version.workspace.with_prefix(prefix::workspace)},
          {"path", version.path},
          {"sha256", version.sha256.hex()},
          {"container", text_or_null(file.shown.container)},
          {"original_file_id", text_or_null(file.shown.file_id)}};
}

Json problem_json(const ViewedFile& file) {
  return {{"name", file.shown.name},
          {"kind", kind_name(file.shown.kind)},
          {"state", conversations::name_of(file.shown.state)},
          {"reason", text_or_null(std::string(conversations::name_of(file.shown.why)))},
          {"message", file.shown.explanation},
          {"container", text_or_null(file.shown.container)},
          {"original_file_id", text_or_null(file.shown.file_id)}};
}

std::string why_no_link(const ViewedFile& file) {
  switch (file.shown.state) {
    case ShownState::pending:
      return "being fetched";
    case ShownState::missing:
      return "no such file";
    default:
      return "not captured";
  }
}

// Appends a file that the text does not mention.
void append_below(std::string& markdown, const ViewedFile& file, const std::string& link) {
  if (!markdown.empty() && !markdown.ends_with("\n\n")) markdown += "\n\n";
  if (file.version->mime.starts_with("image/")) markdown += '!';
  markdown += '[';
  markdown += conversations::markdown_escape(file.shown.name);
  markdown += "](";
  markdown += link;
  markdown += ')';
}

}  // namespace

Json conversation_json(const conversations::Conversation& conversation) {
  return {{"conversation", conversation.name},
          {"workspace_id", conversation.workspace.with_prefix(prefix::workspace)},
          {"title", conversation.title},
          {"message_count", conversation.message_count},
          {"created_at", to_iso8601(conversation.created_us)},
          {"changed_at", to_iso8601(conversation.changed_us)}};
}

Json message_json(const MessageView& view, const conversations::Message& message) {
  Json attachments = Json::array(), problems = Json::array();
  std::vector<conversations::Replacement> replacements;
  std::set<std::pair<Id, std::string>> listed;
  std::string below;
  for (const auto& file : view.app.conversations.view(view.actor, message)) {
    auto link = file.version ? link_of(view, file) : std::string();
    if (stands_in_text(file))
      replacements.push_back({*file.shown.link, file.shown.name, link, why_no_link(file)});
    if (!file.version) {
      problems.push_back(problem_json(file));
      continue;
    }
    // A file that is linked twice is listed once.
    if (!listed.emplace(file.version->id, file.shown.name).second) continue;
    attachments.push_back(attachment_json(view.app, file, link));
    if (!stands_in_text(file)) append_below(below, file, link);
  }
  auto markdown = conversations::rewrite(message.text, replacements);
  if (!below.empty()) markdown += (markdown.empty() ? "" : "\n\n") + below;
  auto html = conversations::markdown_to_html(markdown, {.image_prefixes = {view.base_url + "/k/"}});
  return {{"conversation", message.conversation_name},
          {"message", message.name},
          {"role", message.role},
          {"time", to_iso8601(message.time_us)},
          {"stored_at", to_iso8601(message.stored_us)},
          {"response_id", text_or_null(message.response_id)},
          {"model", text_or_null(message.model)},
          {"text", message.text},
          {"markdown", std::move(markdown)},
          {"html", std::move(html)},
          {"attachments", std::move(attachments)},
          {"problems", std::move(problems)}};
}

}  // namespace sk::api::rest
