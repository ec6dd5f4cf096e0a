// Restores a folder to its state at a time. Nothing is lost: newer entries go to the trash, contents return
// as new versions, and entries elsewhere stay there.
#include <set>

#include "base/error.h"
#include "base/path.h"
#include "workspace/change_run.h"
#include "workspace/lock_check.h"
#include "workspace/past_tree.h"
#include "workspace/spelling.h"

namespace sk::workspace {

namespace {

// One restore inside one write closure. First removes every misplaced entry from the tree, then completes the
// tree, then places each entry at its own path. Entries that swapped paths therefore do not block each other.
class GoingBack {
 public:
  GoingBack(ChangeRun& run, std::string folder, std::vector<PastEntry> wanted, const Conditions& conditions)
      : run_(run), folder_(std::move(folder)), wanted_(std::move(wanted)), conditions_(conditions) {
    for (const PastEntry& past : wanted_) {
      wanted_ids_.insert(past.now.id);
      wanted_paths_.insert(past.path);
    }
  }

  Files::RestoreAsOf go() {
    auto leaving = find_leaving();
    find_misplaced(leaving);
    check_locks_elsewhere();
    for (const PastEntry* past : misplaced_) lift(past->now);
    run_.trash_all(leaving);
    regroup_trash();
    stand_in_for_lifted_folders();
    run_.tick();
    for (const PastEntry* past : misplaced_) {
      run_.ensure_parents(past->path, conditions_);
      set_down(*past);
    }
    // Recreate folders that were purged since while a file below them remains.
    std::set<std::string> parents;
    for (const PastEntry& past : wanted_)
      if (parents.insert(split_path(past.path).first).second) run_.ensure_parents(past.path, conditions_);
    Files::RestoreAsOf counts;
    counts.trashed = static_cast<int64_t>(leaving.size());
    for (const PastEntry& past : wanted_) {
      restore_content(past);
      bool changed = past.moved() || past.other_content() || past.other_attributes();
      ++(changed ? counts.restored : counts.unchanged);
      if (past.content_purged()) ++counts.purged;
    }
    return counts;
  }

 private:
  // Returns the entries in the folder that were not there at that time. A folder stays if an entry of that
  // time belongs below it and the folder of that time was purged.
  std::vector<Entry> find_leaving() {
    std::set<std::string> needed;
    for (const std::string& path : wanted_paths_)
      for (std::string at = split_path(path).first; !at.empty(); at = split_path(at).first)
        if (!needed.insert(at).second) break;
    auto live = run_.below(folder_);
    if (auto self = folder_.empty() ? std::nullopt : run_.find(folder_)) live.insert(live.begin(), *self);
    std::vector<Entry> leaving;
    for (Entry& entry : live) {
      bool stays = entry.kind == EntryKind::folder && needed.contains(entry.path) &&
                   !wanted_paths_.contains(entry.path);
      if (!stays && !wanted_ids_.contains(entry.id)) leaving.push_back(std::move(entry));
    }
    return leaving;
  }

  // Includes entries that are at the right path below a folder that is trashed. For followers of the journal,
  // that folder takes its contents with it.
  void find_misplaced(const std::vector<Entry>& leaving) {
    std::set<std::string> going;
    for (const Entry& entry : leaving) going.insert(entry.path);
    auto loses_its_folder = [&](const std::string& path) {
      for (std::string at = split_path(path).first; !at.empty(); at = split_path(at).first)
        if (going.contains(at)) return true;
      return false;
    };
    for (const PastEntry& past : wanted_)
      if (past.moved() || loses_its_folder(past.path)) misplaced_.push_back(&past);
  }

  // Checks the current paths of entries outside the folder; the locks of the folder are already checked. A
  // trashed entry has no path that could be locked, but the scope must cover the path that it had.
  void check_locks_elsewhere() {
    for (const PastEntry* past : misplaced_) {
      const Entry& entry = past->now;
      if (is_within(entry.path, folder_)) continue;
      run_.check_scope(entry.path, Touches::membership);
      if (entry.trashed_us) continue;
      run_.check_locks(entry.path, entry.kind == EntryKind::folder ? Touches::subtree : Touches::membership,
                       conditions_);
    }
  }

  // Removes an entry from the tree or the trash without a journal entry.
  void lift(const Entry& entry) {
    if (!entry.trashed_us) run_.remember_place(entry.id);
    run_.tx().exec("UPDATE entries SET trashed_us = $2, trash_root = NULL WHERE id = $1",
                   {entry.id, run_.now_us()});
  }

