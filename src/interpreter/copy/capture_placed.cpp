// Files that the server itself put into a copy: how a capture keeps them from the intake's content.
#include <algorithm>
#include <utility>

#include "interpreter/copy/capture_plan.h"

namespace sk::interpreter {

bool Capture::is_only_placed(const Touched& touched) const {
  if (touched.opened || touched.everything || !touched.folders.empty() || !touched.members.empty() ||
      has_refused())
    return false;
  return std::ranges::all_of(touched.paths, [&](const std::string& path) {
    return std::ranges::any_of(placed_, [&](const PlacedFile& file) { return file.path == path; });
  });
}

void Capture::take_placed(Plan& plan) {
  for (auto& file : std::exchange(placed_, {})) {
    if (!plan.candidates.contains(file.path)) look_at(plan, file.path);
    std::string path = file.path;
    plan.placed.insert_or_assign(std::move(path), std::move(file));
  }
}

// Keeps the files that code has got hold of since they were placed. They become versions before anything
// else is planned, so that what code did to them is compared with their rows. The others stay in the plan.
Settled Capture::keep_altered(Plan& plan) {
  auto is_as_placed = [&](const PlacedFile& file) {
    auto found = plan.candidates.find(file.path);
    if (found == plan.candidates.end() || !found->second) return false;
    const Node& now = *found->second;
    // A write sets the time of the system's last tick, which is not the time that place() set.
    return now.kind == NodeKind::file && now.device == file.node.device && now.inode == file.node.inode &&
           now.birth_ns == file.node.birth_ns && now.size == file.node.size &&
           now.mtime_ns == file.node.mtime_ns && now.ctime_ns == file.node.ctime_ns &&
           now.mode == file.node.mode && now.links == 1 && !plan.open_files.contains({now.device, now.inode});
  };
  for (auto at = plan.placed.begin(); at != plan.placed.end();) {
    if (is_as_placed(at->second)) {
      ++at;
      continue;
    }
    PlacedFile& file = at->second;
    if (auto beside = place_beside(plan, file)) {
      // Without an inode, the row matches no file in the copy: the capture trashes the file and finds no
      // rename.
      file.path = *beside;
      file.node.inode = 0;
      plan.candidates[*beside] = std::nullopt;
    }
    put_placed(plan, file);
    at = plan.placed.erase(at);
  }
  apply(plan);
  plan.steps.clear();
  for (const auto& file : plan.settled.kept)
    if (file.diverged) plan.diverged.insert(disk_path(file.path));
  return std::exchange(plan.settled, {});
}

// Returns a free path for the content of a placed file that code renamed or removed, if a client has created
// another file at its path meanwhile. That file must not be renamed or trashed with it.
std::optional<std::string> Capture::place_beside(const Plan& plan, const PlacedFile& file) const {
  auto found = plan.candidates.find(file.path);
  bool is_there = found != plan.candidates.end() && found->second &&
                  found->second->device == file.node.device && found->second->inode == file.node.inode;
  auto is_taken = [&](const std::string& path) {
    return keep_.files().find(plan.as.authority, workspace_path(path)).has_value();
  };
  if (is_there || manifest_.find(file.path) != nullptr || !is_taken(file.path)) return std::nullopt;
  size_t name = file.path.rfind('/') + 1, dot = file.path.rfind('.');  // npos + 1 is 0
  size_t end = dot == std::string::npos || dot <= name ? file.path.size() : dot;
  for (int n = 2;; ++n) {
    std::string beside = file.path.substr(0, end) + " (" + std::to_string(n) + ")" + file.path.substr(end);
    if (manifest_.find(beside) == nullptr && !copy_.look(beside) && !is_taken(beside)) return beside;
  }
}

void Capture::put_placed(Plan& plan, const PlacedFile& file) const {
  plan.steps.push_back(
      {Plan::What::file, file.path, "", file.node, put_of(plan, file.path, file.node, file.content)});
}

}  // namespace sk::interpreter
