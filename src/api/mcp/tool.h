// A tool as data: its name, input and output, permissions, and function. The tables in tools/ contain all
// tools.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api/mcp/turn.h"

namespace sk::api::mcp {

// The result of a tool: text for models and people, the same as data for programs, and blocks after the text
// (links to files, images).
struct ToolResult {
  std::string text;
  Json structured = Json::object();
  std::vector<Json> blocks = {};
  bool is_error = false;
  Json meta = nullptr;
  Json raw = nullptr;  // a complete result of another form, such as a task, instead of all above

  // The result of tools/call.
  Json to_json() const;
};

// An error as a tool result: what failed and what to do, so that a model can correct its call.
ToolResult failed(const Error& error);
ToolResult failed(std::string_view code, std::string message, std::string hint = {});

// One call. Its arguments are already validated against the tool's schema.
class ToolCall {
 public:
  ToolCall(Turn& the_turn, const Json& the_arguments) : turn(the_turn), arguments(the_arguments) {}

  Turn& turn;
  const Json& arguments;

  App& app() const { return turn.call.app; }
  const workspace::Actor& actor() const { return turn.call.actor; }
  const std::string& base_url() const { return turn.call.request.base_url; }

  bool has(std::string_view name) const { return !field_in(arguments, name).is_null(); }
  std::optional<std::string> text(std::string_view name) const;
  std::string need_text(std::string_view name) const;  // Error(bad_request) when absent
  std::optional<int64_t> integer(std::string_view name) const;
  bool flag(std::string_view name) const;  // absent is false
  std::vector<std::string> texts(std::string_view name) const;

  // Opens `workspace`, or the key's default workspace.
  workspace::Authority open_workspace(workspace::Right right) const;
  // Returns a path in the workspace. Accepts /mnt/data/…, which code uses for its working folder.
  std::string path(std::string_view name) const;
  std::string file_path(std::string_view name) const;
  // Reads `if_version`, `only_new` and `lock_token`.
  workspace::Conditions conditions() const;
};

// The workspace folder that the default sessions see as /mnt/data.
inline constexpr std::string_view kCodeFolder = "data";
// "/mnt/data/x" → "data/x"; returns other paths unchanged.
std::string from_code_path(std::string_view path);

struct Tool {
  std::string name;
  std::string title;
  std::string about;
  Json input;  // properties, each with its schema
  std::vector<std::string> required = {};
  Json output;  // properties of the structured content
  bool reads_only = false;
  bool destroys = false;     // can remove or replace the content at a path
  bool repeatable = false;   // repeating the same call has no further effect
  bool runs_code = false;    // not offered when code execution is disabled
  bool has_tasks = false;    // may outlive its request as a task
  Json raw_input = nullptr;  // a complete schema instead of `input`
  // Returns nullopt after opening the turn's channel, through which it answers later.
  std::function<std::optional<ToolResult>(ToolCall&)> run;

  Json input_schema() const;
  // Returns the tool's entry in tools/list.
  Json to_json(const std::string& version) const;
};

using Tools = std::vector<Tool>;

Tools run_tools();           // run_python, run_shell, list_sessions
Tools unkept_tools();        // session_unkept
Tools file_tools();          // list, read, search
Tools write_tools();         // write, edit, upload
Tools change_tools();        // move, copy, delete, restore
Tools history_tools();       // versions, activity
Tools lock_tools();          // lock
Tools workspace_tools();     // list and create workspaces
Tools conversation_tools();  // link files into a conversation

// Returns all tools in display order.
Tools all_tools();

// Blocks and lines that several tools use.
Json link_block(const Id& version, std::string_view path, std::string_view mime, uint64_t size,
                const std::string& base_url);
std::string markdown_link(const Id& version, std::string_view path, const std::string& base_url);
// Formats a client-supplied name as inline code without line breaks. It then reads as a name, not as text of
// the server.
std::string as_code(std::string_view name);

// Schemas of fields that several tools have.
namespace field {
Json text(std::string_view about);
Json text(std::string_view about, Json example);
Json integer(std::string_view about, int64_t least);
Json integer(std::string_view about, int64_t least, int64_t most);
Json flag(std::string_view about);
Json choice(std::string_view about, std::vector<std::string> choices);
Json texts(std::string_view about);
Json workspace();
// For outputs: schemas without descriptions.
Json any(std::string_view type);
Json list_of(std::vector<std::string> names);  // list of objects with these fields
}  // namespace field

}  // namespace sk::api::mcp
