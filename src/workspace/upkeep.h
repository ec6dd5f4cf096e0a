// Maintenance: the collector of unreferenced blobs, the scrubber that re-reads stored blobs, and `verify`.
// Keep calls them in the background; `collect` and `verify` also run on request.
#pragma once

#include <functional>
#include <thread>

#include "base/mutex.h"
#include "workspace/keep_context.h"

namespace sk::workspace {

struct CollectResult {
  int64_t blobs = 0, orphans = 0;
  uint64_t freed_bytes = 0;
};
struct VerifyResult {
  int64_t blobs = 0, versions = 0, entries = 0, journal_entries = 0;
  uint64_t bytes = 0;
  std::vector<std::string> problems;  // at most 1,000
};

// Any thread; at most one collection and one verification run at a time.
class Upkeep {
 public:
  explicit Upkeep(KeepContext& context) : context_(context) {}
  // Deletes unreferenced blobs, first the row and then the file. Also deletes files older than `orphan_age_s`
  // that no row names.
  CollectResult collect(int64_t orphan_age_s = 86'400);
  // Reads every blob and checks every reference, count and journal chain. `progress` may be called often; if
  // it returns false, verification stops.
  VerifyResult verify(const std::function<bool(const VerifyResult&)>& progress = {});
  // Re-reads a slice of the blobs, least recently checked first. Logs and counts corrupt blobs. Called by the
  // background thread.
  void scrub_slice(uint64_t bytes_max);

 private:
  KeepContext& context_;
  Mutex collecting_, verifying_;
};

}  // namespace sk::workspace
