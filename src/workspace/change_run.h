// One transaction's worth of changes to a workspace's tree: what files.cpp's changes share. Private to this
// room.
#pragma once

#include "workspace/files.h"
#include "workspace/ground.h"
#include "workspace/lock_check.h"
#include "workspace/types.h"

namespace sk::workspace {

// Lives inside one write closure.
class ChangeRun {
 public:
  ChangeRun(catalog::Tx& tx, Ground& ground, const Actor& actor, const Id& workspace);

  ChangeResult run(Change& change);

  std::optional<Entry> find(std::string_view path);
  Entry get(std::string_view path);
  // The file that a version belongs to, also one in the trash. Error(not_found).
  Entry file_of(const Id& version);
  // Every entry below a folder, folders before what they hold.
  std::vector<Entry> below(std::string_view folder);

  // Error(precondition_failed), with the current version, unless what is at `path` is as the writer expects.
  static void check_conditions(catalog::Statements& statements, std::string_view path,
                               const std::optional<Entry>& entry, const Conditions& conditions);
  // The same for what goes from one place to another: `if_match` is about the entry itself, `if_none_match`
  // about the place that it goes to.
  void check_conditions_of_move(const Entry& entry, const std::string& to, const Conditions& conditions);
  // As LockCheck::check().
  void check_locks(std::string_view path, Touches touches, const Conditions& conditions) {
    locks_.check(path, touches, conditions);
  }
  // Makes the folders above `path` that are missing; each is a change of its own, and locks may stand in its
  // way. Error(conflict) when one of them is a file.
  void ensure_parents(std::string_view path, const Conditions& conditions);
  // Where something goes that wants to be at `path`: there, or (rename) at "name (2)"; what is there goes to
  // the trash (replace) or is Error(conflict) (refuse).
  std::string settle_target(const std::string& path, OnExisting on_existing, const Conditions& conditions);

  Entry insert_folder(const std::string& path, uint32_t mode);
  // Moves an entry, with everything below a folder, to `to`; its earlier place goes into the history.
  // Error(bad_request) when a path below it would become too long or too deep.
  void place(const Entry& entry, const std::string& to);
  void trash(const Entry& entry);
  // Exactly these, of one folder, folders before what they hold: what lies below one of them and is not named
  // stays.
  void trash_all(const std::vector<Entry>& entries);
  // After some left the trash by themselves: what remains of their group, and has no folder above it there
  // any more, becomes a root of its own.
  void regroup_trash(const Id& root);
  // Before an entry leaves its place.
  void remember_place(const Id& entry);
  // Whether anything that is not in the trash lies below the path.
  bool holds_something(const std::string& path);
  // Without a new version; the earlier ones stay known to restore_as_of().
  void set_attributes(Entry& entry, uint32_t mode, TimeUs mtime_us);
  // Takes a whole trashed group (a root and all that went with it) out of the trash, to `to`. Throws as
  // place() does.
  void untrash(const Entry& root, const std::string& to);
  // Makes the version the file's head: the one place where a head changes.
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
  // Recorded together with its first version.
  Entry new_file(const std::string& path);

  // Counts against the quota: Error(quota_exceeded) when it does not fit.
  void grow(uint64_t bytes);
  void shrink(uint64_t bytes);
  void journal(std::string_view kind, const Json& facts, const Json& personal);
  // Grows by itself with every change, so that two changes never have the same time.
  TimeUs now_us() const { return now_us_; }
  void tick() { ++now_us_; }

  catalog::Tx& tx() { return tx_; }
  Ground& ground() { return ground_; }
  const Actor& actor() const { return actor_; }
  const Id& workspace() const { return workspace_; }
  // Blob files that turned out superfluous; to be removed after the commit.
  std::vector<std::string>& unneeded() { return unneeded_; }

 private:
  ChangeResult put(PutChange& change);
  ChangeResult mkdir(const MkdirChange& change);
  ChangeResult move(const MoveChange& change);
  ChangeResult copy(const CopyChange& change);
  ChangeResult trash_change(const TrashChange& change);
  ChangeResult restore_version(const RestoreVersionChange& change);
  ChangeResult set_mode(const SetModeChange& change);
  Version copy_file(const Entry& from, const std::optional<Id>& from_version, Entry& to, Source source);
  void insert_file(const Entry& entry);
  void put_in_trash(Entry& entry);
  // What an earlier put kept in the trash for this path, with these bytes.
  std::optional<ChangeResult> kept_in_trash(const std::string& path, const Sha256& sha256);
  bool left_this_place(const std::string& path, const blobs::Blob& content);
  void check_base(const PutChange& change, const std::optional<Entry>& existing);
  // A captured put of bytes that are an earlier version of the file, if it is one.
  std::optional<ChangeResult> already_kept(const PutChange& change, const std::optional<Entry>& existing);
  // A put that makes no version; it may end a divergence and set the mtime.
  ChangeResult leave_content(const PutChange& change, Entry entry, const Version& head);
  void check_paths_below(const Entry& entry, const std::string& to);

  catalog::Tx& tx_;
  Ground& ground_;
  const Actor& actor_;
  const Id workspace_;
  TimeUs now_us_;
  LockCheck locks_;
  std::vector<std::string> unneeded_;
  std::vector<Entry> made_above_;  // by the change that runs
};

// Below `folder`, in the index's order: parent = folder, or folder + "/" <= parent < folder + "0" ('0'
// follows '/').
struct Below {
  explicit Below(std::string_view folder)
      : exact(folder), from(std::string(folder) + "/"), to(std::string(folder) + "0") {}
  std::string exact, from, to;
};

}  // namespace sk::workspace
