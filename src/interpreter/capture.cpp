#include "interpreter/capture.h"

#include <unistd.h>

#include <cerrno>
#include <unordered_set>

#include "base/error.h"
#include "interpreter/contents.h"
#include "workspace/path.h"

namespace sk::interpreter {

using workspace::Change;
using workspace::EntryKind;

namespace {

constexpr size_t kBatchMax = 2'000;
// So many bytes of new content wait for one commit at most.
constexpr uint64_t kBatchBytesMax = 256 << 20;

std::string reason_of(const Node& node) {
  if (node.kind == NodeKind::link) return "link";
  return node.what == "a FIFO" ? "fifo" : node.what == "a socket" ? "socket" : "device";
}

std::string reason_of(const Error& error) {
  switch (error.code()) {
    case Code::quota_exceeded:
      return "quota";
    case Code::disk_full:
      return "disk_full";
    case Code::locked:
      return "locked";
    case Code::too_large:
      return "too_large";
    case Code::bad_request:
      return "name";
    default:
      return "conflict";
  }
}

bool is_below(const std::string& path, const std::string& folder) {
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

}  // namespace

void Settled::append(Settled&& other) {
  auto move_all = [](auto& to, auto& from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  };
  // The newest word about a path is the one that counts.
  std::unordered_set<std::string_view> told;
  for (const auto& file : other.kept) told.insert(file.path);
  for (const auto& item : other.not_kept) told.insert(item.path);
  if (!kept.empty()) std::erase_if(kept, [&](const KeptFile& old) { return told.contains(old.path); });
  if (!not_kept.empty()) std::erase_if(not_kept, [&](const NotKept& old) { return told.contains(old.path); });
  move_all(kept, other.kept);
  move_all(folders, other.folders);
  move_all(renamed, other.renamed);
  move_all(deleted, other.deleted);
  move_all(not_kept, other.not_kept);
}

// One settling, step by step: what may have changed, what did, and the changes that follow from it.
struct Capture::Plan {
  enum class What { folder, file, rename, trash };
  struct Step {
    What what;
    std::string path;  // on disk; the new one for renames
    std::string from;  // renames
    Node node;
    Change change;
    bool was_known = false;
  };

