#include "interpreter/workspace_purger.h"

#include "base/log.h"
#include "interpreter/record_deletion.h"

namespace sk::interpreter {

namespace {

constexpr std::chrono::seconds kLookAgain{60};

}  // namespace

WorkspacePurger::WorkspacePurger(workspace::Keep& keep, Interpreter& interpreter, Background& background)
    : keep_(keep), interpreter_(interpreter), background_(background) {
  keep.context().on_workspace_purge.emplace_back(purge_session_rows);
}

Later<workspace::PurgeResult> WorkspacePurger::purge(const Begin& begin) {
  workspace::BegunPurge begun;
  {
    MutexLock lock(mutex_);
    auto workspace = begin();
    begun = {workspace.id, workspace.owner};
    running_.insert(begun.workspace);
  }
  return finish(begun);
}

std::vector<workspace::BegunPurge> WorkspacePurger::take_begun() {
  MutexLock lock(mutex_);
  std::vector<workspace::BegunPurge> taken;
  for (const auto& begun : workspace::begun_workspace_purges(keep_.context()))
    if (running_.insert(begun.workspace).second) taken.push_back(begun);
  return taken;
}

Later<workspace::PurgeResult> WorkspacePurger::finish(const workspace::BegunPurge& begun) {
  auto authority = workspace::system_authority(begun.workspace, workspace::Author(begun.owner, "purge"),
                                               "the sessions of a purged workspace end");
  Promise<workspace::PurgeResult> purged;
  auto answer = [this, begun, purged](Result<workspace::PurgeResult> result) {
    {
      MutexLock lock(mutex_);
      running_.erase(begun.workspace);
    }
    purged.set(std::move(result));
  };
  auto ended = result_of<Later<Done>>([&] { return interpreter_.remove_all(authority); });
  if (ended.error() != nullptr) {
    answer(*ended.error());
    return purged.later();
  }
  ended.take().then([this, begun, answer](const Result<Done>& removed) {
    if (removed.error() != nullptr) return answer(*removed.error());
    bool is_accepted = background_.run_chore([this, begun, answer] {
      answer(result_of<workspace::PurgeResult>([&] {
        return workspace::purge_workspace(keep_.context(), begun, [this] { return !background_.stopping(); });
      }));
    });
    if (!is_accepted)
      answer(Error(Code::unavailable, "too much other work waits; the purge goes on in a minute"));
  });
  return purged.later();
}

void WorkspacePurger::finish_begun() {
  try {
    for (const auto& begun : take_begun())
      finish(begun).then([begun](const Result<workspace::PurgeResult>& result) {
        if (result.error() != nullptr)
          log::warn("a workspace could not be purged yet; it is tried again",
                    {{"workspace", begun.workspace.hex()}, {"error", result.error()->message()}});
      });
  } catch (const std::exception& error) {
    log::error("background work failed; it is tried again", {{"error", error.what()}});
  }
  background_.run_after(kLookAgain, [this] { finish_begun(); });
}

}  // namespace sk::interpreter
