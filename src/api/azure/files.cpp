// Files of a session: listing, reading, deleting. Both families use the same paths; `api-version`
// distinguishes them.
#include "api/azure/azure.h"
#include "api/azure/file_json.h"
#include "api/azure/session.h"
#include "api/common/conditions.h"
#include "api/common/download.h"
#include "base/path.h"
#include "base/text.h"

namespace sk::api::azure {

namespace {

using http::Reply;
using interpreter::SessionInfo;
using workspace::Entry;
using workspace::EntryKind;
using workspace::Right;

constexpr size_t kPageMax = 10'000;
constexpr std::string_view kContent = "content";

// Lists entries of a folder, up to one page. The cursor is empty at the end.
workspace::Page<Entry> list_entries(Call& call, const SessionInfo& session, workspace::ListOptions options) {
  auto workspace = open_workspace(call, session, Right::read);
  workspace::Page<Entry> out;
  options.limit = call.app.settings.list_page_max;
  options.cursor = call.query.text("cursor").value_or("");
  // A session that has kept nothing has no folder, and therefore no files.
  if (!options.folder.empty() && !call.app.keep.files().find(workspace, options.folder)) return out;
  do {
    auto page = call.app.keep.files().list(workspace, options);
    for (auto& entry : page.items) out.items.push_back(std::move(entry));
    options.cursor = page.next_cursor;
    out.has_more = page.has_more;
  } while (out.has_more && out.items.size() < kPageMax);
  out.next_cursor = out.has_more ? options.cursor : "";
  return out;
}

std::string next_link(const Call& call, const std::string& cursor) {
  std::string out = pool_url(call) + "/files?cursor=" + percent_encode(cursor);
  for (const char* name : {"identifier", "api-version", "path", "recursive"})
    if (auto value = call.query.text(name)) out += "&" + std::string(name) + "=" + percent_encode(*value);
  return out;
}

// `recursive` is declared as text, because clients send it in upper and lower case.
bool is_recursive(const Call& call) {
  auto text = ascii_lower(call.query.text("recursive").value_or("false"));
  if (text != "true" && text != "false" && text != "1" && text != "0")
    throw Error(Code::bad_request, "'recursive' must be true or false")
        .with("field", std::string("recursive"));
  return text == "true" || text == "1";
}

Reply list_files(Call& call) {
  bool family_a = family_of(call, Family::b) == Family::a;
  auto session = find_session(call);
  Json value = Json::array();
  Json out = Json::object();
  if (family_a) out["$id"] = "1";
  bool recursive = is_recursive(call);
  workspace::Page<Entry> page;
  if (session) {
    workspace::ListOptions options;
    options.folder = session->folder;
    auto path = call.query.text("path").value_or("");
    while (path.ends_with('/')) path.pop_back();
    if (!path.empty() && path != "/mnt/data") options.folder = workspace_path(*session, path);
    // Family A has no folders: it names every file by its full path.
    options.recursive = family_a || recursive;
    page = list_entries(call, *session, std::move(options));
  }
  for (const auto& entry : page.items) {
    if (family_a && entry.kind == EntryKind::folder) continue;
    value.push_back(family_a ? family_a_file(entry, *session, 2 * value.size() + 2)
                             : family_b_file(entry, *session));
  }
  out["value"] = std::move(value);
  if (page.has_more) out["nextLink"] = next_link(call, page.next_cursor);
  return Reply::json(out);
}

Entry need_entry(Call& call, const SessionInfo& session, std::string_view name) {
  auto workspace = open_workspace(call, session, Right::read);
  auto path = workspace_path(session, call.query.text("path").value_or(""), name);
  try {
    return call.app.keep.files().get(workspace, path);
  } catch (const Error& error) {
    // An entry in the trash has advice of its own.
    if (error.advice() != Advice::check_name) throw;
    throw Error(Code::not_found, "the session has no file " + quoted_path(path));
  }
}

Reply read_content(Call& call, const SessionInfo& session, std::string_view name) {
  Entry entry = need_entry(call, session, name);
  if (entry.kind == EntryKind::folder)
    throw Error(Code::bad_request, quoted_path(entry.path) + " is a directory");
  auto workspace = open_workspace(call, session, Right::read);
  auto version = call.app.keep.files().find_version(workspace, entry.head);
  if (!version) throw Error(Code::not_found, quoted_path(entry.path) + " has no content left");
  call.note("read", "/" + entry.path);
  return download(call.app, call.request, *version,
                  {.attachment = true, .cache_control = "private, no-cache"});
}

Reply describe(Call& call, const SessionInfo& session, std::string_view name, Family family) {
  Entry entry = need_entry(call, session, name);
  if (family == Family::b) return Reply::json(family_b_file(entry, session));
  return Reply::json({{"$id", "1"}, {"value", Json::array({family_a_file(entry, session, 2)})}});
}

// Accepts "content/NAME" (family A), "NAME/content" (family B) or "NAME". A name may contain slashes, because
// clients do not escape them.
Reply get_file(Call& call) {
  SessionInfo session = need_session(call);
  std::string_view rest = call.request.param("name");
  auto family = family_of(call, rest.starts_with("content/") ? Family::a : Family::b);
  std::string before = std::string(kContent) + "/", after = "/" + std::string(kContent);
  if (family == Family::a && rest.starts_with(before))
    return read_content(call, session, rest.substr(before.size()));
  if (rest.size() > after.size() && rest.ends_with(after))
    return read_content(call, session, rest.substr(0, rest.size() - after.size()));
  return describe(call, session, rest, family);
}

Reply delete_file(Call& call) {
  SessionInfo session = need_session(call);
  auto workspace = open_workspace(call, session, Right::write);
  workspace::TrashChange change;
  change.path = workspace_path(session, call.query.text("path").value_or(""), call.request.param("name"));
  change.conditions = conditions_from_headers(call.request.headers);
  call.app.keep.files().apply_one(workspace, std::move(change));
  if (family_of(call, Family::b) == Family::b) return Reply::empty();
  return Reply::json({{"message", "file deleted successfully"}});
}

}  // namespace

void add_file_routes(Pools& pools) {
  const Field path = {.name = "path", .about = "The folder. Default: /mnt/data."};
  pools.add({.method = "GET",
             .pattern = "/files",
             .id = "azure_list_files",
             .tag = "azure",
             .summary = "Lists the files of a session",
             .query = {path,
                       {.name = "recursive", .about = "Whether to include the contents of folders."},
                       {.name = "cursor", .about = "Taken from nextLink."}}},
            list_files);
  pools.add({.method = "GET",
             .pattern = "/files/{name...}",
             .id = "azure_get_file",
             .tag = "azure",
             .summary = "Returns a file or its metadata",
             .query = {path}},
            get_file);
  pools.add({.method = "DELETE",
             .pattern = "/files/{name...}",
             .id = "azure_delete_file",
             .tag = "azure",
             .summary = "Moves a file to the trash",
             .query = {path},
             .conditional_write = true},
            delete_file);
}

}  // namespace sk::api::azure
