// The Writer of every store: decides whether a content is inline, one file or many chunks, names each piece
// by its hash, and gives those that are not kept yet to a Sink.
//
// Up to kWholeBytesMax everything happens on the caller's thread, in finish(). A larger content streams
// through a pipeline, so that the upload of one content keeps two cores busy and holds at most kSegmentsMax
// segments:
//
//   the caller, write()      copies the bytes into segments and looks for cuts
//   a job per step, in order  hashes: the whole, and where the processor does both at once, the chunk
//   a job per chunk           asks whether it is known, and if not gives it to the sink
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_set>
#include <vector>

#include "base/worker_pool.h"
#include "blobs/chunker.h"
#include "blobs/interleaved_sha256.h"
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
    size_t index;  // in list_
    std::vector<Slice> slices;
  };
  // Bytes to hash, and the chunk that ends with them, if one does.
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

  // Only the caller's thread.
  uint64_t size_ = 0;
  std::vector<std::byte> head_;  // the content while it may still be kept as one blob
  bool streaming_ = false;
  Chunker chunker_;
  SegmentPool segments_{kSegmentsMax};
  Segment segment_;            // being filled
  size_t segment_filled_ = 0;  // bytes of segment_ that were filled
  size_t segment_hashed_ = 0;  // of these, the bytes that were given to be hashed
  std::vector<Slice> chunk_;   // found so far of the chunk that is not yet at its end

  std::atomic<bool> failed_ = false;

  std::mutex mutex_;
  std::condition_variable idle_;
  size_t jobs_ = 0;                     // guarded by mutex_: given to the pool and not ended
  std::exception_ptr failure_;          // guarded by mutex_: the first one
  std::deque<Step> steps_;              // guarded by mutex_: the front, if any, is being hashed
  std::vector<PieceRef> list_;          // guarded by mutex_: the chunks in the order of the content
  std::unordered_set<Sha256> handled_;  // guarded by mutex_: chunks that a job has taken on
  std::map<size_t, Blob> blobs_;        // guarded by mutex_: distinct chunks, by where one stands in list_

  const InterleavedSha256::Use hashing_;
  std::optional<InterleavedSha256>
      hashes_;  // from the moment it streams; used by one job at a time, or by the caller when there are none

  // Last, so that it goes first: a failed writer's files go while they are pinned.
  std::unique_ptr<Written::Impl> result_;  // pins guarded by mutex_ while jobs run
  std::unique_ptr<Sink> sink_;
};

}  // namespace sk::blobs
