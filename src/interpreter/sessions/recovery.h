// After a start: keeps the files of sessions whose server died, and removes what deleted sessions left.
#pragma once

#include "base/fair_queue.h"
#include "interpreter/copy/copy_cache.h"
#include "interpreter/copy/copy_keeper.h"
#include "interpreter/records.h"
#include "interpreter/sessions/registry.h"

namespace sk::interpreter {

// All outlive the work on the pool.
struct RecoveryParts {
  Records& records;
  Registry& registry;
  const CopyContext& copies;
  const CopyCache& cache;
  FairPool& pool;
};

// Compares the copies of such sessions, on the threads of their owners, and returns when all are done. A copy
// that cannot be compared is compared by its session's next execution. Removes copies of deleted sessions
// without waiting for it. Call once, before the first session wakes.
void recover_copies(const RecoveryParts& parts);

}  // namespace sk::interpreter
