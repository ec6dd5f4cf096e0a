#include "workspace/keep.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/error.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/text.h"
#include "blobs/blob_tree.h"
#include "workspace/identity_hooks.h"

namespace sk::workspace {

namespace {

Fd lock_directory(const std::string& directory) {
  blobs::make_directories_durably(directory);
  ::chmod(directory.c_str(), 0700);
  Fd lock = open_file(directory + "/lock", O_RDWR | O_CREAT, 0600);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
    throw Error(Code::conflict, "another server is using the data folder " + directory)
        .advise(Advice::choose_data_folder);
  return lock;
}

// The id is made once; it names the folder, not the machine or the process.
Id load_node(const std::string& directory, IdMaker& ids) {
  const std::string path = directory + "/node";
  if (!std::filesystem::exists(path)) write_file_durably(path, ids.next().hex() + "\n", 0600);
  auto node = Id::from_hex(trim(read_file(path, 100)));
  if (!node || !*node)
    throw Error(Code::corrupt, path + " does not hold the id of a node")
        .advise(Advice::restore_file_from_backup);
  return *node;
}

}  // namespace

struct Keep::Impl {
  Impl(KeepOptions wanted, const Clock& clock, Metrics& metrics)
      : options(std::move(wanted)),
        lock(lock_directory(options.directory)),
        db(catalog::open_sqlite(options.directory + "/catalog.db", {.group_max = options.group_commit_max,
                                                                    .readers_max = options.catalog_readers,
                                                                    .strict_writes = options.strict_writes,
                                                                    .clock = &clock})),
        ids(db->clock()),
        store(blobs::open_local_store(options.directory + "/blobs")),
        ledger(*db),
        revocations(*db, db->clock()),
        context{*db,
                *store,
                ledger,
                feed,
                revocations,
                db->clock(),
                ids,
                metrics,
                options.limits,
                options.directory,
                load_node(options.directory, ids),
                options.type_of_bytes},
        identity_hooks(context),
        access(*db, db->clock(), ids, identity_hooks, options.limits.keys_per_principal_max),
        workspaces(context),
        quotas(context),
        files(context),
        retractions(context),
        uploads(context),
        locks(context),
        journal(context),
        links(context),
        audit(context, options.directory + "/audit.key"),
        upkeep(context),
        access_log(context, options.directory + "/access",
                   {options.access_log_retention_days, options.access_log_bytes_max}) {}

  // Purges in the owner's name, since the trash is the owner's. The journal records it like any other purge.
  void purge_old_trash() {
    TimeUs before_us = context.clock.now_us() - options.trash_retention_s * kSecondUs;
    struct Old {
      Id file, workspace, owner;
    };
    auto old = db->read([&](catalog::Statements& statements) {
      return statements.all(
          "SELECT e.id, e.workspace, w.owner FROM entries e JOIN workspaces w ON w.id = e.workspace "
          "WHERE e.trashed_us < $1 AND e.trash_root = e.id LIMIT 10000",
          {before_us}, [](const catalog::Row& row) { return Old{row.id(0), row.id(1), row.id(2)}; });
    });
    for (const auto& one : old) {
      try {
        auto authority = system_authority(one.workspace, Author(one.owner, "trash retention"),
                                          "trash is purged after its retention time");
        files.purge(authority, one.file, before_us);
      } catch (const Error& error) {
        // Restored or purged in the meantime.
        if (error.code() != Code::not_found) throw;
      }
    }
  }

  void collect() {
    files.finish_purges();
    if (options.trash_retention_s > 0) purge_old_trash();
    upkeep.collect();
  }

  // Skips blobs written in the last hour: they may be read again soon, and uncompressed reads are faster.
  void compress() {
    store->compress(3600, [this] {
      MutexLock guard(mutex);
      return !stopping;
    });
  }

  using Time = std::chrono::steady_clock::time_point;

  // The first due time of work that runs every `interval_s` seconds (0: never).
  static Time first_due(int64_t interval_s) {
    return interval_s <= 0 ? Time::max()
                           : std::chrono::steady_clock::now() + std::chrono::seconds(interval_s);
  }

  template <class Work>
  static void run_if_due(Time& next, int64_t interval_s, const Work& work) {
    auto now = std::chrono::steady_clock::now();
    if (now < next) return;
    next = now + std::chrono::seconds(interval_s);
    attempt(work);
  }

  // A failed job runs again when it is next due, and does not delay other jobs.
  template <class Work>
  static void attempt(const Work& work) {
    try {
      work();
    } catch (const std::exception& error) {
      log::error("background work failed; it is tried again", {{"error", error.what()}});
    }
  }

