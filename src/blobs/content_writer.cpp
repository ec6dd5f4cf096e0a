#include "blobs/content_writer.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/fair_queue.h"

namespace sk::blobs {

namespace {

Sha256 sha256_of(std::span<const Slice> slices) {
  Sha256Stream stream;
  for (const auto& slice : slices) stream.update(slice.bytes);
  return stream.digest();
}

}  // namespace

ContentWriter::ContentWriter(const Needs& needs, std::unique_ptr<Sink> sink)
    : known_(needs.known),
      pool_(needs.pool),
      hashing_(needs.hashing),
      result_(std::make_unique<Written::Impl>(needs.store)),
      sink_(std::move(sink)) {}

ContentWriter::~ContentWriter() {
  failed_ = true;  // jobs that have not started skip their work
  wait_for_jobs();
}

void ContentWriter::write(Bytes bytes) {
  throw_failure();
  SK_CHECK(result_ != nullptr, "write() after finish()");
  if (!streaming_ && size_ + bytes.size() > kWholeBytesMax) {
    streaming_ = true;
    hashes_.emplace(hashing_);
    stream(head_);
    head_ = {};
  }
  size_ += bytes.size();
  if (streaming_)
    stream(bytes);
  else
    head_.insert(head_.end(), bytes.begin(), bytes.end());
}

Written ContentWriter::finish() {
  throw_failure();
  SK_CHECK(result_ != nullptr, "finish() twice");
  if (streaming_)
    finish_streamed();
  else
    finish_whole();
  sink_->publish();
  sink_.reset();
  return Written(std::move(result_));
}

void ContentWriter::finish_whole() {
  const Bytes bytes = head_;
  const Slice slice{nullptr, bytes};
  result_->root = keep(sha256(bytes), {&slice, 1}, bytes.size());
}

void ContentWriter::finish_streamed() {
  if (!chunk_.empty()) end_chunk();
  segment_.reset();
  wait_for_jobs();
  throw_failure();

  MutexLock lock(mutex_);  // no job is left; locked because the members are guarded
  auto& root = result_->root;
  if (list_.size() == 1) {
    root = std::move(blobs_.begin()->second);
    return;
  }
  root.hash = hashes_->whole();
  root.size = size_;
  root.kind = Kind::list;
  Pin pin(known_, root.hash);
  root.known = pin.kept();
  result_->pins.push_back(std::move(pin));
  root.bytes = encode_pieces(list_);
  result_->pieces.reserve(blobs_.size());
  for (auto& [index, blob] : blobs_) result_->pieces.push_back(std::move(blob));
}

void ContentWriter::stream(Bytes bytes) {
  while (!bytes.empty()) {
    if (!segment_) segment_ = segments_.take();
    const size_t count = std::min(bytes.size(), kSegmentBytes - segment_filled_);
    std::byte* const place = segment_.get() + segment_filled_;
    std::memcpy(place, bytes.data(), count);
    bytes = bytes.subspan(count);
    find_cuts({place, count});
    if (segment_filled_ == kSegmentBytes) end_segment();
  }
}

// `bytes` are the next bytes of the segment.
void ContentWriter::find_cuts(Bytes bytes) {
  while (!bytes.empty()) {
    const auto end = chunker_.feed(bytes);
    const Bytes part = bytes.first(end.value_or(bytes.size()));
    Slice* const last = chunk_.empty() ? nullptr : &chunk_.back();
    if (last != nullptr && last->segment == segment_)
      last->bytes = {last->bytes.data(), last->bytes.size() + part.size()};
    else
      chunk_.push_back({segment_, part});
    segment_filled_ += part.size();
    if (end) end_chunk();
    bytes = bytes.subspan(part.size());
  }
}

void ContentWriter::end_segment() {
  if (segment_hashed_ < segment_filled_) hash_in_order({take_unhashed(), std::nullopt});
  segment_.reset();
  segment_filled_ = 0;
  segment_hashed_ = 0;
}

void ContentWriter::end_chunk() {
  Chunk chunk{0, std::exchange(chunk_, {})};
  {
    MutexLock lock(mutex_);
    chunk.index = list_.size();
    list_.emplace_back();
  }
  hash_in_order({take_unhashed(), std::move(chunk)});
}

Slice ContentWriter::take_unhashed() {
  const size_t begin = std::exchange(segment_hashed_, segment_filled_);
  return {segment_, {segment_.get() + begin, segment_filled_ - begin}};
}

// When the job of the front step ends, it queues the next one. This keeps the order, and no writer occupies a
// thread for longer than one segment.
void ContentWriter::hash_in_order(Step step) {
  bool first;
  {
    MutexLock lock(mutex_);
    steps_.push_back(std::move(step));
    first = steps_.size() == 1;
  }
  if (first) run_on_pool([this] { hash_next(); });
}

void ContentWriter::hash_next() {
  Step* step;  // stays valid while others are appended
  {
    MutexLock lock(mutex_);
    step = &steps_.front();
  }
  // After a failure, steps are still removed, because the writer may wait for their segments.
  if (!failed_) hashes_->update(step->slice.bytes);
  if (step->ended && !failed_)
    run_on_pool(
        [this, chunk = std::move(*step->ended), hash = hashes_->end_part()] { keep_chunk(chunk, hash); });
  bool more;
  {
    MutexLock lock(mutex_);
    steps_.pop_front();
    more = !steps_.empty();
  }
  if (more) run_on_pool([this] { hash_next(); });
}

void ContentWriter::keep_chunk(const Chunk& chunk, const std::optional<Sha256>& known_hash) {
  if (failed_) return;
  size_t size = 0;
  for (const auto& slice : chunk.slices) size += slice.bytes.size();
  const Sha256 hash = known_hash ? *known_hash : sha256_of(chunk.slices);
  {
    MutexLock lock(mutex_);
    list_[chunk.index] = {hash, static_cast<uint32_t>(size)};
    if (!handled_.insert(hash).second) return;
  }
  Blob blob = keep(hash, chunk.slices, size);
  MutexLock lock(mutex_);
  blobs_.emplace(chunk.index, std::move(blob));
}

Blob ContentWriter::keep(const Sha256& hash, std::span<const Slice> slices, uint64_t size) {
  Blob blob{
      .hash = hash, .size = size, .kind = Kind::inline_bytes, .bytes = {}, .location = {}, .known = false};
  if (size <= kInlineBytesMax) {
    // Inline bytes are stored with the record, even if an equal blob exists, so no pin is needed. The
    // collector cannot interfere, because both write through the catalog.
    blob.bytes.reserve(size);
    for (const auto& slice : slices) blob.bytes += as_text(slice.bytes);
    return blob;
  }
  blob.kind = Kind::file;
  Pin pin(known_, hash);
  blob.known = pin.kept();
  {
    MutexLock lock(mutex_);
    result_->pins.push_back(std::move(pin));
  }
  if (!blob.known) blob.location = sink_->add(hash, slices);
  return blob;
}

// noexcept: without memory to queue a job, the jobs that wait for it could never end.
template <class Job>
void ContentWriter::run_on_pool(Job job) noexcept {
  {
    MutexLock lock(mutex_);
    ++jobs_;
  }
  pool_.submit_always([this, job = std::move(job)]() mutable {
    {
      Job owned = std::move(job);  // returns its segments before the job counts as ended
      try {
        owned();
      } catch (...) {
        MutexLock lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
        failed_ = true;
      }
    }
    // Notify under the lock: a waiting destructor must not see zero before this thread is done with idle_.
    MutexLock lock(mutex_);
    if (--jobs_ == 0) idle_.notify_all();
  });
}

void ContentWriter::wait_for_jobs() {
  MutexLock lock(mutex_);
  if (jobs_ == 0) return;
  FairPool::Pause pause;
  idle_.wait(lock, [this]() SK_REQUIRES(mutex_) { return jobs_ == 0; });
}

void ContentWriter::throw_failure() {
  if (!failed_) return;
  MutexLock lock(mutex_);
  std::rethrow_exception(failure_);
}

}  // namespace sk::blobs
