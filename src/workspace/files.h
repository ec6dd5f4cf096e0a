// Files and folders of a workspace, and every change to them. A change is a value; a list of changes is
// applied in one transaction: all or nothing, each with its preconditions and locks checked, its quota
// counted and its journal entry written, before anything is answered.
#pragma once

#include <functional>

#include "base/error.h"
#include "workspace/authority.h"
#include "workspace/ground.h"
#include "workspace/intake.h"
#include "workspace/types.h"

namespace sk::workspace {

// What to do where the target of a move, copy or restore exists.
enum class OnExisting { refuse, replace, rename };

// What a file was given for, as the Files APIs of other vendors ask, and until when.
struct Purpose {
  std::string name;
  std::optional<TimeUs> expires_us;
};

struct PutChange {
  std::string path;
  Content content;
  std::string mime;              // empty: found out from bytes and name
  bool mime_found = false;       // by Files::apply()
  std::optional<uint32_t> mode;  // without it an existing file keeps its own
  uint32_t mode_if_new = 0644;
  std::optional<TimeUs> mtime_us;
  Source source;
  bool complete = true;
  // The version that the writer started from. When given and the head is another one by now, the write still
  // becomes the head, but the file is marked diverged; without it the head is taken as the base.
  // Error(bad_request) when it never was a version of what is, or was, at the path.
  std::optional<Id> base;
  bool base_is_known = false;  // from the server's own records: it needs no check
  // Found where code wrote it, not sent by a client. Then no base means that the writer started from no file:
  // one that is there by now was written independently, and diverges. And bytes that the base (without one:
  // any version of the file) has already are no change, whoever wrote since.
  bool captured = false;
  // On a path locked by someone else: keep the version without making it the head, instead of Error(locked).
  // What was not there yet is kept in the trash.
  bool keep_when_locked = false;
  // Found after a power cut: whether anybody wrote these bytes is unknown. Over an existing file they become
  // a version beside the head, unless the file has them already.
  bool beside_head = false;
  std::optional<Purpose> purpose;  // replaces the one that the file had
  Conditions conditions;
};
struct MkdirChange {
  std::string path;
  std::optional<uint32_t> mode;
  Conditions conditions;
  bool exist_ok = true;
  bool sets_mode = false;  // also of a folder that exists
};
struct MoveChange {
  std::string from, to;
  OnExisting on_existing = OnExisting::refuse;
  Conditions conditions;
};
struct CopyChange {
  std::string from;  // empty: the file of from_version, wherever it is, also in the trash
  std::optional<Id> from_version;
  std::string to;
  OnExisting on_existing = OnExisting::refuse;
  Conditions conditions;
  std::optional<Id> from_workspace;  // Error(not_found) unless the authority's actor may read it
  Json detail = Json::object();      // of the source of what is made, such as the session that it is put into
};
struct TrashChange {
  std::string path;
  Conditions conditions;
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
  Entry entry;                     // after the change (of a trash: as it was)
  std::optional<Version> version;  // that a put, copy or restore made, or that is there unchanged
  bool created = false;            // a new file or folder, not a new version
  bool unchanged = false;          // same bytes, mode and type as the head: no version was made
  bool diverged = false;
  bool kept_aside =
      false;  // not the head: locked by someone else, or put beside it; of a new file, in the trash
  std::vector<Entry> made_above;  // folders that were missing on the way to it
};

struct ListOptions {
  std::string folder;
  bool recursive = false;
  std::string glob;
  std::string cursor;
  size_t limit = 1000;
};

// The newest versions of the files below a folder, in the order of their ids: what changed last comes first
// (or last).
struct HeadQuery {
  std::string folder;
  Id after;  // of the last one seen; zero: from the beginning
  Order order = Order::newest_first;
  size_t limit = 100;
};

struct PurgeResult {
  int64_t files = 0, versions = 0;
  uint64_t freed_bytes = 0;           // of the workspace's quota
  std::vector<Version> broken_links;  // the first 1,000 versions whose links now answer 410
};

// Any thread. Each call needs the right to read or to write; purging is for owners.
class Files {
 public:
  explicit Files(Ground& ground) : ground_(ground) {}

  // `also` runs in the same transaction, after all changes: what it throws undoes them.
  using Also = std::function<void(catalog::Tx& tx, const std::vector<ChangeResult>& made)>;
  std::vector<ChangeResult> apply(const Authority& authority, std::vector<Change> changes,
                                  const Also& also = {});
  // As apply(), but each change counts by itself: one that is refused leaves no trace, and the others go on.
  // Throws only what concerns the whole transaction.
  struct Applied {
    std::optional<ChangeResult> result;
    std::optional<Error> refused;  // exactly one of the two is set
  };
  using AlsoEach = std::function<void(catalog::Tx& tx, const std::vector<Applied>& applied)>;
  std::vector<Applied> apply_each(const Authority& authority, std::vector<Change> changes,
                                  const AlsoEach& also = {});
  ChangeResult apply_one(const Authority& authority, Change change);
  // What a put would be refused for as things are now: its conditions and locks. Lets a dialect refuse before
  // it takes the bytes; apply() decides again.
  void check_put(const Authority& authority, std::string_view path, const Conditions& conditions);

  std::optional<Entry> find(const Authority& authority, std::string_view path);
  Entry get(const Authority& authority,
            std::string_view path);  // Error(not_found); tells when it is in the trash
  std::optional<Entry> find_by_id(const Authority& authority, const Id& file);
  Page<Entry> list(const Authority& authority, const ListOptions& options);
  // None for a folder that does not exist.
  std::vector<Version> heads(const Authority& authority, const HeadQuery& query);

  Page<Version> versions(const Authority& authority, const Id& file, std::string_view cursor, size_t limit);
  std::optional<Version> find_version(const Authority& authority, const Id& version);
  // Whatever workspace it is in; for permanent links. Error(gone) with `purged_at` when it was purged,
  // nullopt when it never was.
  std::optional<Version> find_version_anywhere(const Id& version);

  // Trash, newest first; a trashed folder is one entry.
  Page<Entry> trash(const Authority& authority, std::string_view cursor, size_t limit);
  Entry restore(const Authority& authority, const Id& file, OnExisting on_existing,
                std::optional<std::string> to = {}, const Conditions& conditions = {});
  // Purges for ever: one trashed entry (with everything below a folder), one old version, or the whole trash.
  // What is in the trash lies at no path, so no lock stands in the way; a version of a locked file stays.
  // With `trashed_before_us` only if it went to the trash before that time; else Error(not_found).
  PurgeResult purge(const Authority& authority, const Id& file, std::optional<TimeUs> trashed_before_us = {});
  PurgeResult purge_version(const Authority& authority, const Id& version, const Conditions& conditions = {});
  PurgeResult empty_trash(const Authority& authority);

  struct RestoreAsOf {
    int64_t restored = 0, trashed = 0, unchanged = 0;
    int64_t purged = 0;  // of them, files whose content of that time was purged: they keep the present one
    bool dry_run = false;
  };
  // Brings a folder ("" for all), or one file, back to how it was at a time, in one transaction; what came
  // later goes to the trash. What moved out of it comes back; what others put there meanwhile stays there.
  // Error(not_found) when nothing was there at that time.
  RestoreAsOf restore_as_of(const Authority& authority, std::string_view folder, TimeUs time_us, bool dry_run,
                            const Conditions& conditions = {});

 private:
  void prepare(const Authority& authority, std::vector<Change>& changes);

  Ground& ground_;
};

}  // namespace sk::workspace
