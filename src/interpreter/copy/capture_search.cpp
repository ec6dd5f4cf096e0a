// Searches an untrusted copy. After a power cut its files may be empty, old or torn, and files missing from
// it may never have been deleted.
#include "base/path.h"
#include "interpreter/copy/capture.h"
#include "interpreter/copy/contents.h"

namespace sk::interpreter {

namespace {

constexpr size_t kSearchedAtOnce = 500;

}  // namespace

Settled Capture::search(WorkingCopy& suspect, const CaptureAs& as) {
  std::vector<std::pair<std::string, Node>> nodes;
  Settled found;
  auto unkept = [&](const std::string& path, UnkeptReason reason, Sentence message) {
    found.not_kept.push_back({named(path), reason, std::move(message), true});
  };
  auto closed = suspect.walk("", [&](const std::string& path, const Node& node) {
    nodes.emplace_back(path, node);
    return true;
  });
  for (const auto& path : closed) unkept(path, UnkeptReason::unreadable, "the server cannot read it");
  // A folder is made with what is kept in it. Made for itself, it would come back whenever the remains of the
  // copy are searched again, also after somebody deleted it.
  std::map<std::string, uint32_t> modes;
  std::set<std::string> filled;
  for (const auto& [path, node] : nodes) {
    if (node.kind == NodeKind::folder) modes[path] = node.mode & 0777;
    if (auto slash = path.rfind('/'); slash != std::string::npos) filled.insert(path.substr(0, slash));
  }

  std::vector<workspace::Change> batch;
  std::vector<std::string> paths;  // of this batch
  std::vector<std::pair<std::string, workspace::PutChange>> misfits;
  auto set_modes_of = [&](const std::vector<workspace::Entry>& made_above) {
    std::vector<workspace::Change> changes;
    for (const auto& folder : made_above) {
      if (!is_within(folder.path, folder_)) continue;
      auto mode = modes.find(disk_path(folder.path));
      if (mode != modes.end() && mode->second != folder.mode)
        changes.push_back(workspace::SetModeChange{folder.path, mode->second, {}, {}});
    }
    if (!changes.empty()) keep_.files().apply_each(as.authority, std::move(changes), {});
  };
  auto apply_batch = [&] {
    if (batch.empty()) return;
    auto changes = batch;
    std::vector<KeptFile> kept;
    auto also = [&](catalog::Tx& tx, const std::vector<workspace::Files::Applied>& all) {
      kept.clear();  // the transaction may run again
      for (const auto& one : all)
        if (auto file = one.result ? kept_file(*one.result) : std::nullopt) {
          file->change = KeptChange::recovered;
          file->locked = false;
          kept.push_back(std::move(*file));
        }
      if (as.also) as.also(tx, kept);
    };
    auto results = keep_.files().apply_each(as.authority, std::move(batch), also);
    found.kept.insert(found.kept.end(), kept.begin(), kept.end());
    for (size_t i = 0; i < results.size(); ++i) {
      // A file in the place of a folder, or below a file, gets a new path.
      auto* put = std::get_if<workspace::PutChange>(&changes[i]);
      bool is_misfit = results[i].refused && results[i].refused->code() == Code::conflict && put != nullptr &&
                       put->path == workspace_path(paths[i]);
      if (is_misfit)
        misfits.emplace_back(paths[i], *put);
      else if (results[i].refused)
        unkept(paths[i], reason_of(*results[i].refused), results[i].refused->sentence());
      else if (put != nullptr)
        suspect.remove_file(paths[i]);
      else
        suspect.remove_folder(paths[i]);
      if (results[i].result) set_modes_of(results[i].result->made_above);
    }
    batch.clear();
    paths.clear();
  };

  const size_t count_max = std::min(kSearchedAtOnce, keep_.context().limits.batch_max);
  for (const auto& [path, node] : nodes) {
    try {
      const ManifestRow* row = manifest_.find(path);
      if (is_too_deep(path)) {
        unkept(path, UnkeptReason::too_deep, "it has too many folders above it");
        continue;
      }
      if (node.kind == NodeKind::folder) {
        if (row != nullptr || filled.contains(path)) continue;
        batch.push_back(workspace::MkdirChange{workspace_path(path), node.mode & 0777, {}, true, false});
      } else if (node.kind == NodeKind::file) {
        // A power cut leaves an empty file where blocks were not written, so an empty file in the place of a
        // kept one is ignored.
        if (node.size == 0 && row != nullptr && row->kind == NodeKind::file) {
          suspect.remove_file(path);
          continue;
        }
        auto read = read_contents(keep_.context(), suspect, path, file_bytes_max_, as.must_stop);
        if (!read) continue;
        if (row != nullptr && row->sha256 && row->sha256 == read->content.hash()) {
          suspect.remove_file(path);
          continue;
        }
        workspace::PutChange put;
        put.path = workspace_path(path);
        put.content = read->content;
        put.mode = node.mode & 0777;
        put.mtime_us = node.mtime_ns / 1000;
        put.source = as.source;
        put.source.detail["recovered"] = true;
        put.captured = put.beside_head = put.keep_when_locked = true;
        batch.push_back(std::move(put));
      } else {
        continue;
      }
      paths.push_back(path);
      if (batch.size() >= count_max) apply_batch();
    } catch (const Error& error) {
      if (error.code() == Code::internal) throw;
      unkept(path, reason_of(error), error.sentence());
    }
  }
  apply_batch();
  for (auto& [path, put] : misfits) {
    put.path = workspace_path("recovered/" + path);
    batch.push_back(std::move(put));
    paths.push_back(path);
    if (batch.size() >= count_max) apply_batch();
  }
  apply_batch();
  return found;
}

}  // namespace sk::interpreter
