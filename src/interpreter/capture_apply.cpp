// The changes that a capture planned, made durable in batches, and what becomes of those that are refused.
#include <algorithm>

#include "interpreter/capture_plan.h"
#include "workspace/path.h"

namespace sk::interpreter {

namespace {

constexpr size_t kBatchMax = 2'000;
// So many bytes of new content wait for one commit at most.
constexpr uint64_t kBatchBytesMax = 256 << 20;

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

}  // namespace

void Capture::apply(Plan& plan) {
  size_t at = 0;
  while (at < plan.steps.size()) {
    size_t end = at;
    uint64_t bytes = 0;
    std::vector<workspace::Change> batch;
    for (; end < plan.steps.size() && batch.size() < kBatchMax && bytes < kBatchBytesMax; ++end) {
      batch.push_back(plan.steps[end].change);
      bytes += plan.steps[end].node.size;
    }
    for (;;) {
      bool recorded = false;
      // Versions and the manifest's rows about them become durable together.
      auto also = [&](catalog::Tx& tx, const std::vector<workspace::ChangeResult>& made) {
        recorded = true;
        for (size_t i = 0; i < made.size(); ++i) record(plan, at + i, made[i]);
        manifest_.save(tx);
      };
      try {
        auto results = keep_.files().apply(plan.as.actor, plan.as.workspace, batch, also);
        manifest_.saved();
        for (size_t i = 0; i < results.size(); ++i) applied(plan, at + i, results[i]);
        at += results.size();
        break;
      } catch (const Error& error) {
        if (recorded) {
          manifest_.load();  // nothing of it is durable
          throw;
        }
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

void Capture::record(Plan& plan, size_t index, const workspace::ChangeResult& result) {
  Plan::Step& step = plan.steps[index];
  switch (step.what) {
    case Plan::What::rename:
      break;
    case Plan::What::folder:
      manifest_.set(step.path, step.node, result.entry.id, Id{}, plan.now_us);
      break;
    case Plan::What::trash:
      for (const auto& path : manifest_.below(step.path)) manifest_.erase(path);
      break;
    case Plan::What::file:
      // What could only be kept in the trash, because of a lock, has no place in the workspace: it stays new,
      // and gets one when it is looked at again without the lock.
      if (!result.entry.trashed_us)
        // Of what was being written the marks prove nothing: it is read again when it is touched next.
        manifest_.set(step.path, step.node, result.entry.id, result.version->id,
                      result.version->complete ? plan.now_us : 0);
  }
}

void Capture::applied(Plan& plan, size_t index, workspace::ChangeResult& result) {
  Plan::Step& step = plan.steps[index];
  if (step.what == Plan::What::file || step.what == Plan::What::folder) refused_.erase(step.path);
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
    case Plan::What::file: {
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
      refused_content(plan, step.path, step.node, error);
      break;
    case Plan::What::rename:
      // Somebody else wrote or locked the file meanwhile: theirs stays where it is, and ours is kept under
      // its new name. A folder around it that was to go stays for it.
      std::erase_if(plan.steps, [&](const Plan::Step& later) {
        return later.what == Plan::What::trash && is_below(step.from, later.path);
      });
      for (const auto& path : manifest_.below(step.path)) manifest_.erase(path);
      if (step.node.kind == NodeKind::file) {
        Plan again{plan.open_files, plan.as, {}, {}, {}, {}, {{step.path, step.node}}, {}, {}, plan.now_us};
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
      if (error.code() != Code::not_found)
        note_not_kept(plan, step.path, reason_of(error), "the deletion was not applied: " + error.message());
  }
}

// Of a file or folder that is there: it is tried again with every capture, since what stands in its way may
// be gone by then.
void Capture::refused_content(Plan& plan, const std::string& path, const Node& node, const Error& error) {
  auto& item = note_not_kept(plan, path, reason_of(error), error.message());
  item.only_copy = node.kind == NodeKind::file;
  // Too large, or with a name that cannot be, it stays until it is touched.
  if (item.reason == "too_large" || item.reason == "name") return;
  refused_[path] = {node, item.reason, item.message, item.reason == "quota" ? room(plan).value_or(0) : 0};
}

// A large file need not be read again to find that the quota is as it was.
bool Capture::is_refused_again(Plan& plan, const std::string& path, const Node& node) {
  auto found = refused_.find(path);
  if (found == refused_.end() || found->second.reason != "quota") return false;
  const Node& then = found->second.node;
  if (then.inode != node.inode || then.size != node.size || then.ctime_ns != node.ctime_ns) return false;
  if (room(plan).value_or(UINT64_MAX) > found->second.room) return false;
  note_not_kept(plan, path, found->second.reason, found->second.message).only_copy = true;
  return true;
}

std::optional<uint64_t> Capture::room(const Plan& plan) {
  try {
    auto now = keep_.workspaces().open(plan.as.actor,
                                       plan.as.workspace.id.with_prefix(workspace::prefix::workspace));
    return now.quota_bytes - std::min(now.quota_bytes, now.used_bytes);
  } catch (const Error&) {
    return std::nullopt;
  }
}

NotKept& Capture::note_not_kept(Plan& plan, const std::string& path, std::string reason,
                                std::string message) {
  NotKept item;
  item.path = folder_;
  for (auto name : split(path, '/'))
    item.path = workspace::join_path(item.path, workspace::escape_name(name));
  item.reason = std::move(reason);
  item.message = std::move(message);
  plan.settled.not_kept.push_back(std::move(item));
  return plan.settled.not_kept.back();
}

}  // namespace sk::interpreter
