// link_to_conversation: records which versions a message of the user's app shows, so that its links stay
// valid.
#include "api/mcp/hub.h"
#include "conversations/conversations.h"
#include "workspace/links.h"

namespace sk::api::mcp {

namespace {

using workspace::Right;
namespace prefix = workspace::prefix;

// Resolves links in the text against the folder that the default session's code sees as /mnt/data.
conversations::FindPlace place_of_code(const Id& workspace) {
  return [workspace](const std::string&) {
    return conversations::SessionFolder{workspace, std::string(kCodeFolder)};
  };
}

conversations::NewMessage new_message(const ToolCall& call) {
  if (!call.has("text") && call.texts("files").empty())
    throw Error(Code::bad_request, "neither 'text' nor 'files' is given")
        .hint("Pass the files that the message shows, its text, or both.");
  conversations::NewMessage wanted;
  wanted.conversation = call.need_text("conversation");
  wanted.name = call.need_text("message");
  wanted.role = "assistant";
  wanted.adds_files = !call.has("text");
  wanted.transcript = conversations::read_plain_text(call.text("text").value_or(""));
  // Uses a name that is valid in every dialect. The conversation's own session stays unchanged.
  wanted.container = std::string(conversations::kFolderContainer).append(kCodeFolder);
  wanted.container_lasts = false;
  for (const auto& file : call.texts("files")) wanted.files.push_back(from_code_path(file));
  return wanted;
}

std::optional<ToolResult> link_to_conversation(ToolCall& call) {
  auto workspace = call.open_workspace(Right::write);
  auto& conversations = call.app().conversations;
  auto message = conversations.put(workspace, new_message(call), place_of_code(workspace.workspace_id()));
  ToolResult result;
  Json shown = Json::array();
  for (const auto& file : conversations.view(call.actor(), message)) {
    Json item = {{"name", file.shown.name}, {"state", name_of(file.shown.state)}};
    result.text.append("- ").append(as_code(file.shown.name)).append(": ");
    if (file.version) {
      item["version_id"] = file.version->id.with_prefix(prefix::version);
      item["link"] = call.base_url() + workspace::Links::path_of(*file.version);
      result.text.append(markdown_link(file.version->id, file.version->path, call.base_url())).append("\n");
    } else {
      result.text.append(name_of(file.shown.state)).append(". ").append(file.shown.explanation).append("\n");
    }
    shown.push_back(std::move(item));
  }
  if (shown.empty()) result.text = "Stored; it shows no file.\n";
  result.structured = {
      {"conversation", message.conversation_name}, {"message", message.name}, {"files", std::move(shown)}};
  return result;
}

}  // namespace

Tools conversation_tools() {
  return {
      {.name = "link_to_conversation",
       .title = "Link files into a conversation",
       .about = "Records which files a message of the user's chat shows, as they are now. Give files, a text "
                "with sandbox:/mnt/data/… links, or both. With files alone, the message keeps its text.",
       .input = {{"conversation", field::text("The chat's id in the user's app.", "chat-42")},
                 {"message", field::text("The message's id there.", "msg-7")},
                 {"text", field::text("The message in Markdown.")},
                 {"files", field::texts("Paths or version ids.")},
                 {"workspace", field::workspace()}},
       .required = {"conversation", "message"},
       .output = {{"conversation", field::any("string")},
                  {"message", field::any("string")},
                  {"files", field::list_of({"name", "state"})}},
       .repeatable = true,
       .run = link_to_conversation},
  };
}

}  // namespace sk::api::mcp
