#include "interpreter/copy/capture.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "base/path.h"
#include "interpreter/copy/capture_plan.h"
#include "interpreter/copy/contents.h"

namespace sk::interpreter {

using workspace::EntryKind;

namespace {

struct Special {
  UnkeptReason reason;
  std::string_view named;
};

constexpr size_t kSpecialsMax = 100'000;

// Node kinds that the answer reports and the workspace cannot store.
std::optional<Special> special_of(NodeKind kind) {
  switch (kind) {
    case NodeKind::file:
    case NodeKind::folder:
      return std::nullopt;
    case NodeKind::link:
      return Special{UnkeptReason::link, "a symbolic link"};
    case NodeKind::fifo:
      return Special{UnkeptReason::fifo, "a FIFO"};
    case NodeKind::socket:
      return Special{UnkeptReason::socket, "a socket"};
    case NodeKind::device:
      return Special{UnkeptReason::device, "a device"};
  }
  return std::nullopt;
}

}  // namespace

std::string_view name_of(Unkept::What what) {
  return what == Unkept::What::refused ? "refused" : what == Unkept::What::aside ? "aside" : "recovered";
}

std::optional<Unkept::What> unkept_from(std::string_view name) {
  for (auto what : {Unkept::What::refused, Unkept::What::aside, Unkept::What::recovered})
    if (name_of(what) == name) return what;
  return std::nullopt;
}

Capture::Capture(workspace::Keep& keep, const WorkingCopy& copy, Manifest& manifest, std::string folder,
                 uint64_t file_bytes_max)
    : keep_(keep),
      copy_(copy),
      manifest_(manifest),
      folder_(std::move(folder)),
      file_bytes_max_(file_bytes_max) {}

std::string Capture::workspace_path(const std::string& path) const {
  std::string result = folder_;
  for (auto name : split(path, '/')) result = join_path(result, escape_name(name));
  return clean_path(result);
}

std::string Capture::disk_path(const std::string& workspace_path) const {
  SK_CHECK(is_within(workspace_path, folder_), workspace_path);
  if (workspace_path.size() == folder_.size()) return "";
  return unescape_name(workspace_path.substr(folder_.empty() ? 0 : folder_.size() + 1));
}

void Capture::set_aside(const std::string& workspace_path) {
  if (is_within(workspace_path, folder_)) aside_.insert(disk_path(workspace_path));
}

Settled Capture::settle(const Touched& touched, const std::set<std::pair<uint64_t, uint64_t>>& open_files,
                        const CaptureAs& as, const Later& later) {
  try {
    Settled settled = settle_steps(touched, open_files, as, {}, later);
    manifest_.release_memory();
    return settled;
  } catch (...) {
    manifest_.load();  // the rows in memory may be newer than the durable ones
    compare_all_ = true;
    told_.clear();  // the caller did not receive it
    placed_.clear();
    throw;
  }
}

Settled Capture::settle_steps(const Touched& touched,
                              const std::set<std::pair<uint64_t, uint64_t>>& open_files, const CaptureAs& as,
                              How how, const Later& later) {
  Plan plan{.open_files = open_files, .as = as, .how = how, .now_us = keep_.context().clock.now_us()};
  collect_candidates(touched, plan);
  if (later) follow_renames(later, plan);
  take_placed(plan);
  if (plan.candidates.empty() && plan.placed.empty()) return std::move(plan.settled);
  Settled altered = keep_altered(plan);
  auto all_settled = [&] {
    altered.append(std::move(plan.settled));
    return std::move(altered);
  };
  // Renames are applied before anything else is planned, because the deletions depend on where files are.
  find_renames(plan);
  apply(plan);
  if (compare_all_) {
    // Not even the renames could be recorded, so no other difference can be interpreted.
    note_not_kept(plan, "", UnkeptReason::disk_full,
                  "the server's disk is full; the whole folder is compared again")
        .only_copy = true;
    return all_settled();
  }
  plan.steps.clear();
  classify(plan);
  read_changed(plan);
  plan_deletions(plan);
  put_in_order(plan);
  apply(plan);
  drop_overtaken(plan.settled);
  if (plan.has_new_marks && plan.steps.empty()) save_marks();
  return all_settled();
}

void Capture::note_unreadable(Plan& plan, const std::string& path) {
  if (!unreadable_.insert(path).second) return;
  note_not_kept(plan, path, UnkeptReason::unreadable, "the server cannot read it").only_copy = true;
}

// Counts the memory of a candidate, or of a new file's row. Throws like Manifest::need_memory().
void Capture::count_name(Plan& plan, const std::string& path) {
  constexpr uint64_t kClaimedAtOnce = 64 << 10;
  plan.names_bytes += Manifest::bytes_of(path);
  if (plan.names_bytes <= plan.claimed_bytes) return;
  auto has_room = [&](uint64_t more) {
    bool has = manifest_.has_memory(refused_bytes_ + plan.names_bytes + more);
    if (has) plan.claimed_bytes = plan.names_bytes + more;
    return has;
  };
  if (has_room(kClaimedAtOnce) || has_room(0)) return;
  // A comparison of everything finds again what was refused before it.
  if (plan.compares_all && !std::exchange(plan.has_forgotten_refused, true)) {
    refused_.clear();
    refused_again_ = refused_bytes_ = 0;
  }
  manifest_.need_memory(refused_bytes_ + plan.names_bytes);
}

// A path that cannot be read does not count as deleted.
void Capture::look_at(Plan& plan, const std::string& path) {
  int error = 0;
  auto node = copy_.look(path, &error);
  if (node || error == 0)
    plan.candidates[path] = node;
  else
    note_unreadable(plan, path);
}

void Capture::collect_candidates(const Touched& touched, Plan& plan) {
  auto unreadable = [&](const std::string& path) { note_unreadable(plan, path); };
  auto look = [&](const std::string& path) { look_at(plan, path); };
  auto add_tree = [&](const std::string& folder) {
    for (const auto& path : manifest_.below(folder)) plan.candidates.emplace(path, std::nullopt);
    if (!folder.empty()) look(folder);
    auto closed = copy_.walk(folder, [&](const std::string& path, const Node& node) {
      count_name(plan, path);
      plan.candidates[path] = node;
      return true;
    });
    for (const auto& path : closed) {
      unreadable(path);
      std::erase_if(plan.candidates,
                    [&](const auto& one) { return !one.second && is_below(one.first, path); });
    }
    // A known path that no walk reaches: code or a client moved the folder above it so deep.
    for (const auto& path : manifest_.below(folder))
      if (is_too_deep(path)) look(path);
  };
  auto add_members = [&](const std::string& folder) {
    for (const auto& path : manifest_.members(folder)) plan.candidates.try_emplace(path, std::nullopt);
    auto closed = copy_.walk(folder, [&](const std::string& path, const Node& node) {
      count_name(plan, path);
      plan.candidates[path] = node;
      return false;
    });
    if (closed.empty()) return;
    unreadable(folder);
    for (const auto& path : manifest_.members(folder))
      if (auto found = plan.candidates.find(path); found != plan.candidates.end() && !found->second)
        plan.candidates.erase(found);
  };
  bool all = touched.everything || compare_all_;
  // Every capture looks at these again: no event says when they become readable.
  for (const auto& path : std::exchange(unreadable_, {}))
    if (!all) add_tree(path);
  if (all) {
    compare_all_ = false;
    plan.compares_all = true;
    add_tree("");
  } else {
    for (const auto& folder : touched.members) add_members(folder);
    for (const auto& folder : touched.folders)
      if (!is_below_any(folder, touched.folders)) add_tree(folder);
    for (const auto& path : touched.paths)
      if (!plan.candidates.contains(path)) look(path);
  }
  // A path that is not retried may have gone with its folder; only the folder has an event then.
  auto may_be_gone = [&](const std::string& path) {
    return all || is_below_any(path, touched.folders) || is_below_any(path, touched.paths) ||
           is_below_any(path, touched.members);
  };
  for (const auto& [path, earlier] : refused_)
    if ((earlier.again || may_be_gone(path)) && !plan.candidates.contains(path)) look(path);
  // All names of one file: a write through one of them changes the others too.
  std::set<std::pair<uint64_t, uint64_t>> files;
  if (touched.opened) {
    files = plan.open_files;
    // A new file that was kept aside has no row in the manifest, so its inode does not lead to it.
    for (const auto& path : aside_)
      if (!plan.candidates.contains(path)) look(path);
  }
  for (const auto& [path, node] : plan.candidates) {
    if (node && node->kind == NodeKind::file && node->links > 1) files.emplace(node->device, node->inode);
    // Code may have written through a name that is now gone or belongs to another file.
    const ManifestRow* row = manifest_.find(path);
    bool left = row != nullptr && row->kind == NodeKind::file && (!node || node->inode != row->inode);
    if (left) files.emplace(row->device, row->inode);
    // So may it have through a name of something that was refused.
    auto refused = refused_.find(path);
    if (refused != refused_.end() && (!node || node->inode != refused->second.node.inode))
      files.emplace(refused->second.node.device, refused->second.node.inode);
  }
  for (const auto& [path, earlier] : refused_)
    if (files.contains({earlier.node.device, earlier.node.inode}) && !plan.candidates.contains(path))
      look(path);
  for (const auto& [device, inode] : files)
    for (const auto& path : manifest_.find_inodes(device, inode))
      if (!plan.candidates.contains(path)) look(path);
}

// Reads further events while some known name is gone. The kernel queues the event of a rename within the
// rename, so once no event is left, the name was deleted. When code renames faster than this loop reads, the
// missing names are left to the next capture.
void Capture::follow_renames(const Later& later, Plan& plan) {
  constexpr int kRoundsMax = 8;
  auto is_gone = [&](const auto& one) { return !one.second && manifest_.find(one.first) != nullptr; };
  for (int round = 0; std::ranges::any_of(plan.candidates, is_gone); ++round) {
    Touched more = later();
    postponed_.opened = postponed_.opened || more.opened;
    if (!more.everything && more.paths.empty() && more.folders.empty() && more.members.empty()) return;
    if (round == kRoundsMax) {
      postponed_.add(more);
      for (const auto& one : plan.candidates)
        if (is_gone(one)) postponed_.paths.insert(one.first);
      std::erase_if(plan.candidates, is_gone);
      return;
    }
    for (const auto& path : more.paths) plan.candidates.erase(path);
    std::erase_if(plan.candidates, [&](const auto& one) {
      return more.folders.contains(one.first) || is_below_any(one.first, more.folders) ||
             is_below_any(one.first, more.members);
    });
    collect_candidates(more, plan);
    if (more.everything) return;  // not watched: only a second walk can help
  }
}

bool Capture::is_known(const Node& node) const {
  for (const auto& path : manifest_.find_inodes(node.device, node.inode))
    if (manifest_.find(path)->is_inode_of(node)) return true;
  return false;
}

// Returns the known path that a new path was renamed from. That path is gone and had the same inode, not only
// the same inode number.
std::optional<std::string> Capture::renamed_from(const std::string& path, Node& node, NodeKind kind) {
  bool is_seen = false;  // with its generation, which walks leave out
  for (const auto& from : manifest_.find_inodes(node.device, node.inode)) {
    if (!is_seen) {
      auto now = copy_.look(path);
      if (!now || now->kind != kind || now->inode != node.inode) return std::nullopt;
      node = *now;
      is_seen = true;
    }
    const ManifestRow& row = *manifest_.find(from);
    if (!row.is_inode_of(node)) continue;
    int error = 0;
    auto there = copy_.look(from, &error);
    if (error != 0) continue;
    // A hard link; or a file saved anew beside its backup, which continues the history as people expect. A
    // file that was renamed to this path keeps its own history.
    if (there && (row.is_inode_of(*there) || (there->kind == row.kind && !is_known(*there)))) continue;
    return from;
  }
  return std::nullopt;
}

// The number of entries that one transaction may change: half of what a request may, because the manifest's
// rows are part of it.
size_t Capture::entries_at_once() const {
  return std::max<size_t>(1, keep_.context().limits.changed_entries_max / 2);
}

// Whether a folder's rename is one change. A folder cannot move into itself, and others would wait too long
// for the transaction of a very large one: what is in these moves one by one.
bool Capture::moves_as_a_whole(const std::string& from, const std::string& to) const {
  return !is_below(to, from) && manifest_.count_below(from, entries_at_once()) <= entries_at_once();
}

// Whether a folder above the path is still to be renamed, from or to there. A rename below it must wait, or
// it would go into the folder that had the name before.
bool Capture::is_below_pending(const Plan& plan, const std::string& path) {
  for (size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    std::string above = path.substr(0, slash);
    auto there = copy_.look(above);
    if (!there || there->kind != NodeKind::folder) continue;
    const ManifestRow* row = manifest_.find(above);
    if (row == nullptr) {
      auto from = renamed_from(above, *there, NodeKind::folder);
      if (from && moves_as_a_whole(*from, above)) return true;
    } else if (!row->is_inode_of(*there)) {
      auto now = plan.folders_by_inode.find({row->device, row->inode});
      if (now == plan.folders_by_inode.end()) continue;
      if (manifest_.find(now->second) != nullptr || !moves_as_a_whole(above, now->second)) continue;
      // Where another folder took its name, the folder is not renamed: its files are, one by one.
      auto moved = copy_.look(now->second);
      if (moved && renamed_from(now->second, *moved, NodeKind::folder) == above) return true;
    }
  }
  return false;
}

// Notes the names of a file that is being renamed: it was seen under a new name and is elsewhere by now.
// Leaves them to the next capture, which gets the events of the later renames.
void Capture::note_moving(Plan& plan, const std::string& path, const Node& node) {
  for (const auto& from : manifest_.find_inodes(node.device, node.inode)) {
    const ManifestRow& row = *manifest_.find(from);
    auto now = copy_.look(path), there = copy_.look(from);
    bool is_gone = !now || now->inode != node.inode;
    bool is_back = node.links == 1 && there && row.is_inode_of(*there);
    if (is_gone || is_back) plan.moving.insert({from, path});
  }
}

// Finds renames of folders first, because their contents move with them.
void Capture::find_renames(Plan& plan) {
  const Renames renames = plan.how.renames;
  if (renames == Renames::none) return;
  for (const auto& [path, node] : plan.candidates)
    if (node && node->kind == NodeKind::folder)
      plan.folders_by_inode.emplace(std::pair(node->device, node->inode), path);
  std::vector<std::string> renamed;
  // Whether the workspace still has a file where the path needs a folder.
  auto has_no_folder = [&](const std::string& path) {
    for (size_t slash = path.rfind('/'); slash != std::string::npos && slash > 0;
         slash = path.rfind('/', slash - 1))
      if (const ManifestRow* row = manifest_.find(path.substr(0, slash));
          row && row->kind != NodeKind::folder)
        return true;
    return false;
  };
  auto pass = [&](NodeKind kind) {
    for (auto& [path, node] : plan.candidates) {
      if (!node || node->kind != kind || manifest_.find(path) != nullptr || has_no_folder(path)) continue;
      auto from = renamed_from(path, *node, kind);
      if (!from) {
        note_moving(plan, path, *node);
        continue;
      }
      if (kind == NodeKind::folder && !moves_as_a_whole(*from, path)) continue;
      if (is_below_pending(plan, path)) continue;
      Plan::Step step{Plan::What::rename, path, *from, *node, {}, true};
      if (kind == NodeKind::folder) step.entries = manifest_.count_below(*from, entries_at_once());
      workspace::MoveChange move;
      try {
        move.from = workspace_path(*from);
        move.to = workspace_path(path);
      } catch (const Error&) {
        continue;  // the workspace does not accept that name; reported when the file itself is examined
      }
      const ManifestRow& row = *manifest_.find(*from);
      // A session's rename applies only if no other client wrote the file since.
      if (row.version) move.conditions.if_match = {row.version};
      step.change = std::move(move);
      plan.steps.push_back(std::move(step));
      manifest_.rename(*from, path);
      renamed.push_back(path);
    }
  };
  // Repeats while something was found: a move may have made room for something of another kind.
  for (bool found = true; found;) {
    size_t before = plan.steps.size();
    if (renames == Renames::all) pass(NodeKind::folder);
    // Files that were deleted or changed before their folder was renamed are known under its new name only
    // now.
    for (const auto& folder : std::exchange(renamed, {}))
      for (const auto& path : manifest_.below(folder))
        if (!plan.candidates.contains(path)) look_at(plan, path);
    pass(NodeKind::file);
    found = plan.steps.size() > before;
  }
  // The rows followed the renames so that the next ones were found. Each becomes so only with its own change.
  for (auto step = plan.steps.rbegin(); step != plan.steps.rend(); ++step)
    manifest_.rename(step->path, step->from);
}

void Capture::classify(Plan& plan) {
  std::set<std::string> gone;
  for (auto& [path, node] : plan.candidates) {
    const ManifestRow* row = manifest_.find(path);
    if (plan.moving.contains(path) || is_below_any(path, plan.moving)) {
      postponed_.paths.insert(path);
      continue;
    }
    if (!node) {
      if (row != nullptr)
        gone.insert(path);
      else if (aside_.erase(path) > 0)
        gone_aside_.push_back(named(path));
      forget_refused(path);
      told_.erase(path);
      continue;
    }
    if (row != nullptr && row->kind != node->kind) {
      // Where a folder no longer exists, nothing below it exists either.
      for (const auto& below : manifest_.below(path)) gone.insert(below);
      plan.replaced.insert(path);
      row = nullptr;
    }
    if (auto special = special_of(node->kind)) {
      if (told_.size() >= kSpecialsMax) told_.clear();
      std::pair now(node->inode, node->ctime_ns);  // two that changed places in one tick have the same time
      if (std::exchange(told_[path], now) != now)
        note_not_kept(plan, path, special->reason,
                      std::string(special->named) + " cannot be stored; it is only reported");
      forget_refused(path);
      continue;
    }
    bool open = plan.open_files.contains({node->device, node->inode});
    bool same = row != nullptr && ((row->matches(*node) && !open) ||
                                   (node->kind == NodeKind::folder && row->mode == node->mode));
    if (same && !row->matches(*node) && node->kind == NodeKind::folder) {
      // Another folder is in its place: the inode in the row may turn up elsewhere. A client may have
      // replaced the folder in the workspace too.
      auto entry = keep_.files().find(plan.as.authority, workspace_path(path));
      Id file = entry && entry->kind == EntryKind::folder ? entry->id : row->file;
      if (auto seen = copy_.look(path); seen && seen->kind == NodeKind::folder) {
        manifest_.set_folder(path, *seen, file, plan.now_us);
        plan.has_new_marks = true;
      }
    }
    if (same)
      forget_refused(path);
    else
      plan.changed.emplace_back(path, *node);
  }
  plan.gone.assign(gone.begin(), gone.end());
}

void Capture::read_changed(Plan& plan) {
  // Hard links: reads each inode once for all its names.
  std::map<uint64_t, ReadFile> by_inode;
  for (auto& [path, node] : plan.changed) {
    Plan::Step step{node.kind == NodeKind::folder ? Plan::What::folder : Plan::What::file, path, "", node, {},
                    manifest_.find(path) != nullptr && !plan.replaced.contains(path)};
    try {
      if (is_refused_again(plan, path, node)) continue;
      if (!step.was_known) count_name(plan, path);
      if (is_too_deep(path) && !step.was_known)
        throw Error(Code::bad_request, "it has more than " + std::to_string(kCopyDepthMax) +
                                           " folders above it, so nothing of it is kept");
      std::string target = workspace_path(path);
      if (node.kind == NodeKind::folder) {
        auto seen = copy_.look(path);  // with its generation
        if (!seen || seen->kind != NodeKind::folder) continue;
        step.node = *seen;
        step.change = workspace::MkdirChange{target, seen->mode & 0777, {}, true, true};
        plan.steps.push_back(std::move(step));
        continue;
      }
      if (node.size > file_bytes_max_)
        throw Error(Code::too_large, "it has " + human_size(node.size) + "; the limit for one file is " +
                                         human_size(file_bytes_max_));
      auto known = node.links > 1 ? by_inode.find(node.inode) : by_inode.end();
      std::optional<ReadFile> read;
      if (auto placed = plan.placed.extract(path))
        read = ReadFile{.content = placed.mapped().content, .stable = true, .node = placed.mapped().node};
      else if (known != by_inode.end())
        read = known->second;
      else
        read = read_contents(keep_.context(), copy_, path, file_bytes_max_, plan.as.must_stop);
      if (!read) continue;  // gone again; the next event reports it
      if (node.links > 1) by_inode.try_emplace(node.inode, *read);
      step.node = read->node;
      if (step.was_known && is_written_anew(plan, path, step.node, read->content.hash())) {
        manifest_.erase(path);
        step.was_known = false;
      }
      const ManifestRow* known_row = step.was_known ? manifest_.find(path) : nullptr;
      bool was_cut = plan.as.after_kill && known_row != nullptr && !known_row->complete;
      bool complete = read->stable && !was_cut && !plan.open_files.contains({node.device, node.inode});
      if (step.was_known && is_same_content(plan, path, step.node, read->content.hash(), complete)) continue;
      workspace::PutChange put = put_of(plan, path, step.node, read->content);
      // When code did not change the mode, keeps a mode that another client may have set.
      if (known_row != nullptr && known_row->mode == step.node.mode) put.mode.reset();
      put.complete = complete;
      if (const ManifestRow* row = manifest_.find(path); step.was_known && row->version) {
        put.base = row->version;
        put.base_is_known = true;
        put.base_diverged = plan.diverged.contains(path);
        if (row->sha256 == put.content.hash() && row->mode == step.node.mode && !aside_.contains(path)) {
          step.only_completes = true;
          put.conditions.if_match = {row->version};
        }
      }
      step.change = std::move(put);
      plan.steps.push_back(std::move(step));
    } catch (const Error& error) {
      if (error.code() == Code::internal) throw;
      refused_content(plan, path, node, error);
    }
  }
  // Left to the next capture, because code is renaming what is around it. The answer names it already.
  for (const auto& [path, file] : plan.placed) put_placed(plan, file);
}

// The put of content that has no version yet. Error(bad_request) for a name that the workspace does not take.
workspace::PutChange Capture::put_of(const Plan& plan, const std::string& path, const Node& node,
                                     workspace::Content content) const {
  workspace::PutChange put;
  put.path = workspace_path(path);
  put.content = std::move(content);
  put.mode = put.mode_if_new = node.mode & 0777;
  put.mtime_us = node.mtime_ns / 1000;
  put.source = plan.as.source;
  put.keep_when_locked = true;
  put.captured = true;
  return put;
}

// Whether the manifest already has this content, so that code wrote nothing. Storing it again would bring
// back a file that another client deleted meanwhile. Records only its new marks and its time.
bool Capture::is_same_content(Plan& plan, const std::string& path, const Node& node, const Sha256& sha256,
                              bool complete) {
  const ManifestRow* row = manifest_.find(path);
  if (aside_.contains(path) && !row->has_marks_of(node)) return false;  // written again
  if (!row->sha256 || row->sha256 != sha256 || row->mode != node.mode || (!row->complete && complete))
    return false;
  forget_refused(path);
  Id version = row->version;
  bool same_time = row->mtime_ns == node.mtime_ns;
  manifest_.set_file(path, node, {row->file, row->version, row->sha256, row->complete}, plan.now_us);
  if (same_time) return true;
  workspace::SetModeChange set{workspace_path(path), {}, node.mtime_ns / 1000, {}};
  set.conditions.if_match = {version};
  plan.steps.push_back({Plan::What::time, path, "", node, std::move(set), true});
  return true;
}

// Whether code wrote the same bytes again, and another client deleted the file meanwhile. The capture then
// keeps it as a new file.
bool Capture::is_written_anew(const Plan& plan, const std::string& path, const Node& node,
                              const Sha256& sha256) const {
  const ManifestRow* row = manifest_.find(path);
  if (row->sha256 != sha256 || !row->is_written_since(node)) return false;
  auto entry = keep_.files().find(plan.as.authority, workspace_path(path));
  return !entry || entry->id != row->file;
}

}  // namespace sk::interpreter
