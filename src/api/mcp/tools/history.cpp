// versions and activity: the history of files and workspaces, and who changed them.
#include <algorithm>
#include <iterator>

#include "api/mcp/hub.h"
#include "base/path.h"
#include "base/text.h"
#include "workspace/links.h"

namespace sk::api::mcp {

namespace {

using workspace::Right;
namespace prefix = workspace::prefix;

constexpr int64_t kDefault = 20, kMost = 200;
constexpr int64_t kLookBack = 2000;  // how many journal entries to search for the newest ones

std::string origin_of(const workspace::Version& version) {
  const auto& session = field_in(version.source.detail, "session_id");
  return version.source.kind + (session.is_string() ? " in " + session.get<std::string>() : "");
}

std::optional<ToolResult> versions(ToolCall& call) {
  auto workspace = call.open_workspace(Right::read);
  auto entry = call.app().keep.files().get(workspace, call.file_path("path"));
  if (entry.kind != workspace::EntryKind::file)
    throw Error(Code::bad_request, "'" + entry.path + "' is a folder");
  auto page = call.app().keep.files().versions(workspace, entry.id, call.text("cursor").value_or(""),
                                               static_cast<size_t>(call.integer("limit").value_or(kDefault)));
  call.turn.call.note("list", entry.path);
  ToolResult result;
  Json items = Json::array();
  for (const auto& version : page.items) {
    auto id = version.id.with_prefix(prefix::version);
    items.push_back({{"version_id", id},
                     {"number", version.number},
                     {"size", version.size},
                     {"created_at", to_iso8601(version.created_us)},
                     {"author", version.author_name},
                     {"source", version.source.kind},
                     {"newest", version.is_head},
                     {"link", call.base_url() + workspace::Links::path_of(version)}});
    result.text.append("- ").append(std::to_string(version.number)).append(": ").append(id).append(", ");
    result.text.append(to_iso8601(version.created_us))
        .append(", ")
        .append(human_size(version.size))
        .append(", by ");
    result.text.append(as_code(version.author_name)).append(", ").append(origin_of(version));
    result.text.append(version.is_head ? ", newest\n" : "\n");
  }
  result.text += "\nread_file or restore with a version id.\n";
  result.structured = {{"path", entry.path}, {"versions", std::move(items)}};
  if (page.has_more) result.structured["next_cursor"] = page.next_cursor;
  if (page.has_more)
    result.text.append("More: call again with cursor ").append(as_code(page.next_cursor)).append("\n");
  return result;
}

std::string what_of(const workspace::JournalEntry& entry) {
  std::string out;
  for (auto name : {"path", "from", "to", "name", "purpose"}) {
    const auto& value = field_in(entry.personal, name);
    if (value.is_string() && !value.get_ref<const std::string&>().empty())
      out.append(" ")
          .append(name == std::string_view("path") ? "" : std::string(name) + " ")
          .append(as_code(value.get<std::string>()));
  }
  return out;
}

// Returns the newest entries that match the filter, of the last kLookBack ones.
workspace::Events newest_events(ToolCall& call, const workspace::Authority& workspace,
                                const workspace::EventFilter& filter, size_t limit) {
  auto& journal = call.app().keep.journal();
  workspace::Events events;
  events.cursor = std::max<int64_t>(journal.head_seq(workspace) - kLookBack, 0);
  do {
    auto page = journal.events(workspace, events.cursor, static_cast<size_t>(kLookBack), filter);
    std::ranges::move(page.items, std::back_inserter(events.items));
    auto surplus = static_cast<ptrdiff_t>(events.items.size()) - static_cast<ptrdiff_t>(limit);
    if (surplus > 0) events.items.erase(events.items.begin(), events.items.begin() + surplus);
    events.cursor = page.cursor;
    events.has_more = page.has_more;
  } while (events.has_more);
  return events;
}

std::optional<ToolResult> activity(ToolCall& call) {
  auto workspace = call.open_workspace(Right::read);
  auto limit = static_cast<size_t>(call.integer("limit").value_or(kDefault));
  workspace::EventFilter filter;
  filter.kinds = call.texts("kinds");
  filter.path_prefix = call.path("path");
  auto after = call.integer("after");
  auto events = after ? call.app().keep.journal().events(workspace, *after, limit, filter)
                      : newest_events(call, workspace, filter, limit);
  call.turn.call.note("list", "events");
  ToolResult result;
  Json items = Json::array();
  for (const auto& entry : events.items) {
    items.push_back({{"seq", entry.seq},
                     {"time", to_iso8601(entry.time_us)},
                     {"kind", entry.kind},
                     {"actor_id", entry.actor.with_prefix(prefix::principal)},
                     {"by_you", entry.actor == call.actor().principal()},
                     {"facts", entry.facts},
                     {"personal", entry.personal}});
    result.text.append("- ").append(std::to_string(entry.seq)).append(" ").append(to_iso8601(entry.time_us));
    result.text.append(" ").append(entry.kind).append(what_of(entry)).append(", by ");
    result.text.append(entry.actor == call.actor().principal() ? "you"
                                                               : entry.actor.with_prefix(prefix::principal));
    result.text += "\n";
  }
  if (items.empty()) result.text = "Nothing new.\n";
  result.structured = {{"events", std::move(items)}, {"after", events.cursor}, {"has_more", events.has_more}};
  result.text.append("Later: call again with after ").append(std::to_string(events.cursor)).append("\n");
  return result;
}

}  // namespace

Tools history_tools() {
  return {
      {.name = "versions",
       .title = "Versions of a file",
       .about = "Lists every version of a file, newest first: time, author and run.",
       .input = {{"path", field::text("The file.")},
                 {"workspace", field::workspace()},
                 {"limit", field::integer("20 unless given.", 1, kMost)},
                 {"cursor", field::text("next_cursor of the previous answer.")}},
       .required = {"path"},
       .output = {{"versions",
                   field::list_of({"version_id", "number", "author", "created_at", "source", "link"})},
                  {"next_cursor", field::any("string")}},
       .reads_only = true,
       .run = versions},
      {.name = "activity",
       .title = "What happened",
       .about =
           "Returns the workspace's journal: every change, in order. Without `after`, the newest changes.",
       .input = {{"after",
                  field::integer("Only changes after this number from an earlier answer.", 0, INT64_MAX)},
                 {"path", field::text("Only changes at or below this path.")},
                 {"kinds", field::texts("Kinds of changes, such as file.* or lock.acquire.")},
                 {"workspace", field::workspace()},
                 {"limit", field::integer("20 unless given.", 1, kMost)}},
       .output = {{"events", field::list_of({"seq", "time", "kind", "actor_id", "personal"})},
                  {"after", field::any("integer")}},
       .reads_only = true,
       .run = activity},
  };
}

}  // namespace sk::api::mcp
