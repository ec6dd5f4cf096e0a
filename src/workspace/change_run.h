// Applies changes to a workspace's tree within one transaction. Private to this room. The implementation is
// in change_run.cpp, changes.cpp and placement.cpp.
#pragma once

#include "workspace/files.h"
#include "workspace/keep_context.h"
#include "workspace/lock_check.h"
#include "workspace/types.h"
#include "workspace/usage.h"

namespace sk::workspace {

// Lives inside one write closure and is used by its thread only. A thrown Error rolls the change back.
// The cost of a new entry for touch(); a moved entry costs 1.
constexpr size_t kNewEntryCost = 5;

// By how many bytes a path becomes longer.
size_t longer_bytes(std::string_view from, std::string_view to);
// The bytes of a path's parent and name, as an entry stores them.
int64_t stored_path_bytes(std::string_view path);

class ChangeRun {
 public:
  // Applies changes of `authority`, which must outlive it and whose rights are checked already. Its scope is
  // checked for every change.
  ChangeRun(catalog::Tx& tx, KeepContext& context, const Authority& authority);
  // Applies changes of this room itself, in the name of `author`; they cannot copy from another workspace.
  ChangeRun(catalog::Tx& tx, KeepContext& context, Author author, const Id& workspace);

  // Error(forbidden) if the change names a path outside of the authority's scope.
  ChangeResult run(const Change& change);

  // Whether the authority's scope covers the entry at a path, or its place in the folder above.
  bool covers(std::string_view path) const { return authority_ == nullptr || authority_->covers(path); }
  bool covers_place(std::string_view path) const {
    return authority_ == nullptr || authority_->covers_place(path);
  }

  std::optional<Entry> find(std::string_view path);
  Entry get(std::string_view path);
  // Returns the file of a version, even if it is trashed. Error(not_found).
  Entry file_of(const Id& version);
  // Returns every entry below a folder, folders before their contents.
  std::vector<Entry> below(std::string_view folder);

  // Error(precondition_failed), with the current version, if the entry at `path` does not meet the
  // conditions.
  static void check_conditions(catalog::Statements& statements, std::string_view path,
                               const std::optional<Entry>& entry, const Conditions& conditions);
  // The same for a move: `if_match` applies to the entry, `if_none_match` to the target path.
  void check_conditions_of_move(const Entry& entry, const std::string& to, const Conditions& conditions);
  // See LockCheck::check(). Also Error(forbidden) if the authority's scope does not cover what is touched.
  void check_locks(std::string_view path, Touches touches, const Conditions& conditions) {
    check_scope(path, touches);
    if (!ignores_locks_) locks_.check(path, touches, conditions);
  }
  // For a dry run, which is rolled back and therefore needs no lock. The scope is still checked.
  void ignore_locks() { ignores_locks_ = true; }
  // For captured changes: code has made them already, and how often it does is limited by the executions.
  // New bytes, entries and versions are still checked.
  void ignore_record_quota() { ignores_records_ = true; }
  void check_scope(std::string_view path, Touches touches) const;
  // Creates the missing folders above `path`. Each is a separate change that locks may block. Error(conflict)
  // if one of them is a file.
  void ensure_parents(std::string_view path, const Conditions& conditions);
  // Returns the path for a new entry at `path`: that path, or "name (2)" (rename). Trashes an existing entry
  // (replace) or throws Error(conflict) (refuse).
  std::string settle_target(const std::string& path, OnExisting on_existing, const Conditions& conditions);

  Entry insert_folder(const std::string& path, uint32_t mode);
  // Moves an entry and everything below it to `to`, and records the earlier paths in `placements`.
  // Error(bad_request) if a path below it becomes too long or too deep.
  void place(const Entry& entry, const std::string& to);
  void trash(const Entry& entry);
  // Trashes exactly these entries of one folder; the list must have folders before their contents. Other
  // entries below them stay.
  void trash_all(const std::vector<Entry>& entries);
  // Call after entries left a trashed group. Each remaining entry without a trashed parent folder in the
  // group becomes a root.
  void regroup_trash(const Id& root);
  // Records the entry's path in `placements`; call before the path changes.
  void remember_place(const Id& entry);
  // Notes that an entry's own path changes from one to the other.
  void note_renamed(std::string_view from, std::string_view to);
  // Counts entries that the transaction changes besides those that its changes name. Error(too_large) when
  // there are too many, since all other writers wait for the transaction. Call before changing them.
  // `cost` is how many of them one of these entries counts for.
  void touch(size_t entries, size_t cost = 1);
  // Returns the cost of the live entries below a folder for touch(): one per entry, plus one per 256 bytes of
  // its path, which several tables and indexes store. Reads at most one entry over the limit. `longer_bytes`
  // is added to the length of each path.
  size_t count_below(std::string_view folder, size_t longer_bytes = 0);
  // Whether any live entry is below the path.
  bool holds_something(const std::string& path);
  // Creates no version. restore_as_of() still knows the earlier attributes.
  void set_attributes(Entry& entry, uint32_t mode, TimeUs mtime_us);
  // Moves a trashed root and its group out of the trash to `to`. Throws like place().
  void untrash(const Entry& root, const std::string& to);
  // Inserts a version. Unless `head` is `stays`, makes it the file's head; no other function changes a head.
  struct NewVersion {
    Sha256 sha256;
    uint64_t size = 0;
    std::string mime;
    uint32_t mode = 0644;
    TimeUs mtime_us = 0;
    Id base;
    Source source;
    bool complete = true;
    enum class Head { becomes, stays } head = Head::becomes;
    bool diverged = false;
  };
  Version insert_version(Entry& entry, const NewVersion& wanted);
  // Returns an entry that is not in the catalog yet; insert_version() inserts it with its first version.
  Entry new_file(const std::string& path);

