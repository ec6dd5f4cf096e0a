// Where a writer's finished blobs go: the part of writing that differs between local disk and an object
// store.
#pragma once

#include <span>
#include <string>

#include "base/hash.h"
#include "blobs/segments.h"

namespace sk::blobs {

// One sink serves one writer. Destroyed without publish(), it leaves nothing behind.
class Sink {
 public:
  virtual ~Sink() = default;
  // Begins to keep a blob and returns the location that it will have. `slices` are its bytes in order and are
  // not used after the return. Any number of threads at once. Throws Error(disk_full) when there is no room.
  virtual std::string add(const Sha256& hash, std::span<const Slice> slices) = 0;
  // Everything that was added is durable, at its location, when this returns. No add() at the same time, nor
  // after it.
  virtual void publish() = 0;
};

}  // namespace sk::blobs
