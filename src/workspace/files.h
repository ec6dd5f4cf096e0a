// Files and folders of a workspace, and all changes to them. A change is a value; a list of changes is
// applied in one transaction, all or nothing. It checks preconditions, locks and quota and writes the
// journal. A call returns after the commit.
#pragma once

#include <functional>

#include "base/error.h"
#include "workspace/authority.h"
#include "workspace/intake.h"
#include "workspace/keep_context.h"
#include "workspace/types.h"

namespace sk::workspace {

// Behaviour if the target of a move, copy or restore exists.
enum class OnExisting { refuse, replace, rename };

struct PutChange {
  std::string path;
  Content content;
  std::string mime;              // empty: detected from bytes and name
  bool mime_found = false;       // set by Files::apply() when it detected the type
  std::optional<uint32_t> mode;  // unset: an existing file keeps its mode
  uint32_t mode_if_new = 0644;
  std::optional<TimeUs> mtime_us;
  Source source;
  bool complete = true;
  // The version that the writer started from; unset: the current head. If the head is another version, the
  // write still becomes the head and the file is marked diverged. Error(bad_request) if it never was a
  // version of a file that is, or was, at the path.
  std::optional<Id> base;
  bool base_is_known = false;  // from the server's own records; not checked
  bool base_diverged = false;  // the base overtook another client's version, and the writer was not told yet
  // Captured from a working copy, not sent by a client. Without a base, the writer started from no file, so
  // an existing file diverges. Content equal to the base (without one: to any version) is ignored, so a stale
  // copy cannot revert a file.
  bool captured = false;
  // If a lock blocks the write, stores the version without making it the head, instead of Error(locked). A
  // new file is stored in the trash.
  bool keep_when_locked = false;
  // Found after a power cut, so the origin of the bytes is unknown. On an existing file they become a version
  // that is not the head, unless the file already has them.
  bool beside_head = false;
  Conditions conditions;
};
struct MkdirChange {
  std::string path;
  std::optional<uint32_t> mode;
  Conditions conditions;
  bool exist_ok = true;
  bool sets_mode = false;  // also for an existing folder
};
struct MoveChange {
  std::string from, to;
  OnExisting on_existing = OnExisting::refuse;
  Conditions conditions;
};
struct CopyChange {
  std::string from;  // empty: the file of from_version, at any path or in the trash
  std::optional<Id> from_version;
  std::string to;
  OnExisting on_existing = OnExisting::refuse;
  Conditions conditions;
  std::optional<Id> from_workspace;  // Error(not_found) unless the authority's actor may read it
  Json detail = Json::object();      // added to the source of the new versions, such as the session
};
struct TrashChange {
  std::string path;
  Conditions conditions;
  // Asked in the transaction for the entry and everything below it. Error(conflict) if it answers no.
  std::function<bool(const Entry&)> only_if = {};
};
struct RestoreVersionChange {
  Id version;
  Conditions conditions;
};
struct SetModeChange {
  std::string path;
  std::optional<uint32_t> mode;
  std::optional<TimeUs> mtime_us;
  Conditions conditions;
};
using Change = std::variant<PutChange, MkdirChange, MoveChange, CopyChange, TrashChange, RestoreVersionChange,
                            SetModeChange>;

struct ChangeResult {
  Entry entry;                     // after the change; for a trash, before it
  std::optional<Version> version;  // made by a put, copy or restore, or the unchanged head
  bool created = false;            // a new file or folder, not a new version
  bool unchanged = false;          // same bytes, mode and type as the head: no version was made
  bool diverged = false;
  bool kept_aside =
      false;  // not the head: the path is locked, or beside_head was set; a new file is in the trash
  std::vector<Entry> made_above;  // parent folders that the change created
};

struct ListOptions {
  std::string folder;
  bool recursive = false;
  std::string glob;
  std::string cursor;
  size_t limit = 1000;
};

// Selects the newest versions of the files below a folder, ordered by id, which is the order of their
// changes.
struct HeadQuery {
  std::string folder;
  Id after;  // id of the last one seen; zero: from the beginning
  Order order = Order::newest_first;
  size_t limit = 100;
};

struct PurgeResult {
  int64_t files = 0, versions = 0;
  uint64_t freed_bytes = 0;           // reduction of the workspace's used bytes
  std::vector<Version> broken_links;  // the first 1,000 versions whose links now return 410
};

// Any thread. Each call requires the right to read or to write; purging requires ownership.
class Files {
 public:
  explicit Files(KeepContext& context) : context_(context) {}

