// Names the tenant for whom the current thread works. A resource that many calls use, such as the readers of
// the catalog, is shared between tenants by this name, which no call has to pass on. FairPool sets it for
// each of its jobs.
#pragma once

#include "base/id.h"

namespace sk {

// In effect on the thread that constructs it, until it is destroyed there. Scopes nest; the innermost counts.
class OnBehalfOf {
 public:
  explicit OnBehalfOf(const Id& tenant) : tenant_(tenant), outer_(innermost_) { innermost_ = this; }
  ~OnBehalfOf() { innermost_ = outer_; }
  OnBehalfOf(const OnBehalfOf&) = delete;
  OnBehalfOf& operator=(const OnBehalfOf&) = delete;

  // The tenant of the current thread; zero for work of the server itself.
  static Id tenant() { return innermost_ == nullptr ? Id{} : innermost_->tenant_; }
  // Replaces the tenant of the innermost scope, as when a request has been authenticated. Does nothing on a
  // thread without a scope, which works for many.
  static void replace(const Id& tenant) {
    if (innermost_ != nullptr) innermost_->tenant_ = tenant;
  }

 private:
  Id tenant_;
  OnBehalfOf* const outer_;
  static inline thread_local OnBehalfOf* innermost_ = nullptr;
};

}  // namespace sk
