#include "api/common/shapes.h"

#include <cstdio>

#include "workspace/links.h"
#include "workspace/path.h"

namespace sk::api {

namespace prefix = workspace::prefix;

namespace {

Json named(std::string_view id_prefix, const Id& id, const std::string& name) {
  return {{"id", id.with_prefix(id_prefix)}, {"name", name}};
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
  Json out = {
      {"id", id_or_null(prefix::file, entry.id)},  // the root has none
      {"workspace_id", entry.workspace.with_prefix(prefix::workspace)},
      {"path", entry.path},
      {"name", workspace::split_path(entry.path).second},
      {"kind", is_file ? "file" : "folder"},
      {"size", entry.size},
      {"sha256", is_file ? Json(entry.sha256.hex()) : Json(nullptr)},
      {"mime", is_file ? Json(entry.mime) : Json(nullptr)},
      {"mode", mode_text(entry.mode)},
      {"mtime", to_iso8601(entry.mtime_us)},
      {"created_at", to_iso8601(entry.created_us)},
      {"changed_at", to_iso8601(entry.changed_us)},
      {"version_id", id_or_null(prefix::version, entry.head)},
      {"version_count", entry.version_count},
      {"diverged", entry.diverged},
  };
  if (entry.trashed_us) out["trashed_at"] = to_iso8601(*entry.trashed_us);
  out["link"] =
      entry.head ? Json(base_url + workspace::Links::path_of(entry.head, entry.path)) : Json(nullptr);
  return out;
}

Json version_json(const workspace::Version& version, const std::string& base_url) {
  return {
      {"id", version.id.with_prefix(prefix::version)},
      {"file_id", version.file.with_prefix(prefix::file)},
      {"workspace_id", version.workspace.with_prefix(prefix::workspace)},
      {"path", version.path},
      {"number", version.number},
      {"size", version.size},
      {"sha256", version.sha256.hex()},
      {"mime", version.mime},
      {"mode", mode_text(version.mode)},
      {"mtime", to_iso8601(version.mtime_us)},
      {"base_id", id_or_null(prefix::version, version.base)},
      {"created_at", to_iso8601(version.created_us)},
      {"author", named(prefix::principal, version.author, version.author_name)},
      {"source", source_json(version.source)},
      {"complete", version.complete},
      {"is_head", version.is_head},
      {"link", base_url + workspace::Links::path_of(version)},
  };
}

Json change_json(const workspace::ChangeResult& result, const std::string& base_url) {
  Json out = {{"entry", entry_json(result.entry, base_url)}};
  if (result.version) out["version"] = version_json(*result.version, base_url);
  out["created"] = result.created;
  out["unchanged"] = result.unchanged;
  out["diverged"] = result.diverged;
  out["kept_aside"] = result.kept_aside;
  return out;
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

Json principal_json(const workspace::Principal& principal) {
  return {{"id", principal.id.with_prefix(prefix::principal)},
          {"name", principal.name},
          {"kind", principal.kind},
          {"admin", principal.admin},
          {"created_at", to_iso8601(principal.created_us)}};
}

Json key_json(const workspace::KeyInfo& key) {
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