  // Applies all changes or none. `also` runs in the same transaction after all changes; an exception from it
  // rolls them back.
  using Also = std::function<void(catalog::Tx& tx, const std::vector<ChangeResult>& made)>;
  std::vector<ChangeResult> apply(const Authority& authority, std::vector<Change> changes,
                                  const Also& also = {});
  // Like apply(), but each change succeeds or fails alone: a refused change has no effect and the others
  // continue. Throws only errors of the whole transaction. For captures: only new bytes are refused for a
  // quota, not moves and other changes that add nothing but a record.
  struct Applied {
    std::optional<ChangeResult> result;
    std::optional<Error> refused;  // exactly one of the two is set
  };
  using AlsoEach = std::function<void(catalog::Tx& tx, const std::vector<Applied>& applied)>;
  std::vector<Applied> apply_each(const Authority& authority, std::vector<Change> changes,
                                  const AlsoEach& also = {});
  ChangeResult apply_one(const Authority& authority, Change change);
  // Throws the error that a put would currently get from its conditions and locks. Lets a dialect refuse a
  // request before it reads the body; apply() checks again.
  void check_put(const Authority& authority, std::string_view path, const Conditions& conditions);

  std::optional<Entry> find(const Authority& authority, std::string_view path);
  Entry get(const Authority& authority,
            std::string_view path);  // Error(not_found), which tells if the entry is trashed
  std::optional<Entry> find_by_id(const Authority& authority, const Id& file);
  // With a pattern, a page ends after a number of entries that were compared (KeepLimits::list_scan_max). It
  // may then have few entries, or none, although `has_more` is set.
  Page<Entry> list(const Authority& authority, const ListOptions& options);
  // Empty for a folder that does not exist.
  std::vector<Version> heads(const Authority& authority, const HeadQuery& query);

  Page<Version> versions(const Authority& authority, const Id& file, std::string_view cursor, size_t limit);
  std::optional<Version> find_version(const Authority& authority, const Id& version);
  // Finds a version in any workspace; for permanent links. Error(gone) with `purged_at` if it was purged,
  // nullopt if it never existed.
  std::optional<Version> find_version_anywhere(const Id& version);

  // Lists the trash, newest first. A trashed folder is one entry.
  Page<Entry> trash(const Authority& authority, std::string_view cursor, size_t limit);
  Entry restore(const Authority& authority, const Id& file, OnExisting on_existing,
                std::optional<std::string> to = {}, const Conditions& conditions = {});
  // Deletes permanently: a trashed entry with everything below it, an old version, or the whole trash. A
  // large purge runs in several transactions; from the first one on, nothing of it can be listed or restored.
  // Locks do not block trashed entries, which have no path, but block a version of a live file. If
  // `trashed_before_us` is set, Error(not_found) for an entry that was trashed at that time or later.
  PurgeResult purge(const Authority& authority, const Id& file, std::optional<TimeUs> trashed_before_us = {});
  PurgeResult purge_version(const Authority& authority, const Id& version, const Conditions& conditions = {});
  PurgeResult empty_trash(const Authority& authority);
  // Goes on with purges that a stop, a kill or a revoked right has interrupted, except those of workspaces.
  void finish_purges();

  struct RestoreAsOf {
    int64_t restored = 0, trashed = 0, unchanged = 0;
    int64_t purged = 0;  // those of them whose content of that time was purged; they keep the current content
    bool dry_run = false;
  };
  // Restores a folder ("" for all) or a file to its state at a time, in one transaction. Newer entries are
  // trashed. Entries that moved out come back; entries that others added at the new place stay there.
  // Error(not_found) if nothing existed there at that time.
  RestoreAsOf restore_as_of(const Authority& authority, std::string_view folder, TimeUs time_us, bool dry_run,
                            const Conditions& conditions = {});

 private:
  void prepare(const Authority& authority, std::vector<Change>& changes);

  KeepContext& context_;
};

}  // namespace sk::workspace
