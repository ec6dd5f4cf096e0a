// Dependencies that all parts of the domain share. Keep creates the KeepContext; it outlives all of them.
#pragma once

#include <functional>
#include <vector>

#include "base/clock.h"
#include "base/id.h"
#include "base/metrics.h"
#include "blobs/store.h"
#include "catalog/database.h"
#include "workspace/mime.h"

namespace sk::workspace {

class BlobLedger;
class Feed;
class Revocations;

// Settings; the server's settings table has their defaults.
struct KeepLimits {
  uint64_t quota_default_bytes;
  uint64_t principal_quota_bytes;  // 0: none
  // Of one principal, unless an administrator set another limit for it.
  size_t workspaces_per_principal_max;
  size_t keys_per_principal_max;
  size_t sessions_kept_per_principal_max;
  uint64_t file_bytes_max;
  size_t list_max;
  size_t list_scan_max;  // entries that one page of a list compares with a pattern
  size_t batch_max;
  size_t changed_entries_max;  // by one transaction, besides those that its changes name
  int64_t lock_ttl_min_s;
  int64_t lock_ttl_max_s;
  size_t locks_per_workspace_max;
  uint64_t disk_reserve_bytes;  // new content is refused while less disk space is free
  size_t message_text_bytes_max;
  size_t message_files_max;
};

struct KeepContext {
  catalog::Database& db;
  blobs::Store& blobs;
  BlobLedger& ledger;
  Feed& feed;
  Revocations& revocations;
  const Clock& clock;  // the catalog's; inside of a transaction, use Tx::now_us()
  IdMaker& ids;
  Metrics& metrics;
  KeepLimits limits;
  std::string directory;  // the data folder
  Id node = {};           // names this data folder among those that share a catalog
  TypeOfBytes type_of_bytes = {};
  // Delete what other rooms keep of a file, inside the transaction of its purge. Complete before the first
  // one.
  std::vector<std::function<void(catalog::Tx& tx, const Id& file)>> on_purge = {};
  // Delete about `rows_max` rows of what other rooms keep of a workspace, inside a transaction of its purge.
  // Return how many; 0: nothing is left. Complete before the first one.
  std::vector<std::function<size_t(catalog::Tx& tx, const Id& workspace, size_t rows_max)>>
      on_workspace_purge = {};
};

}  // namespace sk::workspace