  // Adds to the used bytes. Error(quota_exceeded) if the quota does not allow it.
  void grow(uint64_t bytes);
  void shrink(uint64_t bytes);
  // Counts the rows of note_rows(), too.
  void journal(std::string_view kind, const Json& facts, const Json& personal);
  // Notes rows that were inserted, deleted or changed. They are counted with the next journal entry, at the
  // end of run(), or by count_noted_rows().
  FileRows& note_rows() { return noted_rows_; }
  void count_noted_rows();
  // Increases with every change, so two changes never have the same time.
  TimeUs now_us() const { return tx_.change_us(); }
  void tick() { tx_.tick(); }

  catalog::Tx& tx() { return tx_; }
  KeepContext& context() { return context_; }
  const Id& workspace() const { return workspace_; }
  // Redundant blob files; remove them after the commit.
  std::vector<std::string>& unneeded() { return unneeded_; }

 private:
  ChangeResult put(const PutChange& change);
  ChangeResult mkdir(const MkdirChange& change);
  ChangeResult move(const MoveChange& change);
  ChangeResult copy(const CopyChange& change);
  ChangeResult trash_change(const TrashChange& change);
  ChangeResult restore_version(const RestoreVersionChange& change);
  ChangeResult set_mode(const SetModeChange& change);
  Version copy_file(const Entry& from, const std::optional<Id>& from_version, Entry& to, Source source);
  // Error(forbidden) if the change names a path outside of the scope, whether or not an entry exists there.
  void check_paths_of(const Change& change) const;
  // Error(not_found) unless the authority's actor may read that workspace, too.
  void check_source(const Id& workspace) const;
  ChangeResult apply(const Change& change);
  void insert_file(const Entry& entry);
  void remember_places_below(const std::string& folder);
  // Notes that the parents of so many entries begin with another folder.
  void note_moved(size_t entries, std::string_view from, std::string_view to);
  void put_in_trash(Entry& entry);
  // Finds content that an earlier put stored in the trash for this path.
  std::optional<ChangeResult> kept_in_trash(const std::string& path, const Sha256& sha256);
  bool left_this_place(const std::string& path, const blobs::Blob& content);
  void check_base(const PutChange& change, const std::optional<Entry>& existing);
  // Returns a result if a captured put has the bytes of an earlier version of the file.
  std::optional<ChangeResult> already_kept(const PutChange& change, const std::optional<Entry>& existing);
  // Handles a put that makes no version. It may end a divergence and set the mtime.
  ChangeResult leave_content(const PutChange& change, Entry entry, const Version& head);
  void check_paths_below(const Entry& entry, const std::string& to);
  // Error(conflict) unless `only_if` is true for the entry and everything below it.
  void check_each(const Entry& entry, const std::function<bool(const Entry&)>& only_if);
  void touch_trashed(const Entry& root, const std::string& to);

  catalog::Tx& tx_;
  KeepContext& context_;
  const Authority* authority_ = nullptr;  // null: this room's own work
  const Author author_;
  const Id workspace_;
  LockCheck locks_;
  bool ignores_locks_ = false;
  bool ignores_records_ = false;
  bool room_checked_ = false;  // by the current change
  size_t touched_ = 0;         // see touch()
  FileRows noted_rows_;        // see note_rows()
  std::vector<std::string> unneeded_;
  std::vector<Entry> made_above_;  // by the current change
};

// The range of entries below `folder` in index order: parent = folder, or folder + "/" <= parent < folder +
// "0" ('0' follows '/').
struct Below {
  explicit Below(std::string_view folder)
      : exact(folder), from(std::string(folder) + "/"), to(std::string(folder) + "0") {}
  std::string exact, from, to;
};

}  // namespace sk::workspace
