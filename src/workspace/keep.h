// The keep: owns all objects of the domain and creates them in dependency order. Dialects get them from here.
#pragma once

#include <memory>
#include <string>

#include "identity/access.h"
#include "workspace/access_log.h"
#include "workspace/audit.h"
#include "workspace/blob_ledger.h"
#include "workspace/content.h"
#include "workspace/feed.h"
#include "workspace/files.h"
#include "workspace/journal.h"
#include "workspace/links.h"
#include "workspace/locks.h"
#include "workspace/retractions.h"
#include "workspace/revocations.h"
#include "workspace/upkeep.h"
#include "workspace/uploads.h"
#include "workspace/usage.h"
#include "workspace/workspaces.h"

namespace sk::workspace {

// Settings; the server's settings table has their defaults.
struct KeepOptions {
  std::string directory;  // the data folder; created, mode 0700
  KeepLimits limits;
  int access_log_retention_days;
  uint64_t access_log_bytes_max;
  size_t group_commit_max;
  size_t catalog_readers;
  int64_t trash_retention_s;   // entries that were trashed longer ago are purged; 0: never
  int64_t collect_interval_s;  // 0: only on request
  int64_t scrub_interval_s;    // time between slices of blobs; 0: never
  uint64_t scrub_slice_bytes;
  int64_t checkpoint_interval_s;
  TypeOfBytes type_of_bytes;
  bool strict_writes = false;  // for tests: catalog::SqliteOptions::strict_writes
};

// Owns a data folder: catalog, blobs, keys. The constructor takes an exclusive lock on the folder.
// Error(conflict) if another server holds it.
class Keep {
 public:
  Keep(KeepOptions options, const Clock& clock, Metrics& metrics);
  ~Keep();
  // Starts the background threads (collector, scrubber, lock expiry, checkpoints, revocations). stop() ends
  // and joins them and writes pending records.
  void start_background();
  void stop();

  KeepContext& context();
  identity::Access& access();
  Workspaces& workspaces();
  Quotas& quotas();
  Files& files();
  Retractions& retractions();
  Uploads& uploads();
  Locks& locks();
  Journal& journal();
  Feed& feed();
  Revocations& revocations();
  Links& links();
  Audit& audit();
  Upkeep& upkeep();
  AccessLog& access_log();
  const std::string& directory() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sk::workspace
