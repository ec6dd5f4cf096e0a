// The memory of one writer: a bounded number of equal buffers that are used again. Whoever fills a segment
// takes it from the pool; the jobs that hash and write its bytes share it by reference; with the last
// reference it returns to the pool.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "base/text.h"

namespace sk::blobs {

constexpr size_t kSegmentBytes = 1 << 20;

// Shared by the jobs that read it, which end in no particular order.
using Segment = std::shared_ptr<std::byte[]>;

// Some bytes and the segment that keeps them alive.
struct Slice {
  Segment segment;
  Bytes bytes;
};

// Any thread. Outlives every segment that it gave away.
class SegmentPool {
 public:
  explicit SegmentPool(size_t segments_max) : left_to_make_(segments_max) {}
  SegmentPool(const SegmentPool&) = delete;
  SegmentPool& operator=(const SegmentPool&) = delete;

  // kSegmentBytes of memory with any content. Waits until there is one: this is the back-pressure on whoever
  // writes faster than the disk.
  Segment take();

 private:
  void give_back(std::byte* memory);

  std::mutex mutex_;
  std::condition_variable returned_;
  size_t left_to_make_;                             // guarded by mutex_
  std::vector<std::unique_ptr<std::byte[]>> free_;  // guarded by mutex_
};

}  // namespace sk::blobs
