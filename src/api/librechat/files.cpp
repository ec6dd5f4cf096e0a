// Reading, listing, probing and deleting the files of a session.
#include "api/common/conditions.h"
#include "api/common/download.h"
#include "api/librechat/librechat.h"
#include "api/librechat/session.h"
#include "base/path.h"

namespace sk::api::librechat {

namespace {

using http::Reply;
using interpreter::SessionInfo;
using workspace::Authority;
using workspace::Entry;
using workspace::Right;
using workspace::Version;

Authority open_workspace(Call& call, const SessionInfo& session, Right right) {
  return call.open_workspace(session.workspace.with_prefix(workspace::prefix::workspace), right);
}

Reply download_file(Call& call) {
  auto session = need_session(call, call.request.param("session"));
  auto version = need_version(call, session, call.request.param("file"));
  call.note("read", "/" + version.path);
  // An id names a version, which never changes.
  return download(call.app, call.request, version,
                  {.attachment = true, .cache_control = "private, max-age=31536000, immutable"});
}

// "SESSION/FILE.ext", the object name that the official server uses.
std::string object_name(const SessionInfo& session, const Id& version, std::string_view path) {
  auto name = split_path(path).second;
  auto dot = name.rfind('.');
  std::string extension = dot == std::string::npos || dot == 0 ? "" : name.substr(dot);
  return session.id.base64url21() + "/" + version.base64url21() + extension;
}

Json summary_json(const Entry& entry, const SessionInfo& session) {
  return {{"name", object_name(session, entry.head, entry.path)},
          {"size", entry.size},
          {"lastModified", to_iso8601(entry.changed_us)},
          {"etag", entry.sha256.hex()}};
}

Json full_json(const Entry& entry, const SessionInfo& session) {
  Json out = summary_json(entry, session);
  out["metadata"] = {{"content-type", entry.mime}, {"original-filename", name_in(session, entry.path)}};
  out["versionId"] = entry.head.base64url21();
  out["contentType"] = entry.mime;
  return out;
}

Json normalized_json(const Entry& entry, const SessionInfo& session) {
  Json out = {{"id", entry.head.base64url21()},
              {"name", name_in(session, entry.path)},
              {"session_id", session.id.base64url21()},
              {"storage_session_id", session.id.base64url21()},
              {"size", entry.size},
              {"contentType", entry.mime},
              {"lastModified", to_iso8601(entry.changed_us)}};
  if (is_read_only(session)) out["read_only"] = true;
  return out;
}

// Returns all files, because LibreChat has no pagination.
std::vector<Entry> files_of(Call& call, const SessionInfo& session) {
  auto workspace = open_workspace(call, session, Right::read);
  std::vector<Entry> out;
  if (!session.folder.empty() && !call.app.keep.files().find(workspace, session.folder)) return out;
  workspace::ListOptions options;
  options.folder = session.folder;
  options.recursive = true;
  options.limit = call.app.settings.list_page_max;
  bool more = true;
  while (more) {
    auto page = call.app.keep.files().list(workspace, options);
    for (auto& entry : page.items)
      if (entry.kind == workspace::EntryKind::file) out.push_back(std::move(entry));
    options.cursor = page.next_cursor;
    more = page.has_more;
  }
  return out;
}

Reply list_as(Call& call, const std::string& detail) {
  auto session = need_session(call, call.request.param("session"));
  Json out = Json::array();
  for (const auto& entry : files_of(call, session)) {
    if (detail == "summary")
      out.push_back(summary_json(entry, session));
    else if (detail == "full")
      out.push_back(full_json(entry, session));
    else if (detail == "normalized")
      out.push_back(normalized_json(entry, session));
    else
      out.push_back(object_name(session, entry.head, entry.path));
  }
  return Reply::json(out);
}

Reply list_files(Call& call) { return list_as(call, call.query.text("detail").value_or("simple")); }

// Returns the file of a version. Error(not_found) when the file is in the trash.
Entry need_live_entry(Call& call, const SessionInfo& session, const Version& version) {
  auto entry = call.app.keep.files().find_by_id(open_workspace(call, session, Right::read), version.file);
  if (!entry || entry->trashed_us)
    throw Error(Code::not_found, "File not found")
        .hint("It is in the trash; its permanent link still opens it.");
  return *entry;
}

// LibreChat asks whether it must upload a file again, and does so when `lastModified` is more than 23 hours
// old. Files here are permanent, so the answer is the current time.
Reply probe_object(Call& call) {
  auto session = need_session(call, call.request.param("session"));
  auto version = need_version(call, session, call.request.param("file"));
  need_live_entry(call, session, version);
  return Reply::json({{"name", object_name(session, version.id, version.path)},
                      {"originalFilename", name_in(session, version.path)},
                      {"size", version.size},
                      {"lastModified", to_iso8601(call.app.clock.now_us())},
                      {"createdAt", to_iso8601(version.created_us)},
                      {"etag", version.sha256.hex()},
                      {"contentType", version.mime},
                      {"readOnly", is_read_only(session)}});
}

Reply delete_object(Call& call) {
  auto session = need_session(call, call.request.param("session"));
  auto version = need_version(call, session, call.request.param("file"));
  // The id becomes unknown, as LibreChat expects after a deletion. Permanent links still work.
  call.app.keep.retractions().retract(call.actor, version.id, lock_tokens_from_headers(call.request.headers));
  return Reply::json({{"message", "File deleted successfully"},
                      {"session_id", session.id.base64url21()},
                      {"fileId", version.id.base64url21()}});
}

}  // namespace

void add_file_routes(Mounts& mounts) {
  mounts.add({.method = "GET",
              .pattern = "/download/{session}/{file}",
              .id = "librechat_download",
              .tag = "librechat",
              .summary = "A file's bytes"},
             download_file);
  mounts.add({.method = "GET",
              .pattern = "/files/{session}",
              .id = "librechat_list_files",
              .tag = "librechat",
              .summary = "Lists the files of a session",
              .query = {{.name = "detail",
                         .about = "Level of detail.",
                         .choices = {"simple", "summary", "full", "normalized"}}}},
             list_files);
  mounts.add({.method = "GET",
              .pattern = "/sessions/{session}/objects",
              .id = "librechat_list_objects",
              .tag = "librechat",
              .summary = "Lists the files of a session"},
             [](Call& call) { return list_as(call, "normalized"); });
  mounts.add({.method = "GET",
              .pattern = "/sessions/{session}/objects/{file}",
              .id = "librechat_probe_object",
              .tag = "librechat",
              .summary = "Checks whether a file exists"},
             probe_object);
  for (const char* pattern : {"/sessions/{session}/objects/{file}", "/files/{session}/{file}"})
    mounts.add({.method = "DELETE",
                .pattern = pattern,
                .id = std::string("librechat_delete_") + (pattern[1] == 's' ? "object" : "file"),
                .tag = "librechat",
                .summary = "Moves a file to the trash"},
               delete_object);
}

}  // namespace sk::api::librechat
