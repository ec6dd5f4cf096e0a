#include "blobs/content_writer.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace sk::blobs {

ContentWriter::ContentWriter(Store& store, KnownBlobs& known, std::unique_ptr<Sink> sink, WorkerPool& pool)
    : known_(known),
      pool_(pool),
      result_(std::make_unique<Written::Impl>(store, known)),
      sink_(std::move(sink)) {}

ContentWriter::~ContentWriter() {
  failed_ = true;  // jobs that have not begun have nothing to do any more
  wait_for_jobs();
}

void ContentWriter::write(Bytes bytes) {
  throw_failure();
  SK_CHECK(result_ != nullptr, "write() after finish()");
  if (!streaming_ && size_ + bytes.size() > kWholeBytesMax) {
    streaming_ = true;
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
  // A root that is kept already needs none of what was written for it; the sink discards it when it goes.
  if (!result_->root.known) sink_->publish();
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
  if (segment_filled_ > 0) hash_in_order({segment_, {segment_.get(), segment_filled_}});
  segment_.reset();
  wait_for_jobs();
  throw_failure();

  std::lock_guard lock(mutex_);  // no job is left, but the members say who guards them
  auto& root = result_->root;
  if (list_.size() == 1) {
    root = std::move(blobs_.begin()->second);
    return;
  }
  root.hash = whole_.digest();
  root.size = size_;
  root.kind = Kind::list;
  root.known = known_.pin(root.hash);
  result_->pins.push_back(root.hash);
  if (root.known) return;
  root.bytes = encode_pieces(list_);
  result_->pieces.reserve(blobs_.size());
  for (auto& [index, blob] : blobs_) result_->pieces.push_back(std::move(blob));
}

void ContentWriter::stream(Bytes bytes) {
  while (!bytes.empty()) {
    if (!segment_) {
      segment_ = segments_.take();
      segment_filled_ = 0;
    }
    const size_t count = std::min(bytes.size(), kSegmentBytes - segment_filled_);
    std::byte* const place = segment_.get() + segment_filled_;
    std::memcpy(place, bytes.data(), count);
    bytes = bytes.subspan(count);
    segment_filled_ += count;
    find_cuts({place, count});
    if (segment_filled_ == kSegmentBytes) {
      hash_in_order({segment_, {segment_.get(), kSegmentBytes}});
      segment_.reset();
      segment_filled_ = 0;
    }
  }
}

void ContentWriter::find_cuts(Bytes bytes) {
  while (!bytes.empty()) {
    const auto end = chunker_.feed(bytes);
    const Bytes part = bytes.first(end.value_or(bytes.size()));
    if (!chunk_.empty() && chunk_.back().bytes.data() + chunk_.back().bytes.size() == part.data() &&
        chunk_.back().segment == segment_)
      chunk_.back().bytes = {chunk_.back().bytes.data(), chunk_.back().bytes.size() + part.size()};
    else
      chunk_.push_back({segment_, part});
    if (end) end_chunk();
    bytes = bytes.subspan(part.size());
  }
}

void ContentWriter::end_chunk() {
  size_t index;
  {
    std::lock_guard lock(mutex_);
    index = list_.size();
    list_.emplace_back();
  }
  run_on_pool([this, index, slices = std::exchange(chunk_, {})] { keep_chunk(index, slices); });
}

void ContentWriter::keep_chunk(size_t index, std::span<const Slice> slices) {
  if (failed_) return;
  Sha256Stream stream;
  size_t size = 0;
  for (const auto& slice : slices) {
    stream.update(slice.bytes);
    size += slice.bytes.size();
  }
  const Sha256 hash = stream.digest();
  {
    std::lock_guard lock(mutex_);
    list_[index] = {hash, static_cast<uint32_t>(size)};
    if (!handled_.insert(hash).second) return;
  }
  Blob blob = keep(hash, slices, size);
  std::lock_guard lock(mutex_);
  blobs_.emplace(index, std::move(blob));
}

Blob ContentWriter::keep(const Sha256& hash, std::span<const Slice> slices, uint64_t size) {
  Blob blob{.hash = hash,
            .size = size,
            .kind = Kind::inline_bytes,
            .bytes = {},
            .location = {},
            .known = known_.pin(hash)};
  {
    std::lock_guard lock(mutex_);
    result_->pins.push_back(hash);
  }
  if (size > kInlineBytesMax) blob.kind = Kind::file;
  if (blob.known) return blob;
  if (blob.kind == Kind::file) {
    blob.location = sink_->add(hash, slices);
  } else {
    blob.bytes.reserve(size);
    for (const auto& slice : slices) blob.bytes += as_text(slice.bytes);
  }
  return blob;
}

// The job at the front of to_hash_ puts the next one into the pool's queue when it ends, so that the order
// holds and no writer keeps a thread from the others for longer than one segment takes.
void ContentWriter::hash_in_order(Slice slice) {
  bool first;
  {
    std::lock_guard lock(mutex_);
    to_hash_.push_back(std::move(slice));
    first = to_hash_.size() == 1;
  }
  if (first) run_on_pool([this] { hash_next(); });
}

void ContentWriter::hash_next() {
  Slice slice;
  {
    std::lock_guard lock(mutex_);
    slice = to_hash_.front();
  }
  if (!failed_)
    whole_.update(slice.bytes);  // after a failure the queue still empties, for its segments are waited for
  bool more;
  {
    std::lock_guard lock(mutex_);
    to_hash_.pop_front();
    more = !to_hash_.empty();
  }
  if (more) run_on_pool([this] { hash_next(); });
}

// Without memory for one more entry in a queue there is no way to end the jobs that wait for it: hence
// noexcept.
template <class Job>
void ContentWriter::run_on_pool(Job job) noexcept {
  {
    std::lock_guard lock(mutex_);
    ++jobs_;
  }
  pool_.submit_always([this, job = std::move(job)]() mutable {
    {
      Job owned = std::move(job);  // its segments go back before the job counts as ended
      try {
        owned();
      } catch (...) {
        std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
        failed_ = true;
      }
    }
    // Notified under the lock: a destructor that waits may not find the count at zero before this thread is
    // done with idle_.
    std::lock_guard lock(mutex_);
    if (--jobs_ == 0) idle_.notify_all();
  });
}

void ContentWriter::wait_for_jobs() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return jobs_ == 0; });
}

void ContentWriter::throw_failure() {
  if (!failed_) return;
  std::lock_guard lock(mutex_);
  std::rethrow_exception(failure_);
}

}  // namespace sk::blobs
