// The Writer of every store: decides whether a content is inline, one file or many chunks, names each piece
// by its hash, and gives those that are not kept yet to a Sink.
//
// Up to kWholeBytesMax everything happens on the caller's thread, in finish(). A larger content streams
// through a pipeline: the caller copies the bytes into segments and looks for cuts; jobs on the store's pool
// hash the whole, in order, and hash and keep the chunks, in any order. So that the upload of one content
// uses two cores, and holds at most kSegmentsMax segments.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "base/worker_pool.h"
#include "blobs/chunker.h"
#include "blobs/segments.h"
#include "blobs/sink.h"
#include "blobs/store.h"
#include "blobs/written.h"

namespace sk::blobs {

// Twice the largest chunk, which is held whole until its hash says whether it is new, and a little to keep
// all stages busy.
constexpr size_t kSegmentsMax = 20;

// The references outlive the writer. One thread at a time, as Writer says; what a job throws is thrown again
// by the next call.
class ContentWriter final : public Writer {
 public:
  ContentWriter(Store& store, KnownBlobs& known, std::unique_ptr<Sink> sink, WorkerPool& pool);
  ~ContentWriter() override;

  void write(Bytes bytes) override;
  uint64_t size() const override { return size_; }
  Written finish() override;

 private:
  void stream(Bytes bytes);
  void find_cuts(Bytes bytes);
  void end_chunk();
  void hash_in_order(Slice slice);
  void hash_next();
  void keep_chunk(size_t index, std::span<const Slice> slices);
  Blob keep(const Sha256& hash, std::span<const Slice> slices, uint64_t bytes_count);
  void finish_whole();
  void finish_streamed();
  template <class Job>
  void run_on_pool(Job job) noexcept;
  void wait_for_jobs();
  void throw_failure();

  KnownBlobs& known_;
  WorkerPool& pool_;

  // Only the caller's thread.
  uint64_t size_ = 0;
  std::vector<std::byte> head_;  // the content while it may still be kept as one blob
  bool streaming_ = false;
  Chunker chunker_;
  SegmentPool segments_{kSegmentsMax};
  Segment segment_;  // being filled
  size_t segment_filled_ = 0;
  std::vector<Slice> chunk_;  // found so far of the chunk that is not yet at its end

  std::atomic<bool> failed_ = false;

  std::mutex mutex_;
  std::condition_variable idle_;
  size_t jobs_ = 0;                     // guarded by mutex_: given to the pool and not ended
  std::exception_ptr failure_;          // guarded by mutex_: the first one
  std::deque<Slice> to_hash_;           // guarded by mutex_: the front is being hashed when there is one
  std::vector<PieceRef> list_;          // guarded by mutex_: the chunks in the order of the content
  std::unordered_set<Sha256> handled_;  // guarded by mutex_: chunks that a job has taken on
  std::map<size_t, Blob> blobs_;  // guarded by mutex_: distinct chunks, by where one of them stands in list_

  Sha256Stream whole_;  // used by one job at a time, or by the caller when there are none

  // Last, so that it goes first: a failed writer's files go while they are pinned.
  std::unique_ptr<Written::Impl> result_;  // pins guarded by mutex_ while jobs run
  std::unique_ptr<Sink> sink_;
};

}  // namespace sk::blobs
