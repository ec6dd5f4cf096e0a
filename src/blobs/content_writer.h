// The Writer of every store. Stores a content inline, as one file or as chunks. Hashes each piece and passes
// unknown pieces to a Sink.
//
// Content up to kWholeBytesMax is processed on the caller's thread, in finish(). Larger content streams
// through a pipeline, so one upload keeps two cores busy and holds at most kSegmentsMax segments:
//
//   the caller, write()         copies the bytes into segments and finds cuts
//   one job per step, in order  hashes the whole and, if the processor does both at once, the chunk
//   one job per chunk           asks whether it is known; passes an unknown one to the sink
#pragma once

#include <atomic>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <unordered_set>
#include <vector>

#include "base/mutex.h"
#include "base/worker_pool.h"
#include "blobs/chunker.h"
#include "blobs/interleaved_sha256.h"
#include "blobs/segments.h"
#include "blobs/sink.h"
#include "blobs/store.h"
#include "blobs/written.h"

namespace sk::blobs {

// Twice the largest chunk, because a chunk stays in memory until its hash is known, plus some slack to keep
// all stages busy.
constexpr size_t kSegmentsMax = 20;

// The references must outlive the writer. One thread at a time, see Writer. The next call rethrows the
// exception of a failed job.
class ContentWriter final : public Writer {
 public:
  struct Needs {
    Store& store;
    KnownBlobs& known;
    WorkerPool& pool;
    InterleavedSha256::Use hashing;
  };
  ContentWriter(const Needs& needs, std::unique_ptr<Sink> sink);
  ~ContentWriter() override;

  void write(Bytes bytes) override;
  uint64_t size() const override { return size_; }
  Written finish() override;

 private:
  struct Chunk {
    size_t index;  // index into list_
    std::vector<Slice> slices;
  };
  // Bytes to hash, and the chunk that ends with them, if any.
  struct Step {
    Slice slice;
    std::optional<Chunk> ended;
  };

  void stream(Bytes bytes);
  void find_cuts(Bytes bytes);
  void end_segment();
  void end_chunk();
  Slice take_unhashed();
  void hash_in_order(Step step);
  void hash_next();
  void keep_chunk(const Chunk& chunk, const std::optional<Sha256>& hash);
  Blob keep(const Sha256& hash, std::span<const Slice> slices, uint64_t size);
  void finish_whole();
  void finish_streamed();
  template <class Job>
  void run_on_pool(Job job) noexcept;
  void wait_for_jobs();
  void throw_failure();

  KnownBlobs& known_;
  WorkerPool& pool_;

  // Caller's thread only.
  uint64_t size_ = 0;
  std::vector<std::byte> head_;  // the content while it may still become a single blob
  bool streaming_ = false;
  Chunker chunker_;
  SegmentPool segments_{kSegmentsMax};
  Segment segment_;            // being filled
  size_t segment_filled_ = 0;  // bytes filled in segment_
  size_t segment_hashed_ = 0;  // of these, bytes passed on for hashing
  std::vector<Slice> chunk_;   // slices of the current, incomplete chunk

  std::atomic<bool> failed_ = false;

  Mutex mutex_;
  ConditionVariable idle_;
  size_t jobs_ SK_GUARDED_BY(mutex_) = 0;                     // queued or running
  std::exception_ptr failure_ SK_GUARDED_BY(mutex_);          // the first failure
  std::deque<Step> steps_ SK_GUARDED_BY(mutex_);              // the front one is being hashed
  std::vector<PieceRef> list_ SK_GUARDED_BY(mutex_);          // chunks in content order
  std::unordered_set<Sha256> handled_ SK_GUARDED_BY(mutex_);  // chunks that a job has claimed
  std::map<size_t, Blob> blobs_ SK_GUARDED_BY(mutex_);        // distinct chunks, by an index into list_

  const InterleavedSha256::Use hashing_;
  // Set once streaming starts. Used by one job at a time, or by the caller when there are no jobs.
  std::optional<InterleavedSha256> hashes_;

  // Declared last to be destroyed first: a failed writer's files are removed while they are pinned.
  std::unique_ptr<Written::Impl> result_;  // while jobs run, its pins change under mutex_
  std::unique_ptr<Sink> sink_;
};

}  // namespace sk::blobs
