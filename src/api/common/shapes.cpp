#include "api/common/shapes.h"

#include <cstdio>

#include "base/object_writer.h"
#include "base/path.h"
#include "workspace/links.h"

namespace sk::api {

namespace prefix = workspace::prefix;

namespace {

Json named(std::string_view id_prefix, const Id& id, const std::string& name) {
  return ObjectWriter(2).add("id", id.with_prefix(id_prefix)).add("name", name).take();
}

Json id_or_null(std::string_view id_prefix, const std::optional<Id>& id) {
  return id && *id ? Json(id->with_prefix(id_prefix)) : Json(nullptr);
}

Json source_json(const workspace::Source& source) {
  Json out = {{"kind", source.kind}};
  if (source.detail.is_object()) out.update(source.detail);
  return out;
}

}  // namespace

std::string_view role_name(workspace::Right right) {
  switch (right) {
    case workspace::Right::none:
      return "none";
    case workspace::Right::read:
      return "read";
    case workspace::Right::write:
      return "write";
    case workspace::Right::own:
      return "own";
  }
  return "read";
}

std::string mode_text(uint32_t mode) {
  char text[16];
  std::snprintf(text, sizeof text, "%04o", mode & 07777);
  return text;
}

Json time_json(std::optional<TimeUs> time_us) { return time_us ? Json(to_iso8601(*time_us)) : Json(nullptr); }

Json entry_json(const workspace::Entry& entry, const std::string& base_url) {
  bool is_file = entry.kind == workspace::EntryKind::file;
  ObjectWriter out(17);
  out.add("id", id_or_null(prefix::file, entry.id));  // null for the root
  out.add("workspace_id", entry.workspace.with_prefix(prefix::workspace));
  out.add("path", entry.path);
  out.add("name", split_path(entry.path).second);
  out.add("kind", is_file ? "file" : "folder");
  out.add("size", entry.size);
  out.add("sha256", is_file ? Json(entry.sha256.hex()) : Json(nullptr));
  out.add("mime", is_file ? Json(entry.mime) : Json(nullptr));
  out.add("mode", mode_text(entry.mode));
  out.add("mtime", to_iso8601(entry.mtime_us));
  out.add("created_at", to_iso8601(entry.created_us));
  out.add("changed_at", to_iso8601(entry.changed_us));
  out.add("version_id", id_or_null(prefix::version, entry.head));
  out.add("version_count", entry.version_count);
  out.add("diverged", entry.diverged);
  if (entry.trashed_us) out.add("trashed_at", to_iso8601(*entry.trashed_us));
  out.add("link",
          entry.head ? Json(base_url + workspace::Links::path_of(entry.head, entry.path)) : Json(nullptr));
  return out.take();
}

Json version_json(const workspace::Version& version, const std::string& base_url) {
  ObjectWriter out(17);
  out.add("id", version.id.with_prefix(prefix::version));
  out.add("file_id", version.file.with_prefix(prefix::file));
  out.add("workspace_id", version.workspace.with_prefix(prefix::workspace));
  out.add("path", version.path);
  out.add("number", version.number);
  out.add("size", version.size);
  out.add("sha256", version.sha256.hex());
  out.add("mime", version.mime);
  out.add("mode", mode_text(version.mode));
  out.add("mtime", to_iso8601(version.mtime_us));
  out.add("base_id", id_or_null(prefix::version, version.base));
  out.add("created_at", to_iso8601(version.created_us));
  out.add("author", named(prefix::principal, version.author, version.author_name));
  out.add("source", source_json(version.source));
  out.add("complete", version.complete);
  out.add("is_head", version.is_head);
  out.add("link", base_url + workspace::Links::path_of(version));
  return out.take();
}

Json change_json(const workspace::ChangeResult& result, const std::string& base_url) {
  ObjectWriter out(6);
  out.add("entry", entry_json(result.entry, base_url));
  if (result.version) out.add("version", version_json(*result.version, base_url));
  out.add("created", result.created);
  out.add("unchanged", result.unchanged);
  out.add("diverged", result.diverged);
  out.add("kept_aside", result.kept_aside);
  return out.take();
}

Json purge_json(const workspace::PurgeResult& result, const std::string& base_url) {
  Json broken = Json::array();
  for (const auto& version : result.broken_links) {
    broken.push_back({{"version_id", version.id.with_prefix(prefix::version)},
                      {"path", version.path},
                      {"link", base_url + workspace::Links::path_of(version)}});
  }
  return {{"files", result.files},
          {"versions", result.versions},
          {"freed_bytes", result.freed_bytes},
          {"broken_links", std::move(broken)}};
}

Json workspace_json(const workspace::Workspace& workspace) {
  Json out = {
      {"id", workspace.id.with_prefix(prefix::workspace)},
      {"name", workspace.name},
      {"owner", named(prefix::principal, workspace.owner, workspace.owner_name)},
      {"role", role_name(workspace.role)},
      {"quota_bytes", workspace.quota_bytes},
      {"used_bytes", workspace.used_bytes},
      {"created_at", to_iso8601(workspace.created_us)},
  };
  if (workspace.trashed_us) out["trashed_at"] = to_iso8601(*workspace.trashed_us);
  return out;
}

Json principal_json(const identity::Principal& principal) {
  return {{"id", principal.id.with_prefix(prefix::principal)},
          {"name", principal.name},
          {"kind", principal.kind},
          {"admin", principal.admin},
          {"created_at", to_iso8601(principal.created_us)},
          {"suspended_at", time_json(principal.suspended_us)},
          {"limits", limits_json(principal.limits)}};
}

Json key_json(const identity::KeyInfo& key) {
  return {{"id", key.id.with_prefix(prefix::key)},
          {"principal", named(prefix::principal, key.principal, key.principal_name)},
          {"name", key.name},
          {"hint", key.hint},
          {"read_only", key.read_only},
          {"workspace_id", id_or_null(prefix::workspace, key.only_workspace)},
          {"expires_at", time_json(key.expires_us)},
          {"revoked_at", time_json(key.revoked_us)},
          {"last_used_at", time_json(key.last_used_us)},
          {"created_at", to_iso8601(key.created_us)}};
}

Json lock_json(const workspace::Lock& lock) {
  Json out = {{"id", lock.id.with_prefix(prefix::lock)},
              {"path", lock.path},
              {"deep", lock.deep},
              {"shared", lock.shared},
              {"owner", named(prefix::principal, lock.owner, lock.owner_name)},
              {"purpose", lock.purpose},
              {"fence", lock.fence},
              {"created_at", to_iso8601(lock.created_us)},
              {"expires_at", to_iso8601(lock.expires_us)}};
  if (!lock.token.empty()) out["token"] = lock.token;
  return out;
}

Json event_json(const workspace::JournalEntry& entry) {
  return {{"seq", entry.seq},        {"time", to_iso8601(entry.time_us)},
          {"kind", entry.kind},      {"actor_id", id_or_null(prefix::principal, entry.actor)},
          {"facts", entry.facts},    {"personal", entry.personal},
          {"hash", entry.hash.hex()}};
}

}  // namespace sk::api
