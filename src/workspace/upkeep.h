// What runs behind the scenes: the collector of blobs that nobody needs, the scrubber that re-reads what is
// stored, and `verify`.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "workspace/ground.h"

namespace sk::workspace {

struct CollectResult {
  int64_t blobs = 0, orphans = 0;
  uint64_t freed_bytes = 0;
};
struct VerifyResult {
  int64_t blobs = 0, versions = 0, entries = 0, journal_entries = 0;
  uint64_t bytes = 0;
  std::vector<std::string> problems;  // the first 1,000
};

// Any thread; at most one collection and one verification run at a time.
class Upkeep {
 public:
  explicit Upkeep(Ground& ground) : ground_(ground) {}
  // Deletes unreferenced blobs: the row in a write, then the file; and files older than a day that no row
  // names.
  CollectResult collect(int64_t orphan_age_s = 86'400);
  // Reads every blob and follows every reference. `progress` may be called often; returning false stops.
  VerifyResult verify(const std::function<bool(const VerifyResult&)>& progress = {});
  // Re-reads a slice of the blobs, oldest check first; called by the background keeper.
  void scrub_slice(uint64_t bytes_max);

 private:
  Ground& ground_;
  std::mutex collecting_, verifying_;
};

}  // namespace sk::workspace
