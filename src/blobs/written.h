// State of a Written, common to all stores.
#pragma once

#include <vector>

#include "blobs/store.h"

namespace sk::blobs {

// Destroyed uncommitted, it removes the files of its blobs from `store`. Pins are released after the files
// are removed: the collector treats no file of a pinned hash as an orphan. The store must outlive it.
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