  const std::set<std::pair<uint64_t, uint64_t>>& open_files;
  const CaptureAs& as;
  std::map<std::string, std::optional<Node>> candidates;  // by path; nullopt: not there
  std::vector<std::string> gone;
  std::vector<std::pair<std::string, Node>> changed;
  std::vector<Step> steps;
  Settled settled;
  TimeUs now_us = 0;
};

Capture::Capture(workspace::Keep& keep, const WorkingCopy& copy, Manifest& manifest, std::string folder,
                 uint64_t file_bytes_max)
    : keep_(keep),
      copy_(copy),
      manifest_(manifest),
      folder_(std::move(folder)),
      file_bytes_max_(file_bytes_max) {}

std::string Capture::workspace_path(const std::string& path) const {
  std::string result = folder_;
  for (auto name : split(path, '/')) result = workspace::join_path(result, workspace::escape_name(name));
  return workspace::clean_path(result);
}

std::string Capture::disk_path(const std::string& workspace_path) const {
  SK_CHECK(workspace::is_within(workspace_path, folder_), workspace_path);
  if (workspace_path.size() == folder_.size()) return "";
  return workspace::unescape_name(workspace_path.substr(folder_.empty() ? 0 : folder_.size() + 1));
}

Settled Capture::settle(const Touched& touched, const std::set<std::pair<uint64_t, uint64_t>>& open_files,
                        const CaptureAs& as) {
  Plan plan{open_files, as, {}, {}, {}, {}, {}, keep_.ground().clock.now_us()};
  collect_candidates(touched, plan);
  if (plan.candidates.empty()) return {};
  find_renames(plan);
  classify(plan);
  read_changed(plan);
  plan_deletions(plan);
  apply(plan);
  return std::move(plan.settled);
}

void Capture::collect_candidates(const Touched& touched, Plan& plan) {
  auto add_tree = [&](const std::string& folder) {
    for (const auto& path : manifest_.below(folder)) plan.candidates.emplace(path, std::nullopt);
    if (!folder.empty()) plan.candidates[folder] = copy_.look(folder);
    copy_.walk(folder, [&](const std::string& path, const Node& node) {
      plan.candidates[path] = node;
      return true;
    });
  };
  if (touched.everything) {
    add_tree("");
  } else {
    for (const auto& folder : touched.folders) add_tree(folder);
    for (const auto& path : touched.paths)
      if (!plan.candidates.contains(path)) plan.candidates[path] = copy_.look(path);
  }
  for (const auto& [device, inode] : plan.open_files) {
    auto path = manifest_.find_inode(device, inode);
    if (path && !plan.candidates.contains(*path)) plan.candidates[*path] = copy_.look(*path);
  }
}

// A path that is gone and a new path with its inode are one file that was renamed. Folders first: what is in
// them goes with them.
void Capture::find_renames(Plan& plan) {
  auto pass = [&](NodeKind kind) {
    for (auto& [path, node] : plan.candidates) {
      if (!node || node->kind != kind || manifest_.find(path) != nullptr) continue;
      auto from = manifest_.find_inode(node->device, node->inode);
      if (!from || manifest_.find(*from)->kind != kind) continue;
      auto still_there = copy_.look(*from);
      if (still_there && still_there->inode == node->inode) continue;  // a hard link, not a rename
      if (still_there) continue;
      Plan::Step step{Plan::What::rename, path, *from, *node, {}, true};
      workspace::MoveChange move;
      try {
        move.from = workspace_path(*from);
        move.to = workspace_path(path);
      } catch (const Error&) {
        continue;  // the workspace cannot have that name: told when the file itself is looked at
      }
      const ManifestRow& row = *manifest_.find(*from);
      // A session's rename applies only if nobody else wrote the file since.
      if (row.version) move.conditions.if_match = {row.version};
      step.change = std::move(move);
      plan.steps.push_back(std::move(step));
      manifest_.rename(*from, path);
    }
  };
  pass(NodeKind::folder);
  pass(NodeKind::file);
}

void Capture::classify(Plan& plan) {
  for (auto& [path, node] : plan.candidates) {
    const ManifestRow* row = manifest_.find(path);
    if (!node) {
      if (row != nullptr) plan.gone.push_back(path);
      continue;
    }
    if (row != nullptr && row->kind != node->kind) {
      plan.gone.push_back(path);
      row = nullptr;
    }
    if (node->kind == NodeKind::link || node->kind == NodeKind::other) {
      auto [told, is_new] = told_.try_emplace(path, node->ctime_ns);
      if (is_new || told->second != node->ctime_ns)
        note_not_kept(plan, path, reason_of(*node), node->what + " is recorded, not kept");
      told->second = node->ctime_ns;
      continue;
    }
    bool open = plan.open_files.contains({node->device, node->inode});
    if (row != nullptr && row->matches(*node) && !open) continue;
    if (row != nullptr && node->kind == NodeKind::folder && row->mode == node->mode) continue;
    plan.changed.emplace_back(path, *node);
  }
}

void Capture::read_changed(Plan& plan) {
  // Hard links: one reading for all names of an inode.
  std::map<uint64_t, std::pair<Contents, Node>> by_inode;
  for (auto& [path, node] : plan.changed) {
    Plan::Step step{node.kind == NodeKind::folder ? Plan::What::folder : Plan::What::file,
                    path,
                    "",
                    node,
                    {},
                    manifest_.find(path) != nullptr};
    try {
      std::string target = workspace_path(path);
      if (node.kind == NodeKind::folder) {
        if (step.was_known)
          step.change = workspace::SetModeChange{target, node.mode & 0777, {}, {}};
        else
          step.change = workspace::MkdirChange{target, node.mode & 0777, {}, true};
        plan.steps.push_back(std::move(step));
        continue;
      }
      if (node.size > file_bytes_max_)
        throw Error(Code::too_large, "it has " + human_size(node.size) +
                                         ", and a file that is kept may have " + human_size(file_bytes_max_));
      workspace::PutChange put;
      auto known = node.links > 1 ? by_inode.find(node.inode) : by_inode.end();
      Contents contents;
      if (known != by_inode.end()) {
        contents = known->second.first;
        step.node = known->second.second;
      } else {
        auto read = read_contents(keep_.files(), copy_, path, file_bytes_max_);
        if (!read) continue;  // gone again, and told by the event that follows
        contents = read->contents;
        step.node = read->node;
        if (node.links > 1) by_inode.emplace(node.inode, std::pair(contents, step.node));
      }
      put.path = target;
      put.content = contents.written;
      put.head_bytes = contents.head_bytes;
      put.mode = step.node.mode & 0777;
      put.mtime_us = step.node.mtime_ns / 1000;
      put.source = plan.as.source;
      put.complete = contents.stable && !plan.open_files.contains({node.device, node.inode});
      put.keep_when_locked = true;
      if (const ManifestRow* row = manifest_.find(path); row != nullptr && row->version)
        put.base = row->version, put.base_is_known = true;
      step.change = std::move(put);
      plan.steps.push_back(std::move(step));
    } catch (const Error& error) {
      if (error.code() == Code::internal) throw;
      note_not_kept(plan, path, reason_of(error), error.message());
    }
  }
}

void Capture::plan_deletions(Plan& plan) {
  std::set<std::string> gone(plan.gone.begin(), plan.gone.end());
  std::string covered;  // a folder that goes as a whole; what is below it needs no step of its own
  for (const auto& path : plan.gone) {
    if (!covered.empty() && is_below(path, covered)) continue;
    const ManifestRow& row = *manifest_.find(path);
    Plan::Step step{Plan::What::trash, path, "", {}, {}, true};
    workspace::TrashChange trash;
    trash.path = workspace_path(path);
    if (row.kind == NodeKind::folder) {
      // Only a folder in which nobody else put or changed anything goes as one; else its files go one by one.
      bool all_ours = true;
      workspace::ListOptions options;
      options.folder = trash.path;
      options.recursive = true;
      try {
        do {
          auto page = keep_.files().list(plan.as.workspace, options);
          for (const auto& entry : page.items) {
            const ManifestRow* mine = manifest_.find(disk_path(entry.path));
            all_ours = all_ours && mine != nullptr && gone.contains(disk_path(entry.path)) &&
                       (entry.kind == EntryKind::folder || mine->version == entry.head);
          }
          options.cursor = page.next_cursor;
        } while (all_ours && !options.cursor.empty());
      } catch (const Error& error) {
        if (error.code() != Code::not_found) throw;
        for (const auto& below : manifest_.below(path)) manifest_.erase(below);
        continue;
      }
      if (!all_ours) {
        manifest_.erase(path);
        continue;
      }
      covered = path;
    } else {
      trash.conditions.if_match = {row.version};
    }
    step.change = std::move(trash);
    plan.steps.push_back(std::move(step));
  }
}

void Capture::apply(Plan& plan) {
  size_t at = 0;
  while (at < plan.steps.size()) {
    size_t end = at;
    uint64_t bytes = 0;
    std::vector<Change> batch;
    for (; end < plan.steps.size() && batch.size() < kBatchMax && bytes < kBatchBytesMax; ++end) {
      batch.push_back(plan.steps[end].change);
      bytes += plan.steps[end].node.size;
    }
    for (;;) {
      try {
        auto results = keep_.files().apply(plan.as.actor, plan.as.workspace, batch);
        for (size_t i = 0; i < results.size(); ++i) applied(plan, at + i, results[i]);
        at += results.size();
        break;
      } catch (const Error& error) {
        // All or nothing is right for a client's batch; here each file counts by itself: keep those before
        // the one that failed, then go on.
        size_t failed = 0;
        for (const auto& [name, value] : error.facts())
          if (name == "change") failed = static_cast<size_t>(std::get<int64_t>(value));
        if (failed > 0) {
          batch.resize(failed);
          continue;
        }
        refused(plan, at, error);
        ++at;
        break;
      }
    }
  }
}

void Capture::applied(Plan& plan, size_t index, workspace::ChangeResult& result) {
  Plan::Step& step = plan.steps[index];
  switch (step.what) {
    case Plan::What::rename:
      plan.settled.renamed.emplace_back(workspace_path(step.from), result.entry.path);
      break;
    case Plan::What::folder:
      manifest_.set(step.path, step.node, result.entry.id, Id{}, plan.now_us);
      if (result.created) plan.settled.folders.push_back(result.entry.path);
      break;
    case Plan::What::trash:
      for (const auto& path : manifest_.below(step.path)) manifest_.erase(path);
      plan.settled.deleted.push_back(result.entry.path);
      break;
    case Plan::What::file: {
      // What could only be kept in the trash, because of a lock, has no place in the workspace: it stays new,
      // and gets one when it is looked at again without the lock.
      if (!result.entry.trashed_us)
        manifest_.set(step.path, step.node, result.entry.id, result.version->id, plan.now_us);
      KeptFile kept;
      kept.path = result.version->path;
      kept.file = result.version->file;
      kept.version = result.version->id;
      kept.size = result.version->size;
      kept.sha256 = result.version->sha256;
      kept.mime = result.version->mime;
      kept.change = result.created ? "created" : result.unchanged ? "unchanged" : "changed";
      kept.complete = result.version->complete;
      kept.diverged = result.diverged;
      kept.locked = result.kept_aside;
      // Touched but the same as before (the server's own writes among them): nothing to tell.
      if (!result.unchanged || kept.locked) plan.settled.kept.push_back(std::move(kept));
    }
  }
}

void Capture::refused(Plan& plan, size_t index, const Error& error) {
  Plan::Step& step = plan.steps[index];
  switch (step.what) {
    case Plan::What::file:
    case Plan::What::folder:
      note_not_kept(plan, step.path, reason_of(error), error.message());
      break;
    case Plan::What::rename:
      // Somebody else wrote or locked the file meanwhile: theirs stays where it is, and ours is kept under
      // its new name.
      for (const auto& path : manifest_.below(step.path)) manifest_.erase(path);
      if (step.node.kind == NodeKind::file) {
        Plan again{plan.open_files, plan.as, {}, {}, {{step.path, step.node}}, {}, {}, plan.now_us};
        read_changed(again);
        apply(again);
        plan.settled.append(std::move(again.settled));
      } else {
        Touched touched;
        touched.folders.insert(step.path);
        plan.settled.append(settle(touched, plan.open_files, plan.as));
      }
      break;
    case Plan::What::trash:
      // Not ours to delete any more; the next synchronisation brings it back into the copy.
      for (const auto& path : manifest_.below(step.path)) manifest_.erase(path);
      if (error.code() == Code::locked)
        note_not_kept(plan, step.path, "locked", "the deletion was not applied: " + error.message());
  }
}

void Capture::note_not_kept(Plan& plan, const std::string& path, std::string reason, std::string message) {
  NotKept item;
  item.path = folder_;
  for (auto name : split(path, '/'))
    item.path = workspace::join_path(item.path, workspace::escape_name(name));
  item.reason = std::move(reason);
  item.message = std::move(message);
  plan.settled.not_kept.push_back(std::move(item));
}

}  // namespace sk::interpreter
