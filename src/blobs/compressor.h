// Compresses files in the background. Replaces older files with compressed ones where that saves space.
// Neither the content that readers see nor the catalog changes.
#pragma once

#include <functional>

#include "blobs/blob_tree.h"
#include "blobs/store.h"

namespace sk::blobs {

// Implements Store::compress(). One call at a time.
Compressed compress_files(BlobTree& tree, int64_t older_than_s, const std::function<bool()>& go_on);

}  // namespace sk::blobs
