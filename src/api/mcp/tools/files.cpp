// list_files, read_file and search: read-only tools.
#include "api/common/fields.h"
#include "api/mcp/hub.h"
#include "api/mcp/tools/content.h"
#include "base/path.h"
#include "base/text.h"
#include "workspace/content.h"
#include "workspace/links.h"

namespace sk::api::mcp {

namespace {

using workspace::Entry;
using workspace::EntryKind;
using workspace::Right;
using workspace::Version;
namespace prefix = workspace::prefix;

constexpr int64_t kListDefault = 100, kListMax = 1000;
constexpr int64_t kLinesDefault = 300, kLinesMax = 5000;
constexpr size_t kTextBytesMax = 48 << 10;
constexpr size_t kImageBytesMax = 1 << 20;
constexpr size_t kBinaryBytesMax = 64 << 10;
// The number of entries that one call of search examines; its cursor continues.
constexpr size_t kSearchEntriesMax = 20'000;
// The result includes all matches of the last page, because a cursor can only point between pages.
constexpr size_t kSearchPage = 100;

Json entry_facts(const Entry& entry, const std::string& base_url) {
  Json out = {{"path", entry.path}, {"kind", entry.kind == EntryKind::file ? "file" : "folder"}};
  out["id"] = entry.id.with_prefix(prefix::file);
  if (entry.kind != EntryKind::file) return out;
  out["size"] = entry.size;
  out["mime"] = entry.mime;
  out["changed_at"] = to_iso8601(entry.changed_us);
  out["version_id"] = entry.head.with_prefix(prefix::version);
  out["versions"] = entry.version_count;
  out["link"] = base_url + workspace::Links::path_of(entry.head, entry.path);
  if (entry.diverged) out["diverged"] = true;
  return out;
}

std::string entry_line(const Entry& entry) {
  std::string out = "- ";
  if (entry.kind == EntryKind::folder) return out.append(as_code(entry.path + "/")).append("\n");
  out.append(as_code(entry.path)).append(" ").append(human_size(entry.size)).append(", ");
  out.append(to_iso8601(entry.changed_us)).append(", ").append(std::to_string(entry.version_count));
  out.append(entry.version_count == 1 ? " version" : " versions");
  return out.append(entry.diverged ? ", diverged\n" : "\n");
}

void add_locks(ToolCall& call, const workspace::Authority& workspace, const std::string& folder,
               ToolResult& result) {
  Json locks = Json::array();
  for (const auto& lock : call.app().keep.locks().list(workspace, folder)) {
    if (locks.size() == 100) break;
    locks.push_back({{"path", lock.path},
                     {"owner", lock.owner_name},
                     {"purpose", lock.purpose},
                     {"expires_at", to_iso8601(lock.expires_us)}});
    result.text.append("Locked: ").append(as_code(lock.path)).append(" by ").append(as_code(lock.owner_name));
    result.text.append(" until ").append(to_iso8601(lock.expires_us)).append("\n");
  }
  if (!locks.empty()) result.structured["locks"] = std::move(locks);
}

void add_cursor(ToolResult& result, bool has_more, const std::string& cursor) {
  if (!has_more) return;
  result.structured["next_cursor"] = cursor;
  result.text.append("More: call again with cursor ").append(as_code(cursor)).append("\n");
}

std::optional<ToolResult> list_files(ToolCall& call) {
  auto workspace = call.open_workspace(Right::read);
  auto& files = call.app().keep.files();
  auto limit = static_cast<size_t>(call.integer("limit").value_or(kListDefault));
  auto cursor = call.text("cursor").value_or("");
  workspace::Page<Entry> page;
  std::string folder;
  if (call.flag("trash")) {
    page = files.trash(workspace, cursor, limit);
  } else {
    folder = call.path("folder");
    page = files.list(workspace, {.folder = folder,
                                  .recursive = call.flag("recursive"),
                                  .glob = call.text("glob").value_or(""),
                                  .cursor = cursor,
                                  .limit = limit});
  }
  call.turn.call.note("list", folder);
  ToolResult result;
  Json entries = Json::array();
  for (const auto& entry : page.items) {
    entries.push_back(entry_facts(entry, call.base_url()));
    result.text += entry_line(entry);
  }
  if (page.items.empty())
    result.text = page.has_more        ? "Nothing matched so far.\n"
                  : call.flag("trash") ? "The trash is empty.\n"
                                       : "Nothing here.\n";
  result.structured = {{"workspace", workspace.workspace().name}, {"entries", std::move(entries)}};
  if (!call.flag("trash")) add_locks(call, workspace, folder, result);
  add_cursor(result, page.has_more, page.next_cursor);
  return result;
}

Version version_of(ToolCall& call) {
  auto& files = call.app().keep.files();
  if (auto text = call.text("version")) {
    auto id = parse_id(*text, prefix::version, "version");
    auto version = files.find_version_anywhere(id);
    if (!version || !call.app().keep.workspaces().may_read(call.actor(), version->workspace))
      throw Error(Code::not_found, "there is no version " + id.with_prefix(prefix::version));
    return *version;
  }
  auto workspace = call.open_workspace(Right::read);
  auto entry = files.get(workspace, call.file_path("path"));
  if (entry.kind != EntryKind::file)
    throw Error(Code::bad_request, "'" + entry.path + "' is a folder")
        .hint("Use list_files to see its contents.");
  auto version = files.find_version(workspace, entry.head);
  if (!version) throw Error(Code::not_found, "the file was purged just now");
  return *version;
}

ToolResult about_version(ToolCall& call, const Version& version) {
  ToolResult result;
  result.structured = {
      {"path", version.path},     {"version_id", version.id.with_prefix(prefix::version)},
      {"number", version.number}, {"size", version.size},
      {"mime", version.mime},     {"link", call.base_url() + workspace::Links::path_of(version)}};
  return result;
}

std::string cell(const std::string& value) {
  std::string out;
  for (char c : value) {
    if (c == '|') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out;
}

// The first row contains the column names. Returns the number of lines in the table.
size_t add_table(const Version& version, ToolCall& call, char separator, int64_t first, const Lines& lines,
                 ToolResult& result) {
  constexpr int64_t kHeaderLinesMax = 50;
  auto all = split_rows(lines.lines, separator, lines.has_more);
  auto heads = all.rows;
  if (first > 1) {
    auto top = read_lines(call.app().keep.context(), version, 1, kHeaderLinesMax, kTextBytesMax);
    heads = split_rows(top.lines, separator, true).rows;
  }
  auto columns = heads.empty() ? std::vector<std::string>(1) : heads.front();
  auto row_line = [](const std::vector<std::string>& values) {
    std::string line = "|";
    for (const auto& value : values) line.append(" ").append(cell(value)).append(" |");
    return line + "\n";
  };
  result.text += row_line(columns) + row_line(std::vector<std::string>(columns.size(), "---"));
  Json rows = Json::array();
  for (size_t i = first == 1 ? 1 : 0; i < all.rows.size(); ++i) {
    result.text += row_line(all.rows[i]);
    rows.push_back(all.rows[i]);
  }
  result.structured["columns"] = columns;
  result.structured["rows"] = std::move(rows);
  return all.lines_used;
}

std::optional<ToolResult> show_text(ToolCall& call, const Version& version) {
  auto first = call.integer("from_line").value_or(1);
  auto count = call.integer("lines").value_or(kLinesDefault);
  auto lines = read_lines(call.app().keep.context(), version, first, count, kTextBytesMax);
  if (!lines.is_text) return std::nullopt;
  auto result = about_version(call, version);
  result.text =
      as_code(version.path) + ", version " + result.structured["version_id"].get<std::string>() + "\n\n";
  char separator = table_separator(version.mime, version.path);
  size_t used = lines.lines.size();
  if (separator != 0 && !(first > 1 && lines.lines.empty())) {
    used = add_table(version, call, separator, first, lines, result);
  } else {
    std::string text;
    for (const auto& line : lines.lines) text.append(line).append("\n");
    result.text += text;
    result.structured["text"] = text;
  }
  result.structured["from_line"] = first;
  if (lines.cut) result.text += "\nA line is too long to show; read the rest with run_python.\n";
  if (lines.has_more) {
    auto next = first + static_cast<int64_t>(used);
    result.structured["next_line"] = next;
    result.text.append("\nMore: call again with from_line ").append(std::to_string(next)).append("\n");
  }
  return result;
}

// Whether the file is an image that clients show. Its type may come from its name, so the bytes must agree.
bool is_shown_image(workspace::KeepContext& context, const workspace::Version& version) {
  constexpr uint64_t kHeadBytes = 12;
  if (!version.mime.starts_with("image/")) return false;
  auto head =
      workspace::ContentReader(context, version.sha256, 0, std::min(version.size, kHeadBytes)).read_all();
  if (version.mime == "image/png") return head.starts_with("\x89PNG\r\n\x1a\n");
  if (version.mime == "image/jpeg") return head.starts_with("\xff\xd8\xff");
  if (version.mime == "image/gif") return head.starts_with("GIF87a") || head.starts_with("GIF89a");
  return version.mime == "image/webp" && head.starts_with("RIFF") && head.ends_with("WEBP");
}

std::optional<ToolResult> read_file(ToolCall& call) {
  auto version = version_of(call);
  call.turn.call.note("read", version.path);
  auto& context = call.app().keep.context();
  const bool is_image = is_shown_image(context, version);
  if (!is_image)
    if (auto result = show_text(call, version)) return result;
  auto result = about_version(call, version);
  result.text = markdown_link(version.id, version.path, call.base_url()) + ", " + version.mime + ", " +
                human_size(version.size) + "\n";
  if (is_image && version.size <= kImageBytesMax) {
    auto bytes = read_whole(context, version, kImageBytesMax);
    result.blocks.push_back(
        {{"type", "image"}, {"data", to_base64(as_bytes(bytes))}, {"mimeType", version.mime}});
  } else if (!is_image && version.size <= kBinaryBytesMax && call.flag("base64")) {
    result.structured["base64"] = to_base64(as_bytes(read_whole(context, version, kBinaryBytesMax)));
    result.text += result.structured["base64"].get<std::string>() + "\n";
  } else {
    result.text += "Not text; open it with run_python, or download it by its link.\n";
  }
  result.blocks.push_back(link_block(version.id, version.path, version.mime, version.size, call.base_url()));
  return result;
}

bool has_all_words(const std::string& path, const std::vector<std::string>& words) {
  auto lower = ascii_lower(path);
  for (const auto& word : words)
    if (lower.find(word) == std::string::npos) return false;
  return true;
}

std::optional<ToolResult> search(ToolCall& call) {
  auto workspace = call.open_workspace(Right::read);
  std::vector<std::string> words;
  auto query = ascii_lower(call.need_text("query"));
  for (auto word : split(query, ' '))
    if (!word.empty()) words.emplace_back(word);
  if (words.empty()) throw Error(Code::bad_request, "'query' has no words");
  auto limit = static_cast<size_t>(call.integer("limit").value_or(20));
  workspace::ListOptions options{.folder = call.path("folder"),
                                 .recursive = true,
                                 .glob = {},
                                 .cursor = call.text("cursor").value_or(""),
                                 .limit = kSearchPage};
  ToolResult result;
  Json matches = Json::array();
  bool has_more = true;
  for (size_t seen = 0; has_more && seen < kSearchEntriesMax && matches.size() < limit;) {
    auto page = call.app().keep.files().list(workspace, options);
    for (const auto& entry : page.items) {
      if (!has_all_words(entry.path, words)) continue;
      matches.push_back(entry_facts(entry, call.base_url()));
      result.text += entry_line(entry);
    }
    seen += page.items.size();
    options.cursor = page.next_cursor;
    has_more = page.has_more;
  }
  call.turn.call.note("search", query);
  if (matches.empty())
    result.text = has_more ? "No name or path matched so far.\n" : "No name or path has all these words.\n";
  result.structured = {{"matches", std::move(matches)}};
  add_cursor(result, has_more, options.cursor);
  return result;
}

Json entries_schema() {
  return field::list_of({"path", "kind", "size", "mime", "changed_at", "version_id", "versions", "link"});
}

}  // namespace

Tools file_tools() {
  return {
      {.name = "list_files",
       .title = "List files",
       .about = "Lists files and folders of a workspace with sizes, versions, permanent links and locks.",
       .input = {{"folder", field::text("Default: the whole workspace.", "data")},
                 {"recursive", field::flag("Whether to include the contents of subfolders.")},
                 {"glob", field::text("Only these.", "**/*.csv")},
                 {"trash", field::flag("List the trash instead.")},
                 {"workspace", field::workspace()},
                 {"limit", field::integer("100 unless given.", 1, kListMax)},
                 {"cursor", field::text("next_cursor of the previous answer.")}},
       .output = {{"entries", entries_schema()},
                  {"locks", field::list_of({"path", "owner", "expires_at"})},
                  {"next_cursor", field::any("string")}},
       .reads_only = true,
       .run = list_files},
      {.name = "read_file",
       .title = "Read a file",
       .about = "Reads text by lines, CSV as table rows, images as images; returns a link for other types. "
                "Reads old versions too.",
       .input = {{"path", field::text("The path in the workspace, or as code sees it.", "data/report.md")},
                 {"version", field::text("A version id instead of a path: exactly those bytes.")},
                 {"from_line", field::integer("1 unless given.", 1, 1'000'000'000)},
                 {"lines", field::integer("300 unless given.", 1, kLinesMax)},
                 {"base64", field::flag("Whether to return small binary files as base64.")},
                 {"workspace", field::workspace()}},
       .output = {{"path", field::any("string")},
                  {"version_id", field::any("string")},
                  {"mime", field::any("string")},
                  {"size", field::any("integer")},
                  {"link", field::any("string")},
                  {"text", field::any("string")},
                  {"columns", field::any("array")},
                  {"rows", field::any("array")},
                  {"next_line", field::any("integer")}},
       .reads_only = true,
       .run = read_file},
      {.name = "search",
       .title = "Search",
       .about = "Finds files whose path contains all the words, ignoring case. Does not search contents.",
       .input = {{"query", field::text("Words.", "sales 2026")},
                 {"folder", field::text("Search only below this folder.")},
                 {"workspace", field::workspace()},
                 {"limit", field::integer("Approximate number of results. Default: 20.", 1, 200)},
                 {"cursor", field::text("next_cursor of the previous answer.")}},
       .required = {"query"},
       .output = {{"matches", entries_schema()}, {"next_cursor", field::any("string")}},
       .reads_only = true,
       .run = search},
  };
}

}  // namespace sk::api::mcp
