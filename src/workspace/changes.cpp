// The changes that a client can ask for, each inside a ChangeRun's transaction.
#include "base/error.h"
#include "base/object_writer.h"
#include "base/path.h"
#include "workspace/blob_ledger.h"
#include "workspace/change_run.h"
#include "workspace/workspace_rows.h"

namespace sk::workspace {

namespace {

Json version_facts(const Version& version, const Source& source) {
  ObjectWriter written(8);
  written.add("file_id", version.file.with_prefix(prefix::file));
  written.add("version_id", version.id.with_prefix(prefix::version));
  written.add("number", version.number);
  written.add("size", version.size);
  written.add("sha256", version.sha256.hex());
  written.add("source", source.kind);
  Json facts = written.take();
  if (version.base) facts["base_id"] = version.base.with_prefix(prefix::version);
  if (!version.complete) facts["complete"] = false;
  return facts;
}

void refuse_folder(const Entry& entry) {
  if (entry.kind == EntryKind::folder)
    throw Error(Code::conflict, quoted_path(entry.path) + " is a folder").advise(Advice::name_file_inside);
}

}  // namespace

ChangeResult ChangeRun::put(const PutChange& change) {
  auto existing = find(change.path);
  if (existing) refuse_folder(*existing);
  check_conditions(tx_, change.path, existing, change.conditions);
  ChangeResult result;
  try {
    check_locks(change.path, existing ? Touches::content : Touches::subtree, change.conditions);
    if (!existing) ensure_parents(change.path, change.conditions);
  } catch (const Error& error) {
    if (error.code() != Code::locked || !change.keep_when_locked) throw;
    result.kept_aside = true;
  }
  check_base(change, existing);
  const blobs::Blob& root = change.content.written().root();
  if (change.beside_head && existing) result.kept_aside = true;
  uint32_t mode = change.mode.value_or(existing ? existing->mode : change.mode_if_new);
  if (auto known = already_kept(change, existing)) return *known;
  if (existing && (!result.kept_aside || change.beside_head) && existing->sha256 == root.hash &&
      existing->head && existing->mode == mode && (change.mime_found || existing->mime == change.mime)) {
    auto head = tx_.one("SELECT " SK_VERSION_COLUMNS " FROM " SK_VERSION_TABLES " WHERE v.id = $1",
                        {existing->head}, read_version);
    // A version marked complete stays complete when the file is only opened again.
    if (head->complete || !change.complete) return leave_content(change, *existing, *head);
  }
  if (!existing && change.beside_head && left_this_place(change.path, root)) {
    result.unchanged = true;
    return result;
  }
  result.created = !existing;
  if (!existing && result.kept_aside)
    if (auto earlier = kept_in_trash(change.path, root.hash)) return *earlier;
  Entry entry = existing ? *existing : new_file(change.path);
  auto added = BlobLedger::add(tx_, workspace_, change.content.written(), now_us());
  unneeded_.insert(unneeded_.end(), added.unneeded.begin(), added.unneeded.end());
  grow(added.grew_bytes);
  NewVersion wanted;
  wanted.sha256 = root.hash;
  wanted.size = root.size;
  wanted.mime = change.mime;
  wanted.mode = mode;
  wanted.mtime_us = change.mtime_us.value_or(now_us());
  wanted.base = change.base.value_or(entry.head);
  wanted.source = change.source;
  wanted.complete = change.complete;
  // A write that names the version it replaces has seen the divergence and ends it.
  bool overtook = entry.head && (change.base ? *change.base != entry.head || change.base_diverged
                                             : change.captured && entry.sha256 != root.hash);
  wanted.diverged = overtook || (entry.diverged && !change.base && change.conditions.if_match.empty());
  result.diverged = overtook;
  if (result.kept_aside && existing) wanted.head = NewVersion::Head::stays;
  Version version = insert_version(entry, wanted);
  if (result.kept_aside && !existing) put_in_trash(entry);
  Json facts = version_facts(version, change.source);
  if (overtook) facts["diverged"] = true;
  if (result.kept_aside) facts["kept_aside"] = true;
  if (entry.trashed_us) facts["trashed"] = true;
  if (!change.source.detail.empty()) facts["source_detail"] = change.source.detail;
  journal(result.created ? "file.create" : "file.write", facts, {{"path", change.path}});
  result.entry = entry;
  result.version = version;
  return result;
}

// A new file has no head to preserve. On a locked path it is stored in the trash, where its link works and
// from where it can be restored to any path.
void ChangeRun::put_in_trash(Entry& entry) {
  tx_.exec("UPDATE entries SET trashed_us = $2, trash_root = $1 WHERE id = $1", {entry.id, now_us()});
  entry.trashed_us = now_us();
}

std::optional<ChangeResult> ChangeRun::kept_in_trash(const std::string& path, const Sha256& sha256) {
  auto [parent, name] = split_path(path);
  auto entry = tx_.one(
      "SELECT " SK_ENTRY_COLUMNS
      " FROM entries e WHERE e.workspace = $1 AND e.trashed_us IS NOT NULL AND e.parent = $2 AND e.name = $3 "
      "AND e.sha256 = $4 AND e.trash_root = e.id ORDER BY e.trashed_us DESC LIMIT 1",
      {workspace_, parent, name, sha256}, read_entry);
  if (!entry) return std::nullopt;
  ChangeResult result;
  result.version = tx_.one("SELECT " SK_VERSION_COLUMNS " FROM " SK_VERSION_TABLES " WHERE v.id = $1",
                           {entry->head}, read_version);
  result.entry = *entry;
  result.unchanged = result.kept_aside = true;
  return result;
}

// Whether a file with these bytes was here and was deleted or moved since. Empty content matches any file,
// because a power cut can truncate it.
bool ChangeRun::left_this_place(const std::string& path, const blobs::Blob& content) {
  auto [parent, name] = split_path(path);
  return tx_.query(
             "SELECT 1 FROM versions v WHERE (v.sha256 = $4 OR $5 = 0) AND v.file IN (SELECT e.id FROM "
             "entries e "
             "WHERE e.workspace = $1 AND e.parent = $2 AND e.name = $3 AND e.trashed_us IS NOT NULL UNION "
             "SELECT "
             "h.file FROM placements h WHERE h.workspace = $1 AND h.parent = $2 AND h.name = $3)",
             {workspace_, parent, name, content.hash, content.size},
             [](const catalog::Row&) { return false; }) > 0;
}

void ChangeRun::check_base(const PutChange& change, const std::optional<Entry>& existing) {
  if (!change.base || change.base_is_known || (existing && existing->head == *change.base)) return;
  auto [parent, name] = split_path(change.path);
  Id file = existing ? existing->id : Id{};
  auto found = [](const catalog::Row&) { return false; };
  // The writer may have started from an earlier file at this path that was moved, trashed or purged since.
  bool known =
      tx_.query(
          "SELECT 1 FROM versions v JOIN entries e ON e.id = v.file WHERE v.id = $1 AND v.workspace = $2 AND "
          "(v.file = $3 OR (e.parent = $4 AND e.name = $5) OR EXISTS (SELECT 1 FROM placements h WHERE "
          "h.workspace = $2 AND h.parent = $4 AND h.name = $5 AND h.file = v.file))",
          {*change.base, workspace_, file, parent, name}, found) > 0 ||
      tx_.query(
          "SELECT 1 FROM purged_versions p WHERE p.id = $1 AND p.workspace = $2 AND (p.file IS NULL OR "
          "p.file = $3 OR NOT EXISTS (SELECT 1 FROM entries e WHERE e.id = p.file) OR EXISTS (SELECT 1 FROM "
          "placements h WHERE h.workspace = $2 AND h.parent = $4 AND h.name = $5 AND h.file = p.file))",
          {*change.base, workspace_, file, parent, name}, found) > 0;
  if (known) return;
  throw Error(Code::bad_request, "the base " + change.base->with_prefix(prefix::version) +
                                     " is not, and never was, a version of " + quoted_path(change.path))
      .advise(Advice::name_base)
      .with_paths("path", Sentence::of_path(change.path));
}

// Prevents a stale copy from overwriting newer content with old bytes.
std::optional<ChangeResult> ChangeRun::already_kept(const PutChange& change,
                                                    const std::optional<Entry>& existing) {
  const Sha256& sha256 = change.content.hash();
  if (!change.captured || !existing || !existing->head || existing->sha256 == sha256) return std::nullopt;
  if (change.base && *change.base == existing->head && !change.beside_head) return std::nullopt;
  auto version =
      tx_.one("SELECT " SK_VERSION_COLUMNS " FROM " SK_VERSION_TABLES
              " WHERE v.file = $1 AND v.sha256 = $2 AND ($3 = 0 OR v.id = $4) "
              "ORDER BY v.number DESC LIMIT 1",
              {existing->id, sha256, change.base && !change.beside_head ? 1 : 0, change.base.value_or(Id{})},
              read_version);
  if (!version) return std::nullopt;
  ChangeResult result;
  result.entry = *existing;
  result.version = version;
  result.unchanged = true;
  return result;
}

ChangeResult ChangeRun::leave_content(const PutChange& change, Entry entry, const Version& head) {
  ChangeResult result;
  result.version = head;
  result.unchanged = true;
  // A writer that names the current version and writes the same bytes confirms that version.
  bool names_head = (change.base && *change.base == entry.head) || !change.conditions.if_match.empty();
  if (entry.diverged && names_head) {
    entry.diverged = false;
    tx_.exec("UPDATE entries SET diverged = 0 WHERE id = $1", {entry.id});
    journal("file.settle",
            {{"file_id", entry.id.with_prefix(prefix::file)},
             {"version_id", entry.head.with_prefix(prefix::version)}},
            {{"path", change.path}});
  }
  if (change.mtime_us && *change.mtime_us != entry.mtime_us)
    set_attributes(entry, entry.mode, *change.mtime_us);
  result.entry = std::move(entry);
  return result;
}

ChangeResult ChangeRun::mkdir(const MkdirChange& change) {
  auto existing = find(change.path);
  check_conditions(tx_, change.path, existing, change.conditions);
  ChangeResult result;
  if (existing) {
    if (existing->kind != EntryKind::folder)
      throw Error(Code::conflict, quoted_path(change.path) + " is a file").advise(Advice::choose_other_path);
    if (!change.exist_ok)
      throw Error(Code::conflict, "the folder " + quoted_path(change.path) + " exists already");
    if (change.sets_mode && change.mode && *change.mode != existing->mode) {
      check_locks(change.path, Touches::content, change.conditions);
      set_attributes(*existing, *change.mode, existing->mtime_us);
    }
    result.entry = *existing;
    result.unchanged = true;
    return result;
  }
  check_locks(change.path, Touches::membership, change.conditions);
  ensure_parents(change.path, change.conditions);
  result.entry = insert_folder(change.path, change.mode.value_or(0755));
  result.created = true;
  return result;
}

ChangeResult ChangeRun::move(const MoveChange& change) {
  Entry entry = get(change.from);
  check_conditions_of_move(entry, change.to, change.conditions);
  ChangeResult result;
  if (change.from == change.to) {
    result.entry = entry;
    result.unchanged = true;
    return result;
  }
  if (entry.kind == EntryKind::folder && is_within(change.to, change.from))
    throw Error(Code::bad_request, "a folder cannot be moved into itself");
  check_locks(change.from, entry.kind == EntryKind::folder ? Touches::subtree : Touches::membership,
              change.conditions);
  check_locks(change.to, Touches::subtree, change.conditions);
  if (is_within(change.from, change.to))
    throw Error(Code::conflict, quoted_path(change.to) + " contains the entry that would be moved there");
  std::string to = settle_target(change.to, change.on_existing, change.conditions);
  ensure_parents(to, change.conditions);
  place(entry, to);
  journal(entry.kind == EntryKind::folder ? "folder.move" : "file.move",
          {{"file_id", entry.id.with_prefix(prefix::file)}}, {{"from", change.from}, {"to", to}});
  result.entry = get(to);
  return result;
}

Version ChangeRun::copy_file(const Entry& from, const std::optional<Id>& from_version, Entry& to,
                             Source made_by) {
  Id wanted_id = from_version.value_or(from.head);
  auto source =
      tx_.one("SELECT " SK_VERSION_COLUMNS " FROM " SK_VERSION_TABLES " WHERE v.id = $1 AND v.file = $2",
              {wanted_id, from.id}, read_version);
  if (!source)
    throw Error(Code::not_found,
                quoted_path(from.path) + " has no version " + wanted_id.with_prefix(prefix::version));
  grow(BlobLedger::add_known(tx_, workspace_, source->sha256));
  NewVersion wanted;
  wanted.sha256 = source->sha256;
  wanted.size = source->size;
  wanted.mime = source->mime;
  // For the current version, use the entry's attributes, which can change without a new version.
  bool current = source->id == from.head;
  wanted.mode = current ? from.mode : source->mode;
  wanted.mtime_us = current ? from.mtime_us : source->mtime_us;
  wanted.complete = source->complete;
  wanted.base = to.head;
  wanted.source = std::move(made_by);
  wanted.source.detail["version_id"] = source->id.with_prefix(prefix::version);
  Version made = insert_version(to, wanted);
  Json facts = version_facts(made, wanted.source);
  facts["from_version_id"] = source->id.with_prefix(prefix::version);
  journal(made.number == 1 ? "file.create" : "file.write", facts, {{"path", to.path}, {"from", from.path}});
  return made;
}

ChangeResult ChangeRun::copy(const CopyChange& change) {
  Id from_workspace = change.from_workspace.value_or(workspace_);
  // The authority is for the workspace that is written to; of the other one, it names the reader.
  check_source(from_workspace);
  ChangeRun source(tx_, context_, author_, from_workspace);
  Entry from = change.from.empty() ? source.file_of(*change.from_version) : source.get(change.from);
  if (from_workspace == workspace_ && !covers(from.path))
    throw Error(Code::not_found, "there is no version " + change.from_version->with_prefix(prefix::version));
  if (from_workspace == workspace_ && from.kind == EntryKind::folder && change.to != change.from &&
      is_within(change.to, change.from))
    throw Error(Code::bad_request, "a folder cannot be copied into itself");
  if (from_workspace == workspace_ && is_within(change.from, change.to)) {
    if (change.from != change.to || change.on_existing != OnExisting::rename)
      throw Error(Code::conflict,
                  quoted_path(change.to) + " is, or contains, the entry that would be copied there");
  }
  auto target = find(change.to);
  check_conditions(tx_, change.to, target, change.conditions);
  ChangeResult result;
  if (from.kind == EntryKind::file && target && target->kind == EntryKind::file &&
      change.on_existing == OnExisting::replace) {
    // Copying onto a file makes a new version, so that the file's id and history stay.
    check_locks(change.to, Touches::content, change.conditions);
    result.version = copy_file(from, change.from_version, *target, {"copy", change.detail});
    result.entry = *target;
    return result;
  }
  check_locks(change.to, Touches::subtree, change.conditions);
  std::string to = settle_target(change.to, change.on_existing, change.conditions);
  ensure_parents(to, change.conditions);
  result.created = true;
  if (from.kind == EntryKind::file) {
    Entry made = new_file(to);
    result.version = copy_file(from, change.from_version, made, {"copy", change.detail});
    result.entry = made;
    return result;
  }
  if (change.from_version) throw Error(Code::bad_request, "a folder has no versions to copy from");
  source.check_paths_below(from, to);
  touch(source.count_below(change.from, longer_bytes(change.from, to)), kNewEntryCost);
  auto members = source.below(change.from);
  result.entry = insert_folder(to, from.mode);
  for (const Entry& member : members) {
    std::string path = clean_path(to + member.path.substr(from.path.size()));
    if (member.kind == EntryKind::folder) {
      insert_folder(path, member.mode);
    } else {
      Entry made = new_file(path);
      copy_file(member, std::nullopt, made, {"copy", change.detail});
    }
  }
  return result;
}

ChangeResult ChangeRun::trash_change(const TrashChange& change) {
  Entry entry = get(change.path);
  check_conditions(tx_, change.path, entry, change.conditions);
  check_locks(change.path, entry.kind == EntryKind::folder ? Touches::subtree : Touches::membership,
              change.conditions);
  if (change.only_if) check_each(entry, change.only_if);
  trash(entry);
  ChangeResult result;
  entry.trashed_us = now_us();
  result.entry = entry;
  return result;
}

ChangeResult ChangeRun::restore_version(const RestoreVersionChange& change) {
  auto version =
      tx_.one("SELECT " SK_VERSION_COLUMNS " FROM " SK_VERSION_TABLES " WHERE v.id = $1 AND v.workspace = $2",
              {change.version, workspace_}, read_version);
  if (!version || !covers(version->path))
    throw Error(Code::not_found,
                "this workspace has no version " + change.version.with_prefix(prefix::version));
  auto entry = tx_.one("SELECT " SK_ENTRY_COLUMNS " FROM entries e WHERE e.id = $1 AND e.trashed_us IS NULL",
                       {version->file}, read_entry);
  if (!entry)
    throw Error(Code::conflict, "the file of this version is in the trash")
        .advise(Advice::restore_file_first)
        .with("file_id", version->file.with_prefix(prefix::file));
  check_conditions(tx_, entry->path, entry, change.conditions);
  check_locks(entry->path, Touches::content, change.conditions);
  ChangeResult result;
  if (entry->head == version->id) {
    result.unchanged = true;
    result.version = version;
  } else {
    result.version = copy_file(*entry, change.version, *entry, {"restore", Json::object()});
  }
  result.entry = *entry;
  return result;
}

ChangeResult ChangeRun::set_mode(const SetModeChange& change) {
  Entry entry = get(change.path);
  check_conditions(tx_, change.path, entry, change.conditions);
  check_locks(change.path, Touches::content, change.conditions);
  set_attributes(entry, change.mode.value_or(entry.mode), change.mtime_us.value_or(entry.mtime_us));
  ChangeResult result;
  result.entry = entry;
  return result;
}

void ChangeRun::set_attributes(Entry& entry, uint32_t mode, TimeUs mtime_us) {
  // A file's first attributes are in its version. Save a folder's first attributes before they are replaced.
  if (entry.kind == EntryKind::folder)
    tx_.exec(
        "INSERT INTO attributes (workspace, file, since_us, mode, mtime_us) SELECT workspace, id, "
        "created_us, "
        "mode, mtime_us FROM entries e WHERE e.id = $1 AND NOT EXISTS "
        "(SELECT 1 FROM attributes a WHERE a.workspace = e.workspace AND a.file = e.id)",
        {entry.id});
  tx_.exec(
      "INSERT INTO attributes (workspace, file, since_us, mode, mtime_us) VALUES ($1, $2, $3, $4, $5) "
      "ON CONFLICT (workspace, file, since_us) DO UPDATE SET mode = excluded.mode, mtime_us = "
      "excluded.mtime_us",
      {workspace_, entry.id, now_us(), mode, mtime_us});
  entry.mode = mode;
  entry.mtime_us = mtime_us;
  entry.changed_us = now_us();
  tx_.exec("UPDATE entries SET mode = $2, mtime_us = $3, changed_us = $4 WHERE id = $1",
           {entry.id, mode, mtime_us, now_us()});
  journal("file.set",
          {{"file_id", entry.id.with_prefix(prefix::file)}, {"mode", mode}, {"mtime", to_iso8601(mtime_us)}},
          {{"path", entry.path}});
}

}  // namespace sk::workspace
