// Plans the deletions of a capture: what code removed from the copy goes to the workspace's trash, and
// nothing that another client wrote goes with it.
#include <algorithm>
#include <array>
#include <iterator>

#include "base/error.h"
#include "interpreter/copy/capture_plan.h"

namespace sk::interpreter {

using workspace::EntryKind;

// Whether code removed this very entry, and no other client wrote it since. A transaction that runs again
// asks again.
bool Capture::is_ours(const Plan& plan, const workspace::Entry& entry) const {
  std::string path = disk_path(entry.path);
  const ManifestRow* mine = manifest_.find_remembered(path);
  if (mine == nullptr || !std::ranges::binary_search(plan.gone, path)) return false;
  return (mine->kind == NodeKind::folder) == (entry.kind == EntryKind::folder) &&
         (entry.kind != EntryKind::file || mine->version == entry.head);
}

// Whether a folder can be deleted as a whole: no other client added or changed anything in it.
// Error(not_found) when it is gone, Error(bad_request) when it is no longer a folder.
bool Capture::is_all_ours(const Plan& plan, const std::string& folder) {
  workspace::ListOptions options;
  options.folder = workspace_path(folder);
  options.recursive = true;
  do {
    auto page = keep_.files().list(plan.as.authority, options);
    for (const auto& entry : page.items)
      if (!is_ours(plan, entry)) return false;
    options.cursor = page.next_cursor;
  } while (!options.cursor.empty());
  return true;
}

void Capture::plan_deletions(Plan& plan) {
  std::set<std::string> covered;       // folders that are deleted as a whole; entries below need no step
  std::set<std::string> emptied;       // all is ours, but the entries below get a step each
  std::vector<Plan::Step> afterwards;  // folders that follow what was in them
  for (const auto& path : plan.gone) {
    const ManifestRow* row = manifest_.find(path);
    if (row == nullptr || is_below_any(path, covered)) continue;
    Plan::Step step{Plan::What::trash, path, "", {}, {}, true};
    workspace::TrashChange trash;
    trash.path = workspace_path(path);
    if (row->kind != NodeKind::folder) {
      trash.conditions.if_match = {row->version};
      step.change = std::move(trash);
      plan.steps.push_back(std::move(step));
      continue;
    }
    step.entries = manifest_.count_below(path, entries_at_once());
    bool as_a_whole = plan.how.deletions == Deletions::folders && step.entries <= entries_at_once();
    try {
      if (!is_below_any(path, emptied) && !is_all_ours(plan, path)) {
        manifest_.erase(path);
        continue;
      }
    } catch (const Error& error) {
      // Another client removed it, or put a file in its place.
      if (error.code() != Code::not_found && error.code() != Code::bad_request) throw;
      for (const auto& below : manifest_.below(path)) manifest_.erase(below);
      continue;
    }
    // The transaction looks again: another client may have put a file into the folder by then.
    trash.only_if = [this, &plan](const workspace::Entry& entry) { return is_ours(plan, entry); };
    step.change = std::move(trash);
    if (as_a_whole) {
      covered.insert(path);
      plan.steps.push_back(std::move(step));
    } else {
      emptied.insert(path);
      step.entries = 1;
      afterwards.push_back(std::move(step));
    }
  }
  std::ranges::move(afterwards.rbegin(), afterwards.rend(), std::back_inserter(plan.steps));
}

// Deletions that make room for another kind come first, other deletions last.
void Capture::put_in_order(Plan& plan) {
  auto turn_of = [&](const Plan::Step& step) -> size_t {
    if (step.what != Plan::What::trash) return 1;
    return plan.replaced.contains(step.path) || is_below_any(step.path, plan.replaced) ? 0 : 2;
  };
  std::array<std::vector<Plan::Step>, 3> turns;
  for (Plan::Step& step : plan.steps) turns[turn_of(step)].push_back(std::move(step));
  plan.steps.clear();
  for (auto& turn : turns) std::ranges::move(turn, std::back_inserter(plan.steps));
}

}  // namespace sk::interpreter
