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
    put_placed(plan, at->second);
    at = plan.placed.erase(at);
  }
  apply(plan);
  plan.steps.clear();
  return std::exchange(plan.settled, {});
}

void Capture::put_placed(Plan& plan, const PlacedFile& file) const {
  plan.steps.push_back(
      {Plan::What::file, file.path, "", file.node, put_of(plan, file.path, file.node, file.content)});
}

}  // namespace sk::interpreter
