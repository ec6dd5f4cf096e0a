#include "http/deferred.h"

namespace sk::http {

Deferred::Deferred(std::chrono::milliseconds deadline, std::function<Reply()> at_deadline,
                   std::function<void()> on_cancel, std::function<void()> on_lost, AtStop at_stop)
    : impl_(std::make_unique<Impl>(deadline, std::move(at_deadline), std::move(on_cancel), std::move(on_lost),
                                   at_stop)) {}

Deferred::~Deferred() = default;

bool Deferred::complete(Reply reply) {
  std::function<bool(Reply)> deliver;
  {
    MutexLock lock(impl_->mutex);
    if (impl_->done) return false;
    impl_->done = true;
    deliver = std::move(impl_->deliver);
    if (!deliver) {
      impl_->early = std::move(reply);
      return true;
    }
  }
  return deliver(std::move(reply));
}

AtStop Deferred::at_stop() const { return impl_->at_stop; }

bool Deferred::done() const {
  MutexLock lock(impl_->mutex);
  return impl_->done;
}

Deferred::Impl::Attached Deferred::Impl::attach(std::function<bool(Reply)> deliver_to) {
  MutexLock lock(mutex);
  if (early) return Attached::completed;
  if (done) return Attached::claimed;
  deliver = std::move(deliver_to);
  return Attached::waiting;
}

Reply Deferred::Impl::take_early() {
  MutexLock lock(mutex);
  return std::move(*early);
}

bool Deferred::Impl::claim() {
  // Destroyed after the lock is released, because it may hold the last reference to a request.
  std::function<bool(Reply)> dropped;
  MutexLock lock(mutex);
  if (done) return false;
  done = true;
  dropped.swap(deliver);
  return true;
}

}  // namespace sk::http
