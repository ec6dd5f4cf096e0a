// Destination of a writer's finished blobs: the part of writing that differs between local disk and an object
// store.
#pragma once

#include <span>
#include <string>

#include "base/hash.h"
#include "blobs/segments.h"

namespace sk::blobs {

// Serves one writer. Destroyed without publish(), it leaves nothing behind.
class Sink {
 public:
  virtual ~Sink() = default;
  // Starts storing a blob and returns its future location. `slices` are its bytes in order; they are not used
  // after the return. Throws Error(disk_full) when there is no space. Thread-safe.
  virtual std::string add(const Sha256& hash, std::span<const Slice> slices) = 0;
  // Makes everything added durable at its location. Must not run concurrently with add(), and no add() may
  // follow.
  virtual void publish() = 0;
};

}  // namespace sk::blobs
