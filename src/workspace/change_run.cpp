#include "workspace/change_run.h"

#include "base/error.h"
#include "base/path.h"
#include "workspace/journal.h"
#include "workspace/workspace_rows.h"

namespace sk::workspace {

ChangeRun::ChangeRun(catalog::Tx& tx, KeepContext& context, const Authority& authority)
    : ChangeRun(tx, context, authority.author(), authority.workspace_id()) {
  authority_ = &authority;
}

ChangeRun::ChangeRun(catalog::Tx& tx, KeepContext& context, Author author, const Id& workspace)
    : tx_(tx),
      context_(context),
      author_(std::move(author)),
      workspace_(workspace),
      locks_(tx, workspace, tx.now_us()) {}

void ChangeRun::check_scope(std::string_view path, Touches touches) const {
  bool is_covered = touches == Touches::content ? covers(path) : covers_place(path);
  if (!is_covered) throw out_of_scope(*authority_, path);
}

void ChangeRun::check_paths_of(const Change& change) const {
  if (authority_ == nullptr || !authority_->is_limited()) return;
  std::visit(
      [this](const auto& one) {
        using T = std::decay_t<decltype(one)>;
        if constexpr (std::is_same_v<T, MoveChange>) {
          check_scope(one.from, Touches::membership);
          check_scope(one.to, Touches::membership);
        } else if constexpr (std::is_same_v<T, CopyChange>) {
          bool is_own = !one.from_workspace || *one.from_workspace == workspace_;
          if (is_own && !one.from.empty()) check_scope(one.from, Touches::content);
          check_scope(one.to, Touches::content);
        } else if constexpr (std::is_same_v<T, TrashChange>) {
          check_scope(one.path, Touches::membership);
        } else if constexpr (!std::is_same_v<T, RestoreVersionChange>) {
          check_scope(one.path, Touches::content);
        }
      },
      change);
}

void ChangeRun::check_source(const Id& workspace) const {
  if (workspace == workspace_) return;
  // A limited authority stands for a part of one workspace, not for all that its actor may read.
  bool is_readable =
      authority_ != nullptr && !authority_->is_limited() && may_read(tx_, authority_->actor(), workspace);
  if (!is_readable) throw no_such_workspace(workspace.with_prefix(prefix::workspace));
}

ChangeResult ChangeRun::run(const Change& change) {
  check_paths_of(change);
  tick();
  made_above_.clear();
  room_checked_ = false;
  count_noted_rows();
  ChangeResult result;
  try {
    result = apply(change);
    count_noted_rows();
  } catch (...) {
    noted_rows_ = {};  // they are rolled back
    throw;
  }
  result.made_above = std::exchange(made_above_, {});
  // A change without new bytes still adds rows. The trash must always be open: it is the way back below the
  // quota.
  bool only_records = !result.unchanged && !std::holds_alternative<TrashChange>(change);
  bool is_checked = !ignores_records_ || result.created || std::holds_alternative<PutChange>(change);
  // The check of new bytes saw all rows but the last. A copied folder has many after its first new bytes.
  bool has_checked = room_checked_ && !std::holds_alternative<CopyChange>(change);
  if (only_records && !has_checked && is_checked) check_room_for_records(tx_, context_, workspace_);
  return result;
}

ChangeResult ChangeRun::apply(const Change& change) {
  return std::visit(
      [this](const auto& one) -> ChangeResult {
        using T = std::decay_t<decltype(one)>;
        if constexpr (std::is_same_v<T, PutChange>)
          return put(one);
        else if constexpr (std::is_same_v<T, MkdirChange>)
          return mkdir(one);
        else if constexpr (std::is_same_v<T, MoveChange>)
          return move(one);
        else if constexpr (std::is_same_v<T, CopyChange>)
          return copy(one);
        else if constexpr (std::is_same_v<T, TrashChange>)
          return trash_change(one);
        else if constexpr (std::is_same_v<T, RestoreVersionChange>)
          return restore_version(one);
        else
          return set_mode(one);
      },
      change);
}

std::optional<Entry> ChangeRun::find(std::string_view path) {
  auto [parent, name] = split_path(path);
  return tx_.one(
      "SELECT " SK_ENTRY_COLUMNS
      " FROM entries e WHERE e.workspace = $1 AND e.parent = $2 AND e.name = $3 AND e.trashed_us IS NULL",
      {workspace_, parent, name}, read_entry);
}

Entry ChangeRun::get(std::string_view path) {
  auto entry = find(path);
  if (!entry) throw Error(Code::not_found, "there is nothing at " + quoted_path(path));
  return *entry;
}

Entry ChangeRun::file_of(const Id& version) {
  auto found =
      tx_.one("SELECT " SK_ENTRY_COLUMNS
              " FROM versions v JOIN entries e ON e.id = v.file WHERE v.id = $1 AND v.workspace = $2",
              {version, workspace_}, read_entry);
  if (!found) throw Error(Code::not_found, "there is no version " + version.with_prefix(prefix::version));
  return *found;
}

std::vector<Entry> ChangeRun::below(std::string_view folder) {
  Below range(folder);
  if (folder.empty())
    return tx_.all(
        "SELECT " SK_ENTRY_COLUMNS
        " FROM entries e WHERE e.workspace = $1 AND e.trashed_us IS NULL ORDER BY e.parent, e.name",
        {workspace_}, read_entry);
  return tx_.all(
      "SELECT " SK_ENTRY_COLUMNS
      " FROM entries e WHERE e.workspace = $1 AND e.trashed_us IS NULL AND e.parent >= $2 AND e.parent < $4 "
      "AND (e.parent = $2 OR e.parent >= $3) ORDER BY e.parent, e.name",
      {workspace_, range.exact, range.from, range.to}, read_entry);
}

void ChangeRun::check_conditions(catalog::Statements& statements, std::string_view path,
                                 const std::optional<Entry>& entry, const Conditions& conditions) {
  auto fail = [&](Sentence message) {
    Error error(Code::precondition_failed, std::move(message));
    error.with_paths("path", Sentence::of_path(path));
    if (entry && entry->head) error.with("current_version_id", entry->head.with_prefix(prefix::version));
    throw error;
  };
  if (conditions.if_none_match_any && entry) fail(quoted_path(path) + " exists already");
  bool needs_entry = conditions.if_match_any || !conditions.if_match.empty() || conditions.if_match_foreign;
  if (needs_entry && !entry)
    throw Error(Code::precondition_failed, "there is nothing at " + quoted_path(path))
        .with_paths("path", Sentence::of_path(path))
        .advise(Advice::omit_condition);
  if (conditions.if_unmodified_since_us && entry) {
    TimeUs modified_us = entry->changed_us;
    // For a file, use the time of its version, which is the time that readers receive.
    if (entry->head)
      statements.query("SELECT created_us FROM versions WHERE id = $1", {entry->head},
                       [&](const catalog::Row& row) {
                         modified_us = row.integer(0);
                         return false;
                       });
    // HTTP dates have whole seconds. A change within the second of the given date counts as unmodified.
    if (modified_us >= *conditions.if_unmodified_since_us + kSecondUs)
      fail(quoted_path(path) + " was changed at " + to_iso8601(modified_us));
  }
  if (conditions.if_match.empty() && !conditions.if_match_foreign) return;
  for (const Id& wanted : conditions.if_match)
    if (entry->head == wanted) return;
  fail(quoted_path(path) + " has changed: its current version is another one");
}

void ChangeRun::check_conditions_of_move(const Entry& entry, const std::string& to,
                                         const Conditions& conditions) {
  Conditions of_entry = conditions, of_target;
  of_entry.if_none_match_any = false;
  check_conditions(tx_, entry.path, entry, of_entry);
  of_target.if_none_match_any = conditions.if_none_match_any;
  if (of_target.if_none_match_any) check_conditions(tx_, to, find(to), of_target);
}

void ChangeRun::ensure_parents(std::string_view path, const Conditions& conditions) {
  auto [parent, name] = split_path(path);
  if (parent.empty()) return;
  auto entry = find(parent);
  if (entry) {
    if (entry->kind == EntryKind::folder) return;
    throw Error(Code::conflict, quoted_path(parent) + " is a file, so nothing can be put below it")
        .advise(Advice::move_file_away);
  }
  check_locks(parent, Touches::membership, conditions);
  touch(1 + parent.size() / 256, kNewEntryCost);
  ensure_parents(parent, conditions);
  made_above_.push_back(insert_folder(parent, 0755));
}

std::string ChangeRun::settle_target(const std::string& path, OnExisting on_existing,
                                     const Conditions& conditions) {
  auto existing = find(path);
  if (!existing) return path;
  if (on_existing == OnExisting::refuse)
    throw Error(Code::conflict, quoted_path(path) + " exists already").advise(Advice::replace_or_rename);
  if (on_existing == OnExisting::replace) {
    check_locks(path, existing->kind == EntryKind::folder ? Touches::subtree : Touches::membership,
                conditions);
    trash(*existing);
    tick();
    return path;
  }
  auto [parent, name] = split_path(path);
  auto dot = existing->kind == EntryKind::file ? name.rfind('.') : std::string::npos;
  if (dot == 0) dot = std::string::npos;
  std::string stem = name.substr(0, dot), extension = dot == std::string::npos ? "" : name.substr(dot);
  for (int n = 2; n < 10'000; ++n) {
    std::string candidate = join_path(parent, stem + " (" + std::to_string(n) + ")" + extension);
    if (find(clean_path(candidate))) continue;
    check_locks(candidate, Touches::subtree, conditions);
    return candidate;
  }
  throw Error(Code::conflict, "there are too many entries named like " + quoted_path(path));
}

Entry ChangeRun::insert_folder(const std::string& path, uint32_t mode) {
  auto [parent, name] = split_path(path);
  Entry entry;
  entry.id = context_.ids.next();
  entry.workspace = workspace_;
  entry.path = path;
  entry.kind = EntryKind::folder;
  entry.mode = mode;
  entry.mtime_us = entry.created_us = entry.changed_us = now_us();
  tx_.exec(
      "INSERT INTO entries (id, workspace, parent, name, kind, size, mime, mode, mtime_us, created_us, "
      "changed_us, placed_us, version_count, diverged) "
      "VALUES ($1, $2, $3, $4, 1, 0, '', $5, $6, $6, $6, $6, 0, 0)",
      {entry.id, workspace_, parent, name, mode, now_us()});
  noted_rows_.add_entry(stored_path_bytes(path));
  journal("folder.create", {{"file_id", entry.id.with_prefix(prefix::file)}}, {{"path", path}});
  return entry;
}

Entry ChangeRun::new_file(const std::string& path) {
  Entry entry;
  entry.id = context_.ids.next();
  entry.workspace = workspace_;
  entry.path = path;
  entry.created_us = now_us();
  return entry;
}

void ChangeRun::insert_file(const Entry& entry) {
  auto [parent, name] = split_path(entry.path);
  tx_.exec(
      "INSERT INTO entries (id, workspace, parent, name, kind, head, size, sha256, mime, mode, mtime_us, "
      "created_us, changed_us, placed_us, version_count, last_number, diverged) "
      "VALUES ($1, $2, $3, $4, 0, $5, $6, $7, $8, $9, $10, $11, $11, $11, $12, $13, $14)",
      {entry.id, workspace_, parent, name, entry.head, entry.size, entry.sha256, entry.mime, entry.mode,
       entry.mtime_us, now_us(), entry.version_count, entry.last_number, entry.diverged ? 1 : 0});
  noted_rows_.add_entry(stored_path_bytes(entry.path));
}

Version ChangeRun::insert_version(Entry& entry, const NewVersion& wanted) {
  bool becomes = wanted.head == NewVersion::Head::becomes;
  Version version;
  version.id = context_.ids.next();
  version.file = entry.id;
  version.workspace = workspace_;
  version.path = entry.path;
  version.number = entry.last_number + 1;
  version.size = wanted.size;
  version.sha256 = wanted.sha256;
  version.mime = wanted.mime;
  version.mode = wanted.mode;
  version.mtime_us = wanted.mtime_us;
  version.base = wanted.base;
  version.created_us = now_us();
  version.author = author_.principal;
  version.author_name = author_.name;
  version.source = wanted.source;
  version.complete = wanted.complete;
  version.is_head = becomes;
  std::string detail = to_text(wanted.source.detail);
  tx_.exec(
      "INSERT INTO versions (id, file, workspace, number, sha256, size, mime, mode, mtime_us, base, "
      "created_us, head_us, author, source, "
      "source_detail, complete) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, "
      "$16)",
      {version.id, entry.id, workspace_, version.number, version.sha256, version.size, version.mime,
       version.mode, version.mtime_us, wanted.base ? catalog::Param(wanted.base) : catalog::Param(nullptr),
       now_us(), becomes ? catalog::Param(now_us()) : catalog::Param(nullptr), author_.principal,
       wanted.source.kind, detail, wanted.complete ? 1 : 0});
  noted_rows_.add_version(static_cast<int64_t>(2 * version.mime.size() + detail.size()),
                          static_cast<int64_t>(version.size));
  bool fresh = !entry.head;
  entry.last_number = version.number;
  ++entry.version_count;
  if (becomes) {
    entry.head = version.id;
    entry.size = version.size;
    entry.sha256 = version.sha256;
    entry.mime = version.mime;
    entry.mode = version.mode;
    entry.mtime_us = version.mtime_us;
    entry.changed_us = now_us();
    entry.diverged = wanted.diverged;
  }
  if (fresh) {
    SK_CHECK(becomes, "a new file's first version is its head");
    insert_file(entry);
  } else if (becomes) {
    tx_.exec(
        "UPDATE entries SET head = $2, size = $3, sha256 = $4, mime = $5, mode = $6, mtime_us = $7, "
        "changed_us = $8, version_count = $9, "
        "diverged = $10, last_number = $11 WHERE id = $1",
        {entry.id, entry.head, entry.size, entry.sha256, entry.mime, entry.mode, entry.mtime_us, now_us(),
         entry.version_count, entry.diverged ? 1 : 0, entry.last_number});
  } else {
    tx_.exec("UPDATE entries SET version_count = $2, last_number = $3 WHERE id = $1",
             {entry.id, entry.version_count, entry.last_number});
  }
  return version;
}

void ChangeRun::grow(uint64_t bytes) {
  if (bytes == 0) return;
  count_contents(tx_, workspace_, static_cast<int64_t>(bytes));
  check_room_for_contents(tx_, context_, workspace_, bytes);
  room_checked_ = true;
}

void ChangeRun::shrink(uint64_t bytes) { count_contents(tx_, workspace_, -static_cast<int64_t>(bytes)); }

void ChangeRun::journal(std::string_view kind, const Json& facts, const Json& personal) {
  Journal::append(tx_, context_, workspace_, author_, kind, facts, personal, std::exchange(noted_rows_, {}));
}

void ChangeRun::count_noted_rows() { count_file_rows(tx_, workspace_, std::exchange(noted_rows_, {})); }

}  // namespace sk::workspace
