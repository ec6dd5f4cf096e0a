// Takes up less disk, when nobody waits: files that have been there for a while are replaced by compressed
// ones where that saves something. What is read does not change, nor does what the catalog knows.
#pragma once

#include <functional>

#include "blobs/blob_tree.h"
#include "blobs/store.h"

namespace sk::blobs {

// As Store::compress() says. One call at a time.
Compressed compress_files(BlobTree& tree, int64_t older_than_s, const std::function<bool()>& go_on);

}  // namespace sk::blobs