  // Calls work() every second until stop().
  template <class Work>
  void every_second(const Work& work) {
    MutexLock guard(mutex);
    while (!stopping) {
      wake.wait_for(guard, std::chrono::seconds(1), [this]() SK_REQUIRES(mutex) { return stopping; });
      if (stopping) break;
      guard.unlock();
      work();
      guard.lock();
    }
  }

  // Short work that must run on time.
  void run_timers() {
    auto next_checkpoint = first_due(options.checkpoint_interval_s), next_minute = first_due(60);
    every_second([&] {
      attempt([&] { locks.expire(); });
      attempt([&] { uploads.expire(); });
      run_if_due(next_checkpoint, options.checkpoint_interval_s, [&] { audit.checkpoint(); });
      run_if_due(next_minute, 60, [&] { access.flush_last_use(); });
    });
  }

  // Work whose duration depends on the amount of data. It has its own thread, so that it does not delay
  // timers.
  void run_upkeep() {
    auto next_collect = first_due(options.collect_interval_s),
         next_scrub = first_due(options.scrub_interval_s);
    attempt([&] { files.finish_purges(); });
    every_second([&] {
      run_if_due(next_collect, options.collect_interval_s, [&] { collect(); });
      run_if_due(next_scrub, options.scrub_interval_s,
                 [&] { upkeep.scrub_slice(options.scrub_slice_bytes); });
    });
  }

  // A large upload of one tenant can take hours. It has its own thread, so that meanwhile the trash of others
  // is purged and their blobs are collected and scrubbed.
  void run_compression() {
    auto next_compress = first_due(options.collect_interval_s);
    every_second([&] { run_if_due(next_compress, options.collect_interval_s, [&] { compress(); }); });
  }

  void stop() {
    {
      MutexLock guard(mutex);
      if (stopping) return;
      stopping = true;
    }
    wake.notify_all();
    revocations.stop();
    for (auto* thread : {&timers_thread, &upkeep_thread, &compression_thread})
      if (thread->joinable()) thread->join();
    try {
      access.flush_last_use();
      access_log.stop();
      audit.checkpoint();
    } catch (const std::exception& error) {
      log::error("the last records could not be written", {{"error", error.what()}});
    }
  }

  KeepOptions options;
  Fd lock;
  std::unique_ptr<catalog::Database> db;
  IdMaker ids;
  std::unique_ptr<blobs::Store> store;
  BlobLedger ledger;
  Feed feed;
  Revocations revocations;
  KeepContext context;
  IdentityHooks identity_hooks;
  identity::Access access;
  Workspaces workspaces;
  Quotas quotas;
  Files files;
  Retractions retractions;
  Uploads uploads;
  Locks locks;
  Journal journal;
  Links links;
  Audit audit;
  Upkeep upkeep;
  AccessLog access_log;

  Mutex mutex;
  ConditionVariable wake;
  bool stopping SK_GUARDED_BY(mutex) = false;
  std::thread timers_thread, upkeep_thread, compression_thread;
};

Keep::Keep(KeepOptions options, const Clock& clock, Metrics& metrics)
    : impl_(std::make_unique<Impl>(std::move(options), clock, metrics)) {}
Keep::~Keep() { impl_->stop(); }

void Keep::start_background() {
  impl_->revocations.start();
  impl_->timers_thread = std::thread([impl = impl_.get()] { impl->run_timers(); });
  impl_->upkeep_thread = std::thread([impl = impl_.get()] { impl->run_upkeep(); });
  impl_->compression_thread = std::thread([impl = impl_.get()] { impl->run_compression(); });
}

void Keep::stop() { impl_->stop(); }
KeepContext& Keep::context() { return impl_->context; }
identity::Access& Keep::access() { return impl_->access; }
Workspaces& Keep::workspaces() { return impl_->workspaces; }
Quotas& Keep::quotas() { return impl_->quotas; }
Files& Keep::files() { return impl_->files; }
Retractions& Keep::retractions() { return impl_->retractions; }
Uploads& Keep::uploads() { return impl_->uploads; }
Locks& Keep::locks() { return impl_->locks; }
Journal& Keep::journal() { return impl_->journal; }
Revocations& Keep::revocations() { return impl_->revocations; }
Feed& Keep::feed() { return impl_->feed; }
Links& Keep::links() { return impl_->links; }
Audit& Keep::audit() { return impl_->audit; }
Upkeep& Keep::upkeep() { return impl_->upkeep; }
AccessLog& Keep::access_log() { return impl_->access_log; }
const std::string& Keep::directory() const { return impl_->options.directory; }

}  // namespace sk::workspace
