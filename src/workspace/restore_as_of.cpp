// Bringing a folder back to how it was at a time. What each file was called then comes from its places
// (entries and placements), what it held from its versions; nothing is lost by it, since what came later goes
// to the trash and contents come back as new versions.
#include <set>

#include "base/error.h"
#include "workspace/change_run.h"
#include "workspace/path.h"
#include "workspace/workspace_rows.h"

namespace sk::workspace {

namespace {

struct Then {
  Entry entry;       // as it is now
  std::string path;  // where it was
  Id head;           // what it held; zero for folders
  Sha256 sha256;     // of that
};

// Every entry that lay in `folder` at `time_us`, folders before what they held.
std::vector<Then> state_at(ChangeRun& run, std::string_view folder, TimeUs time_us) {
  std::map<std::string, Then> by_path;
  auto consider = [&](const catalog::Row& row) {
    Then then;
    then.entry = read_entry(row);
    then.path = join_path(row.text(16), row.text(17));
    if (is_within(then.path, folder) && then.path != folder) by_path[then.path] = then;
    return true;
  };
  run.tx().query("SELECT " SK_ENTRY_COLUMNS
                 ", e.parent, e.name FROM entries e WHERE e.workspace = $1 AND e.trashed_us IS NULL AND "
                 "e.placed_us <= $2",
                 {run.workspace(), time_us}, consider);
  run.tx().query(
      "SELECT " SK_ENTRY_COLUMNS
      ", h.parent, h.name FROM placements h JOIN entries e ON e.id = h.file WHERE h.workspace = $1 AND "
      "h.since_us <= $2 AND h.until_us > $2",
      {run.workspace(), time_us}, consider);
  std::vector<Then> result;
  for (auto& [path, then] : by_path) {
    if (then.entry.kind == EntryKind::file) {
      auto head = run.tx().one(
          "SELECT id, sha256 FROM versions WHERE file = $1 AND head_us <= $2 ORDER BY head_us DESC LIMIT 1",
          {then.entry.id, time_us},
          [](const catalog::Row& row) { return std::pair(row.id(0), row.hash(1)); });
      if (!head) continue;  // purged since
      std::tie(then.head, then.sha256) = *head;
    }
    result.push_back(then);
  }
  return result;
}

// Takes an entry out of the tree without a word in the journal, so that two that changed places do not stand
// in each other's way.
void lift(ChangeRun& run, const Entry& entry) {
  run.tx().exec(
      "INSERT INTO placements (workspace, file, until_us, since_us, parent, name) "
      "SELECT workspace, id, $2, placed_us, parent, name FROM entries WHERE id = $1 AND trashed_us IS NULL "
      "ON CONFLICT DO NOTHING",
      {entry.id, run.now_us()});
  run.tx().exec("UPDATE entries SET trashed_us = $2, trash_root = NULL WHERE id = $1",
                {entry.id, run.now_us()});
}

void set_down(ChangeRun& run, const Then& then) {
  carry_fences(run.tx(), run.workspace(), then.entry.path, then.path);
  auto [parent, name] = split_path(then.path);
  run.tx().exec(
      "UPDATE entries SET parent = $2, name = $3, placed_us = $4, changed_us = $4, trashed_us = NULL, "
      "trash_root = NULL WHERE id = $1",
      {then.entry.id, parent, name, run.now_us()});
  run.journal(then.entry.kind == EntryKind::folder ? "folder.restore" : "file.restore",
              {{"file_id", then.entry.id.with_prefix(prefix::file)}},
              {{"from", then.entry.path}, {"path", then.path}});
}

}  // namespace

Files::RestoreAsOf Files::restore_as_of(const Actor& actor, const Workspace& workspace,
                                        std::string_view folder_text, TimeUs time_us, bool dry_run,
                                        const Conditions& conditions) {
  if (workspace.role < Right::write)
    throw Error(Code::forbidden, "this key may read the workspace, but not write to it");
  if (time_us > ground_.clock.now_us()) throw Error(Code::bad_request, "the time lies in the future");
  std::string folder = clean_path(folder_text);
  struct DryRun {
    RestoreAsOf counts;
  };
  try {
    return ground_.db.write([&](catalog::Tx& tx) {
      ChangeRun run(tx, ground_, actor, workspace.id);
      run.tick();
      run.check_locks(folder, Touches::subtree, conditions);
      RestoreAsOf counts;
      auto wanted = state_at(run, folder, time_us);
      std::set<Id> wanted_ids;
      for (const Then& then : wanted) wanted_ids.insert(then.entry.id);
      // Files first, so that a folder which has to go takes nothing with it that has to stay.
      auto live = run.below(folder);
      std::vector<Then> moved;
      for (const Then& then : wanted) {
        bool in_place = !then.entry.trashed_us && then.entry.path == then.path;
        if (in_place) continue;
        // What lies elsewhere now is taken from there. Its place in the folder has been asked about above.
        if (!then.entry.trashed_us)
          run.check_locks(then.entry.path,
                          then.entry.kind == EntryKind::folder ? Touches::subtree : Touches::membership,
                          conditions);
        lift(run, then.entry);
        moved.push_back(then);
      }
      for (auto at = live.rbegin(); at != live.rend(); ++at) {
        if (wanted_ids.contains(at->id)) continue;
        run.tick();
        run.trash(*at);
        ++counts.trashed;
      }
      run.tick();
      for (const Then& then : moved) {
        run.ensure_parents(then.path, conditions);
        set_down(run, then);
      }
      for (const Then& then : wanted) {
        bool was_moved = then.entry.trashed_us || then.entry.path != then.path;
        // By its bytes: what was restored to them before is not restored again.
        bool other_content = then.entry.kind == EntryKind::file && then.entry.sha256 != then.sha256;
        if (other_content) {
          Change change = RestoreVersionChange{then.head, conditions};
          run.run(change);
        }
        ++(was_moved || other_content ? counts.restored : counts.unchanged);
      }
      run.journal("folder.restore_as_of",
                  {{"time", to_iso8601(time_us)}, {"restored", counts.restored}, {"trashed", counts.trashed}},
                  {{"path", folder}});
      if (dry_run) throw DryRun{counts};  // rolls everything back
      return counts;
    });
  } catch (DryRun& dry) {
    dry.counts.dry_run = true;
    return dry.counts;
  }
}

}  // namespace sk::workspace
