// What stands behind a Written: the same for every store.
#pragma once

#include <vector>

#include "blobs/store.h"

namespace sk::blobs {

// Destroyed uncommitted, it removes the files of its blobs from `store`. The pins go after the files: while a
// hash is pinned, nobody takes its files for orphans. The store outlives it.
struct Written::Impl {
  explicit Impl(Store& in_store) : store(in_store) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl();

  Store& store;
  std::vector<Pin> pins;
  Blob root;
  std::vector<Blob> pieces;
  bool committed = false;
};

}  // namespace sk::blobs
