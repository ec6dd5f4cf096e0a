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

struct Limits {
  uint64_t quota_default_bytes = 50ull << 30;
  uint64_t file_bytes_max = 5ull << 40;
  size_t list_max = 1000;
  size_t batch_max = 10'000;
  int64_t lock_ttl_min_s = 60;
  int64_t lock_ttl_max_s = 3600;
  size_t locks_per_workspace_max = 10'000;
  uint64_t disk_reserve_bytes = 0;  // no new content while the disk has less free than this
  size_t message_text_bytes_max = 4 << 20;
  size_t message_files_max = 1000;
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
