// The trash: listing, restoring and permanent deletion.
#include "base/error.h"
#include "base/path.h"
#include "workspace/purge_rows.h"
#include "workspace/workspace_rows.h"

namespace sk::workspace {

namespace {

// A trashed entry with everything that was trashed with it.
struct Group {
  Id root;
  std::string path;
};

// Purges entries of a group until the transaction has purged enough. Returns whether the group has entries
// left. `purges` then names it: it is no longer in the list of the trash and cannot be restored, and a server
// that is started again goes on.
bool purge_some(ChangeRun& run, const Group& group, PurgeResult& result) {
  PurgeResult mine;
  auto left = [&] { return kPurgedAtOnce - rows_of(result) - rows_of(mine); };
  bool is_root_left =
      run.tx().exists("SELECT 1 FROM entries WHERE id = $1 AND trash_root = $1", {group.root}) &&
      !purge_entry(run, group.root, std::max<int64_t>(left(), 1), mine);
  if (!is_root_left)
    for (const Id& member :
         run.tx().all("SELECT id FROM entries WHERE trash_root = $1 LIMIT $2", {group.root, kPurgedAtOnce},
                      [](const catalog::Row& row) { return row.id(0); }))
      if (left() <= 0 || !purge_entry(run, member, left(), mine)) break;
  bool has_more = run.tx().exists("SELECT 1 FROM entries WHERE trash_root = $1", {group.root});
  if (has_more)
    run.tx().exec("INSERT INTO purges (root, workspace, path) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
                  {group.root, run.workspace(), group.path});
  else
    run.tx().exec("DELETE FROM purges WHERE root = $1", {group.root});
  if (rows_of(mine) == 0) return has_more;
  run.shrink(mine.freed_bytes);
  run.journal("trash.purge",
              {{"file_id", group.root.with_prefix(prefix::file)},
               {"entries", mine.files},
               {"versions", mine.versions},
               {"freed_bytes", mine.freed_bytes}},
              {{"path", group.path}});
  add_result(result, std::move(mine));
  return has_more;
}

// Error(not_found) if it is not in the trash, or was not within the authority's scope.
Entry trashed_root(ChangeRun& run, const Id& file) {
  auto root =
      run.tx().one("SELECT " SK_ENTRY_COLUMNS
                   " FROM entries e WHERE e.id = $1 AND e.workspace = $2 AND e.trash_root = $1 AND NOT "
                   "EXISTS (SELECT 1 FROM purges p WHERE p.root = e.id)",
                   {file, run.workspace()}, read_entry);
  if (!root || !run.covers_place(root->path))
    throw Error(Code::not_found, "there is no " + file.with_prefix(prefix::file) + " in the trash")
        .advise(Advice::list_trash);
  return *root;
}

}  // namespace

Page<Entry> Files::trash(const Authority& authority, std::string_view cursor, size_t limit) {
  authority.need_in_scope(Right::read);
  limit = std::clamp<size_t>(limit, 1, context_.limits.list_max);
  int64_t before = INT64_MAX;
  Id before_id;
  if (!cursor.empty()) {
    auto parts = split(cursor, '-');
    auto time = parse_unsigned(parts[0]);
    auto id = parts.size() == 2 ? Id::from_hex(parts[1]) : std::nullopt;
    if (!time || !id)
      throw Error(Code::bad_request, "the cursor is not valid").advise(Advice::begin_without_cursor);
    before = static_cast<int64_t>(*time);
    before_id = *id;
  }
  const Below scope(authority.path_scope());
  Page<Entry> page;
  page.items = context_.db.read([&](catalog::Statements& statements) {
    return statements.all(
        "SELECT " SK_ENTRY_COLUMNS
        " FROM entries e WHERE e.workspace = $1 AND e.trashed_us IS NOT NULL AND e.trash_root = e.id "
        "AND NOT EXISTS (SELECT 1 FROM purges p WHERE p.root = e.id) AND (e.trashed_us, e.id) < ($2, $3) AND "
        "($5 = '' OR e.parent = $5 OR (e.parent >= $6 AND e.parent < "
        "$7)) ORDER BY e.trashed_us DESC, e.id DESC LIMIT $4",
        {authority.workspace_id(), before, before_id, limit + 1, scope.exact, scope.from, scope.to},
        read_entry);
  });
  if (page.items.size() > limit) {
    page.items.pop_back();
    page.has_more = true;
    page.next_cursor = std::to_string(*page.items.back().trashed_us) + "-" + page.items.back().id.hex();
  }
  return page;
}

Entry Files::restore(const Authority& authority, const Id& file, OnExisting on_existing,
                     std::optional<std::string> to, const Conditions& conditions) {
  authority.need_in_scope(Right::write);
  return context_.db.write(authority.scope(), [&](catalog::Tx& tx) {
    check_still_holds(tx, authority, Right::write);
    ChangeRun run(tx, context_, authority);
    Entry root = trashed_root(run, file);
    std::string target = to ? clean_file_path(*to) : root.path;
    run.check_scope(target, Touches::membership);
    run.check_conditions_of_move(root, target, conditions);
    run.check_locks(target, Touches::subtree, conditions);
    target = run.settle_target(target, on_existing, conditions);
    run.ensure_parents(target, conditions);
    run.untrash(root, target);
    check_room_for_records(tx, context_, authority.workspace_id());
    return run.get(target);
  });
}

PurgeResult Files::purge(const Authority& authority, const Id& file,
                         std::optional<TimeUs> trashed_before_us) {
  authority.need_in_scope(Right::own);
  PurgeResult sum;
  Group group{file, {}};
  for (bool is_first = true, has_more = true; has_more; is_first = false) {
    PurgeResult part;
    has_more = context_.db.write(authority.scope(), [&](catalog::Tx& tx) {
      check_still_holds(tx, authority, Right::own);
      ChangeRun run(tx, context_, authority);
      part = {};
      if (is_first) {
        Entry root = trashed_root(run, file);
        if (trashed_before_us && *root.trashed_us >= *trashed_before_us)
          throw Error(Code::not_found, "it was moved to the trash again meanwhile");
        group.path = root.path;
      }
      return purge_some(run, group, part);
    });
    add_result(sum, std::move(part));
  }
  return sum;
}

PurgeResult Files::purge_version(const Authority& authority, const Id& version,
                                 const Conditions& conditions) {
  authority.need_in_scope(Right::own);
  return context_.db.write(authority.scope(), [&](catalog::Tx& tx) {
    check_still_holds(tx, authority, Right::own);
    ChangeRun run(tx, context_, authority);
    auto found = tx.one("SELECT " SK_VERSION_COLUMNS " FROM " SK_VERSION_TABLES
                        " WHERE v.id = $1 AND v.workspace = $2",
                        {version, authority.workspace_id()}, read_version);
    if (!found || !run.covers(found->path))
      throw Error(Code::not_found, "this workspace has no version " + version.with_prefix(prefix::version));
    if (found->is_head)
      throw Error(Code::conflict, "this is the file's current version").advise(Advice::replace_version_first);
    // Trashed entries have no path that could be locked.
    bool in_place = tx.query("SELECT 1 FROM entries WHERE id = $1 AND trashed_us IS NULL", {found->file},
                             [](const catalog::Row&) { return false; }) > 0;
    if (in_place) run.check_locks(found->path, Touches::content, conditions);
    PurgeResult result;
    purge_versions(run, {*found}, result);
    tx.exec("UPDATE entries SET version_count = version_count - 1 WHERE id = $1", {found->file});
    run.shrink(result.freed_bytes);
    run.journal("version.purge",
                {{"file_id", found->file.with_prefix(prefix::file)},
                 {"version_id", version.with_prefix(prefix::version)},
                 {"freed_bytes", result.freed_bytes}},
                {{"path", found->path}});
    return result;
  });
}

PurgeResult Files::empty_trash(const Authority& authority) {
  authority.need_in_scope(Right::own);
  const Below scope(authority.path_scope());
  PurgeResult sum;
  std::optional<TimeUs> until_us;  // what is trashed later stays
  std::optional<Group> unfinished;
  for (bool has_more = true; has_more;) {
    PurgeResult part;
    auto left = unfinished;
    has_more = context_.db.write(authority.scope(), [&](catalog::Tx& tx) {
      check_still_holds(tx, authority, Right::own);
      ChangeRun run(tx, context_, authority);
      part = {};
      left = unfinished;
      if (!until_us) until_us = tx.change_us();
      if (left && purge_some(run, *left, part)) return true;
      left = std::nullopt;
      auto groups = tx.all(
          "SELECT id, parent, name FROM entries WHERE workspace = $1 AND trashed_us <= $2 AND trash_root = "
          "id "
          "AND ($3 = '' OR parent = $3 OR (parent >= $4 AND parent < $5)) LIMIT $6",
          {authority.workspace_id(), *until_us, scope.exact, scope.from, scope.to, kPurgedAtOnce},
          [](const catalog::Row& row) { return Group{row.id(0), join_path(row.text(1), row.text(2))}; });
      for (const Group& group : groups) {
        if (rows_of(part) >= kPurgedAtOnce) return true;
        if (!purge_some(run, group, part)) continue;
        left = group;
        return true;
      }
      return groups.size() == static_cast<size_t>(kPurgedAtOnce);
    });
    unfinished = left;
    add_result(sum, std::move(part));
  }
  return sum;
}

void Files::finish_purges() {
  struct Left {
    Group group;
    Id workspace, owner;
  };
  auto left = context_.db.read([&](catalog::Statements& statements) {
    return statements.all(
        "SELECT p.root, p.path, p.workspace, w.owner FROM purges p JOIN workspaces w ON w.id = p.workspace "
        "WHERE p.root <> p.workspace",
        {}, [](const catalog::Row& row) { return Left{{row.id(0), row.str(1)}, row.id(2), row.id(3)}; });
  });
  for (const Left& one : left) {
    auto authority = system_authority(one.workspace, Author(one.owner, "purge"),
                                      "a purge that was interrupted is finished");
    bool has_more = true;
    while (has_more)
      has_more = context_.db.write(authority.scope(), [&](catalog::Tx& tx) {
        ChangeRun run(tx, context_, authority);
        PurgeResult part;
        return purge_some(run, one.group, part);
      });
  }
}

}  // namespace sk::workspace
