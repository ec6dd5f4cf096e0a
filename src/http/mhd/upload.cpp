#include "http/mhd/upload.h"

#include "http/mhd/exchange.h"

namespace sk::http {

Upload::Taken Upload::take(std::string_view bytes) {
  MutexLock lock(mutex_);
  if (parked_)
    // One read may contain several chunks; the loop offers each before it sees the suspension.
    return Taken::later;
  if (failed_) return Taken::failed;
  filling_.append(bytes);
  taken_bytes_ += bytes.size();
  if (!busy_ && filling_.size() >= kPieceBytesMin) {
    start_locked();
  } else if (busy_ && filling_.size() >= kReadAheadBytesMax) {
    if (!exchange_.park_request()) return Taken::cut;
    parked_ = true;
  }
  return Taken::all;
}

Upload::Taken Upload::finish() {
  MutexLock lock(mutex_);
  if (failed_) return Taken::failed;
  if (!exchange_.park_request()) return Taken::cut;
  parked_ = complete_ = true;
  if (!busy_) start_locked();
  return Taken::all;
}

bool Upload::abort() {
  MutexLock lock(mutex_);
  if (failed_ || complete_) return false;  // the reply was created while the connection was parked
  aborted_ = true;
  if (!busy_) start_locked();
  return true;
}

void Upload::start_locked() {
  busy_ = true;
  exchange_.submit([self = exchange_.shared_from_this()] { self->upload_->pump(); });
}

// Takes the next piece if there is one. Sets `last` when only end() remains.
bool Upload::choose_locked(bool& last) {
  bool enough = filling_.size() >= kPieceBytesMin || (complete_ && !filling_.empty());
  last = complete_ && !enough;
  if (!enough) return last;
  running_.clear();
  running_.swap(filling_);  // the emptied buffer keeps its memory for the next piece
  if (parked_ && !complete_) {
    parked_ = false;
    exchange_.unpark();
  }
  return true;
}

// Runs one short job per piece, so a fast client does not occupy a worker.
void Upload::pump() {
  bool last = false;
  std::unique_ptr<BodySink> dropped;  // destroyed outside the lock
  {
    MutexLock lock(mutex_);
    if (aborted_) {
      dropped = std::move(sink_);
      return;
    }
    if (!choose_locked(last)) {
      busy_ = false;
      return;
    }
  }
  if (last) return end();
  try {
    sink_->piece(running_);
  } catch (...) {
    return fail(std::current_exception());
  }
  MutexLock lock(mutex_);
  bool more = aborted_ || complete_ || filling_.size() >= kPieceBytesMin;
  if (more)
    start_locked();
  else
    busy_ = false;
}

void Upload::fail(const std::exception_ptr& failure) {
  sink_.reset();
  auto reply = exchange_.reply_to(failure);
  MutexLock lock(mutex_);
  failed_ = true;
  busy_ = false;
  filling_ = std::string();
  if (aborted_) return;
  exchange_.set_reply(std::move(reply));
  if (std::exchange(parked_, false)) return exchange_.unpark();
  // The loop learns of the failure with the next bytes, but a client may wait for the reply first: send it
  // now. The socket is open, because closing it requires abort().
  exchange_.answer_at_once(taken_bytes_);
}

void Upload::end() {
  Reply reply;
  try {
    reply = sink_->end();
  } catch (...) {
    reply = exchange_.reply_to(std::current_exception());
  }
  sink_.reset();
  exchange_.settle(std::move(reply));
}

}  // namespace sk::http
