// What every part of the domain stands on; made by main, outlives all of it.
#pragma once

#include "base/clock.h"
#include "base/id.h"
#include "base/metrics.h"
#include "blobs/store.h"
#include "catalog/database.h"

namespace sk::workspace {

class BlobLedger;
class Feed;

// Settings; their defaults are in the server's table.
struct Limits {
  uint64_t quota_default_bytes;
  uint64_t file_bytes_max;
  size_t list_max;
  size_t batch_max;
  int64_t lock_ttl_min_s;
  int64_t lock_ttl_max_s;
  size_t locks_per_workspace_max;
  uint64_t disk_reserve_bytes;  // no new content while the disk has less free than this
  size_t message_text_bytes_max;
  size_t message_files_max;
};

struct Ground {
  catalog::Database& db;
  blobs::Store& blobs;
  BlobLedger& ledger;
  Feed& feed;
  const Clock& clock;
  IdMaker& ids;
  Metrics& metrics;
  Limits limits;
  std::string directory;  // the data folder
};

}  // namespace sk::workspace
