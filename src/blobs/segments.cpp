#include "blobs/segments.h"

#include "base/fair_queue.h"

namespace sk::blobs {

Segment SegmentPool::take() {
  std::unique_ptr<std::byte[]> memory;
  {
    MutexLock lock(mutex_);
    if (free_.empty() && left_to_make_ == 0) {
      FairPool::Pause pause;
      returned_.wait(lock, [this]() SK_REQUIRES(mutex_) { return !free_.empty(); });
    }
    if (free_.empty()) {
      memory = std::make_unique_for_overwrite<std::byte[]>(kSegmentBytes);
      --left_to_make_;
      free_.reserve(free_.capacity() + 1);  // so give_back() never allocates
    } else {
      memory = std::move(free_.back());
      free_.pop_back();
    }
  }
  return Segment(memory.release(), [this](std::byte* returned) { give_back(returned); });
}

void SegmentPool::give_back(std::byte* memory) {
  {
    MutexLock lock(mutex_);
    free_.emplace_back(memory);
  }
  returned_.notify_one();
}

}  // namespace sk::blobs
