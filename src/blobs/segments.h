// Memory of one writer: a bounded number of reusable buffers of equal size. The caller takes a segment from
// the pool and fills it. The jobs that hash and write its bytes share it. When the last reference is
// released, the segment returns to the pool.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "base/text.h"

namespace sk::blobs {

constexpr size_t kSegmentBytes = 1 << 20;

// Shared, because the jobs that read it end in any order.
using Segment = std::shared_ptr<std::byte[]>;

// Bytes, and the segment that keeps them alive.
struct Slice {
  Segment segment;
  Bytes bytes;
};

// Thread-safe. Must outlive its segments.
class SegmentPool {
 public:
  explicit SegmentPool(size_t segments_max) : left_to_make_(segments_max) {}
  SegmentPool(const SegmentPool&) = delete;
  SegmentPool& operator=(const SegmentPool&) = delete;

  // Returns kSegmentBytes of uninitialized memory. Blocks until a segment is free, which is the back-pressure
  // on writers faster than the disk.
  Segment take();

 private:
  void give_back(std::byte* memory);

  Mutex mutex_;
  ConditionVariable returned_;
  size_t left_to_make_ SK_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<std::byte[]>> free_ SK_GUARDED_BY(mutex_);
};

}  // namespace sk::blobs