  void regroup_trash() {
    std::set<Id> roots;
    for (const PastEntry* past : misplaced_)
      if (past->now.trashed_us) roots.insert(past->now.trash_root);
    for (const Id& root : roots) run_.regroup_trash(root);
  }

  // A folder that was moved out comes back. Entries that others put into it stay at the new path, in a new
  // folder like it.
  void stand_in_for_lifted_folders() {
    std::map<std::string, uint32_t> left;
    for (const PastEntry* past : misplaced_) {
      const Entry& entry = past->now;
      if (!entry.trashed_us && entry.kind == EntryKind::folder && !is_within(entry.path, folder_))
        left[entry.path] = entry.mode;
    }
    for (const auto& [path, mode] : left)
      if (run_.holds_something(path)) run_.insert_folder(path, mode);
  }

  void set_down(const PastEntry& past) {
    carry_fences(run_.tx(), run_.workspace(), past.now.path, past.path);
    auto [parent, name] = split_path(past.path);
    run_.tx().exec(
        "UPDATE entries SET parent = $2, name = $3, placed_us = $4, changed_us = $4, trashed_us = NULL, "
        "trash_root = NULL WHERE id = $1",
        {past.now.id, parent, name, run_.now_us()});
    run_.note_renamed(past.now.path, past.path);
    run_.journal(past.now.kind == EntryKind::folder ? "folder.restore" : "file.restore",
                 {{"file_id", past.now.id.with_prefix(prefix::file)}},
                 {{"from", past.now.path}, {"path", past.path}});
  }

  // Compares content, not versions: a file that already has these bytes gets no new version.
  void restore_content(const PastEntry& past) {
    Entry entry = past.now;
    if (past.other_content()) {
      Change change = RestoreVersionChange{past.head, conditions_};
      entry = run_.run(change).entry;
    }
    entry.path = past.path;
    if (entry.mode != past.mode || entry.mtime_us != past.mtime_us)
      run_.set_attributes(entry, past.mode, past.mtime_us);
  }

  ChangeRun& run_;
  const std::string folder_;
  const std::vector<PastEntry> wanted_;
  const Conditions& conditions_;
  std::set<Id> wanted_ids_;
  std::set<std::string> wanted_paths_;
  std::vector<const PastEntry*> misplaced_;  // pointers into wanted_, in its order
};

// Sets `folder` to the Unicode spelling that it had.
std::vector<PastEntry> find_past(ChangeRun& run, std::string& folder, TimeUs time_us) {
  auto wanted = past_tree(run.tx(), run.workspace(), folder, time_us);
  if (!wanted.empty() || folder.empty()) return wanted;
  if (auto other = other_spelling(folder)) {
    wanted = past_tree(run.tx(), run.workspace(), *other, time_us);
    if (!wanted.empty()) folder = *other;
  }
  if (wanted.empty())
    throw Error(Code::not_found, "there was nothing at " + quoted_path(folder) + " at " + to_iso8601(time_us))
        .advise(Advice::check_spelling_and_time);
  return wanted;
}

}  // namespace

Files::RestoreAsOf Files::restore_as_of(const Authority& authority, std::string_view folder_text,
                                        TimeUs time_us, bool dry_run, const Conditions& conditions) {
  authority.need_in_scope(Right::write);
  if (time_us > context_.clock.now_us()) throw Error(Code::bad_request, "the time is in the future");
  const std::string clean = clean_path(folder_text);
  authority.need_at(Right::write, clean);
  if (clean.empty() && time_us < authority.workspace().created_us)
    throw Error(Code::bad_request,
                "the workspace was created later, at " + to_iso8601(authority.workspace().created_us))
        .advise(Advice::name_later_time);
  struct DryRun {
    RestoreAsOf counts;
  };
  try {
    return context_.db.write(authority.scope(), [&](catalog::Tx& tx) {
      check_still_holds(tx, authority, Right::write);
      if (!dry_run) check_room_for_records(tx, context_, authority.workspace_id());
      ChangeRun run(tx, context_, authority);
      if (dry_run) run.ignore_locks();
      run.tick();
      std::string folder = clean;
      auto wanted = find_past(run, folder, time_us);
      run.touch(wanted.size() + run.count_below(folder));
      run.check_locks(folder, Touches::subtree, conditions);
      RestoreAsOf counts = GoingBack(run, folder, std::move(wanted), conditions).go();
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
