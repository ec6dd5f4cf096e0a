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

  std::vector<workspace::Change> batch;
  std::vector<std::string> paths;  // of this batch
  std::vector<std::pair<std::string, workspace::PutChange>> misfits;
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
      else
        suspect.remove_file(paths[i]);  // does not remove folders
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
        if (row == nullptr)
          batch.push_back(workspace::MkdirChange{workspace_path(path), node.mode & 0777, {}, true, false});
        else
          continue;
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
