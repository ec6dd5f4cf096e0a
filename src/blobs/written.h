// What stands behind a Written: the same for every store.
#pragma once

#include <vector>

#include "blobs/store.h"

namespace sk::blobs {

// Destroyed uncommitted, it removes the files of its blobs from `store`; always, it unpins `pins`. Both
// references outlive it.
struct Written::Impl {
  Impl(Store& in_store, KnownBlobs& known_blobs) : store(in_store), known(known_blobs) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl();

  Store& store;
  KnownBlobs& known;
  std::vector<Sha256> pins;  // each once
  Blob root;
  std::vector<Blob> pieces;
  bool committed = false;
};

}  // namespace sk::blobs
