// Makes the planned changes of a capture durable in batches, and handles those that are refused.
#include <algorithm>
#include <array>
#include <unordered_set>

#include "base/path.h"
#include "interpreter/copy/capture_plan.h"

namespace sk::interpreter {

namespace {

// Others wait for the transaction of a batch, some 50 ms.
constexpr size_t kBatchMax = 256;
// Limit on the paths in one batch, which are written to several tables and indexes.
constexpr size_t kBatchPathBytesMax = 256 << 10;
// Limit on the bytes of new content that wait for one commit.
constexpr uint64_t kBatchBytesMax = 256 << 20;

// Whether refused content exists only in the copy. Of a folder that is not walked, nothing is known.
bool is_only_there(const std::string& path, NodeKind kind) {
  return kind == NodeKind::file || (kind == NodeKind::folder && !is_walked(path));
}

// Whether a folder stays because another client wrote into it after the plan was made. What code removed from
// it is then deleted one by one.
bool is_folder_of_others(const workspace::Change& change, const Error& error) {
  const auto* trash = std::get_if<workspace::TrashChange>(&change);
  return trash != nullptr && trash->only_if && error.code() == Code::conflict;
}

// Whether a rename was refused because of its new path or a lock. No other client wrote the old path then.
bool is_old_place_ours(const Error& error) {
  return error.code() == Code::conflict || error.code() == Code::locked;
}

}  // namespace

UnkeptReason reason_of(const Error& error) {
  switch (error.code()) {
    case Code::quota_exceeded:
      return UnkeptReason::quota;
    case Code::disk_full:
      return UnkeptReason::disk_full;
    case Code::locked:
      return UnkeptReason::locked;
    case Code::too_large:
      return UnkeptReason::too_large;
    case Code::bad_request:
      return UnkeptReason::name;
    case Code::unavailable:
      return UnkeptReason::error;
    default:
      return UnkeptReason::conflict;
  }
}

// Drops reports of content that was refused first, because something was in its way, and kept later.
void Capture::drop_overtaken(Settled& settled) {
  if (settled.not_kept.empty()) return;
  std::unordered_set<std::string_view> kept, folders(settled.folders.begin(), settled.folders.end());
  for (const auto& file : settled.kept) kept.insert(file.path);
  std::erase_if(settled.not_kept, [&](const NotKept& item) {
    return (item.only_copy && kept.contains(item.path)) || folders.contains(item.path);
  });
}

void Capture::apply(Plan& plan) {
  const size_t count_max = std::min(kBatchMax, keep_.context().limits.batch_max);
  for (size_t at = 0; at < plan.steps.size();) {
    uint64_t bytes = 0;
    size_t entries = 0, path_bytes = 0;
    std::vector<workspace::Change> batch;
    for (size_t end = at; end < plan.steps.size() && batch.size() < count_max && bytes < kBatchBytesMax &&
                          path_bytes < kBatchPathBytesMax;
         ++end) {
      const Plan::Step& step = plan.steps[end];
      if (!batch.empty() && entries + step.entries > entries_at_once()) break;
      batch.push_back(step.change);
      bytes += step.node.size;
      entries += step.entries;
      path_bytes += step.path.size();
    }
    // Versions, their rows in the manifest and the execution's record become durable together.
    manifest_.remember();
    auto also = [&](catalog::Tx& tx, const std::vector<workspace::Files::Applied>& all) {
      // The transaction may run again, with other results.
      manifest_.go_back();
      std::vector<KeptFile> kept;
      for (size_t i = 0; i < all.size(); ++i) {
        if (all[i].result) {
          record(plan, at + i, *all[i].result);
          if (auto file = kept_file(*all[i].result)) kept.push_back(std::move(*file));
        } else {
          forget_refused_rows(plan, at + i, *all[i].refused);
        }
      }
      manifest_.save(tx);
      if (plan.as.also) plan.as.also(tx, kept);
    };
    size_t count = batch.size();
    std::vector<workspace::Files::Applied> results;
    try {
      results = keep_.files().apply_each(plan.as.authority, std::move(batch), also);
      manifest_.saved();
    } catch (const Error& error) {
      if (error.code() != Code::disk_full) {
        manifest_.go_back();
        throw;
      }
      // Nothing of this batch is durable, and later batches would fail the same way.
      manifest_.load();
      compare_all_ = true;
      for (; at < plan.steps.size(); ++at) refuse(plan, at, error);
      return;
    }
    for (size_t i = 0; i < count; ++i)
      if (results[i].result) applied(plan, at + i, *results[i].result);
    for (size_t i = 0; i < count; ++i)
      if (results[i].refused) refuse(plan, at + i, *results[i].refused);
    at += count;
  }
}

// Saves the manifest of a capture that changed nothing in the workspace. After a kill, a capture recognises
// renames by the recorded marks.
void Capture::save_marks() {
  try {
    manifest_.save();
  } catch (const Error& error) {
    if (error.code() != Code::disk_full) throw;
  }
}

// Forgets the rows of a rename or a deletion that was refused because another client wrote there. In the
// order of the steps: a later step of the same batch may have put something else there.
void Capture::forget_refused_rows(const Plan& plan, size_t index, const Error& error) {
  const Plan::Step& step = plan.steps[index];
  bool is_forgotten =
      (step.what == Plan::What::rename && !is_old_place_ours(error)) ||
      (step.what == Plan::What::trash && error.code() != Code::disk_full &&
       (plan.how.deletions == Deletions::one_by_one || !is_folder_of_others(step.change, error)));
  if (!is_forgotten) return;
  for (const auto& below : manifest_.below(step.what == Plan::What::rename ? step.from : step.path))
    manifest_.erase(below);
}

// Records a folder that the workspace created above a kept file. Another client had deleted it, or code has
// already removed it again; the next capture detects the latter, since the folder is now known.
void Capture::note_folder_above(Plan& plan, const workspace::Entry& folder) {
  if (!is_within(folder.path, folder_) || folder.path == folder_) return;
  std::string path = disk_path(folder.path);
  if (const ManifestRow* row = manifest_.find(path)) {
    ManifestRow now = *row;
    now.file = folder.id;
    if (row->kind == NodeKind::folder) manifest_.set(path, now);
    return;
  }
  int error = 0;
  auto there = copy_.look(path, &error);
  if (error != 0) return;
  Node node;
  node.kind = NodeKind::folder;
  if (there && there->kind == NodeKind::folder) node = *there;
  // The row has the workspace's mode, so that a different mode of the copy's folder is captured.
  node.mode = folder.mode;
  manifest_.set_folder(path, node, folder.id, plan.now_us);
  plan.candidates[path] = there;
  if (there) return;
  for (auto& [below, seen] : plan.candidates)
    if (is_below(below, path)) seen = copy_.look(below);
}

void Capture::record(Plan& plan, size_t index, const workspace::ChangeResult& result) {
  Plan::Step& step = plan.steps[index];
  for (const auto& folder : result.made_above) note_folder_above(plan, folder);
  switch (step.what) {
    case Plan::What::rename:
      manifest_.rename(step.from, step.path);
      break;
    case Plan::What::time:
      break;
    case Plan::What::folder:
      manifest_.set_folder(step.path, step.node, result.entry.id, plan.now_us);
      break;
    case Plan::What::trash:
      for (const auto& path : manifest_.below(step.path)) manifest_.erase(path);
      break;
    case Plan::What::file:
      // A file that was kept in the trash because of a lock has no path in the workspace. It stays new, and
      // gets a path when a capture sees it without the lock. Beside a head that another client has locked, it
      // is based on that head.
      if (!result.entry.trashed_us)
        manifest_.set_file(
            step.path, step.node,
            {result.entry.id, result.kept_aside ? result.entry.head : result.version->id,
             std::get<workspace::PutChange>(step.change).content.hash(), result.version->complete},
            plan.now_us);
  }
}

std::optional<KeptFile> Capture::kept_file(const workspace::ChangeResult& result) {
  if (!result.version || (result.unchanged && !result.kept_aside)) return std::nullopt;
  KeptFile kept;
  kept.path = result.version->path;
  kept.file = result.version->file;
  kept.version = result.version->id;
  kept.size = result.version->size;
  kept.sha256 = result.version->sha256;
  kept.mime = result.version->mime;
  kept.change = result.created     ? KeptChange::created
                : result.unchanged ? KeptChange::unchanged
                                   : KeptChange::changed;
  kept.complete = result.version->complete;
  kept.diverged = result.diverged;
  kept.locked = result.kept_aside;
  return kept;
}

void Capture::applied(Plan& plan, size_t index, const workspace::ChangeResult& result) {
  Plan::Step& step = plan.steps[index];
  if (step.what == Plan::What::file || step.what == Plan::What::folder) forget_refused(step.path);
  switch (step.what) {
    case Plan::What::rename:
      plan.settled.renamed.emplace_back(workspace_path(step.from), result.entry.path);
      break;
    case Plan::What::folder:
      if (result.created) plan.settled.folders.push_back(result.entry.path);
      break;
    case Plan::What::trash:
      plan.settled.deleted.push_back(result.entry.path);
      break;
    case Plan::What::file:
      if (result.kept_aside)
        aside_.insert(step.path);
      else
        aside_.erase(step.path);
      if (auto kept = kept_file(result)) plan.settled.kept.push_back(std::move(*kept));
      break;
    case Plan::What::time:
      break;
  }
}

void Capture::refuse(Plan& plan, size_t index, const Error& error) {
  Plan::Step& step = plan.steps[index];
  switch (step.what) {
    case Plan::What::time:
      break;  // another client wrote or deleted the file meanwhile
    case Plan::What::file:
      // That a file is now complete does not matter to a client that wrote or deleted it meanwhile.
      if (step.only_completes && error.code() != Code::disk_full) {
        if (const ManifestRow* row = manifest_.find(step.path))
          manifest_.set_file(step.path, step.node, {row->file, row->version, row->sha256, true}, plan.now_us);
        break;
      }
      [[fallthrough]];
    case Plan::What::folder:
      refused_content(plan, step.path, step.node, error);
      break;
    case Plan::What::rename:
      if (error.code() == Code::disk_full) {
        note_not_kept(plan, step.path, reason_of(error),
                      "the rename is not recorded yet: " + error.sentence());
        break;
      }
      if (is_old_place_ours(error)) {
        // Another client took or locked the new path. The old path is given up all the same: files move one
        // by one, and a file that meets another one there diverges from it.
        Touched both;
        both.folders = {step.from, step.path};
        plan.settled.append(
            settle_steps(both, plan.open_files, plan.as,
                         {.renames = step.node.kind == NodeKind::folder ? Renames::files : Renames::none}));
        break;
      }
      // Another client wrote or locked the file meanwhile. Its file stays in place, and ours is kept under
      // its new name.
      {
        Touched touched;
        touched.folders.insert(step.path);
        plan.settled.append(settle_steps(touched, plan.open_files, plan.as, {.renames = Renames::none}));
      }
      break;
    case Plan::What::trash:
      if (error.code() == Code::disk_full) {
        note_not_kept(plan, step.path, reason_of(error),
                      "the deletion is not recorded yet: " + error.sentence());
        break;
      }
      if (is_folder_of_others(step.change, error)) {
        if (plan.how.deletions == Deletions::one_by_one) break;
        Touched touched;
        touched.folders.insert(step.path);
        plan.settled.append(settle_steps(touched, plan.open_files, plan.as,
                                         {.renames = Renames::none, .deletions = Deletions::one_by_one}));
        break;
      }
      // The deletion is not applied: the next synchronisation brings the entry back into the copy.
      if (error.code() != Code::not_found) disowned_.insert(workspace_path(step.path));
      if (error.code() != Code::not_found)
        note_not_kept(plan, step.path, reason_of(error), "the deletion was not applied: " + error.sentence());
  }
}

// Reports an existing file or folder that was refused. Every capture retries it, since the reason may be gone
// by then. One that is too large or too deep, or has an invalid name, is retried only when it is touched.
void Capture::refused_content(Plan& plan, const std::string& path, const Node& node, const Error& error) {
  auto reason =
      error.code() == Code::bad_request && is_too_deep(path) ? UnkeptReason::too_deep : reason_of(error);
  auto& item = note_not_kept(plan, path, reason, error.sentence());
  item.only_copy = is_only_there(path, node.kind);
  forget_refused(path);
  bool again =
      reason != UnkeptReason::too_large && reason != UnkeptReason::name && reason != UnkeptReason::too_deep;
  refused_[path] = {node, item.reason, item.message,
                    item.reason == UnkeptReason::quota ? room(plan).value_or(0) : 0, again};
  if (again) ++refused_again_;
  refused_bytes_ += Manifest::bytes_of(path);
}

void Capture::forget_refused(const std::string& path) {
  auto found = refused_.find(path);
  if (found == refused_.end()) return;
  if (found->second.again) --refused_again_;
  refused_bytes_ -= Manifest::bytes_of(path);
  refused_.erase(found);
}

std::vector<Unkept> Capture::refused() const {
  std::vector<Unkept> result;
  for (const auto& [path, one] : refused_)
    result.push_back({named(path), Unkept::What::refused, one.reason, one.message.text(), Id{},
                      is_only_there(path, one.node.kind)});
  for (const auto& path : unreadable_)
    if (!refused_.contains(path))
      result.push_back({named(path), Unkept::What::refused, UnkeptReason::unreadable,
                        "the server cannot read it", Id{}, true});
  // After a comparison that failed, the copy may hold files that no capture has seen.
  if (compare_all_)
    result.push_back({folder_.empty() ? "/" : folder_, Unkept::What::refused, UnkeptReason::error,
                      "the folder could not be compared as a whole; it may hold more", Id{}, true});
  return result;
}

// Avoids reading a large file again only to find that the quota has not changed.
bool Capture::is_refused_again(Plan& plan, const std::string& path, const Node& node) {
  auto found = refused_.find(path);
  if (found == refused_.end() || found->second.reason != UnkeptReason::quota || !found->second.again)
    return false;
  const Node& then = found->second.node;
  if (then.inode != node.inode || then.size != node.size || then.ctime_ns != node.ctime_ns) return false;
  if (room(plan).value_or(UINT64_MAX) > found->second.room) return false;
  note_not_kept(plan, path, found->second.reason, found->second.message).only_copy = true;
  return true;
}

std::optional<uint64_t> Capture::room(Plan& plan) {
  if (plan.room) return *plan.room;
  plan.room.emplace();
  try {
    *plan.room = keep_.quotas().room(plan.as.authority);
  } catch (const Error&) {
    // The catalog cannot be read; the room stays unknown.
  }
  return *plan.room;
}

std::string Capture::named(const std::string& path) const {
  std::string result = folder_;
  for (auto name : split(path, '/')) result = join_path(result, escape_name(name));
  return result;
}

NotKept& Capture::note_not_kept(Plan& plan, const std::string& path, UnkeptReason reason, Sentence message) {
  NotKept item;
  item.path = named(path);
  item.reason = reason;
  item.message = std::move(message);
  plan.settled.not_kept.push_back(std::move(item));
  return plan.settled.not_kept.back();
}

}  // namespace sk::interpreter
