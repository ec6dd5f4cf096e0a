#include "interpreter/sessions/recovery.h"

#include <future>

#include "base/log.h"

namespace sk::interpreter {

namespace {

void recover_copy(const RecoveryParts& parts, SessionInfo& info) {
  auto lease = parts.registry.acquire(info.id).get();
  if (!CopyKeeper(parts.copies, info).exists()) return;
  try {
    parts.records.claim(info);
    CopyKeeper(parts.copies, info).recover(capture_as(info));
  } catch (const std::exception& error) {
    log::error("a session's files could not be compared after a restart; its next execution retries",
               {{"session", info.id.hex()}, {"error", error.what()}});
  }
}

}  // namespace

void recover_copies(const RecoveryParts& parts) {
  std::vector<std::future<void>> done;
  for (auto& info : parts.records.dirty_sessions()) {
    auto task =
        std::make_shared<std::packaged_task<void()>>([&parts, info]() mutable { recover_copy(parts, info); });
    done.push_back(task->get_future());
    parts.pool.submit_always(info.owner, [task] { (*task)(); });
  }
  for (auto& one : done) one.get();
  for (auto& info : parts.cache.of_deleted_sessions())
    parts.pool.submit_always(info.owner,
                             [&copies = parts.copies, info] { CopyKeeper(copies, info).remove(); });
}

}  // namespace sk::interpreter
