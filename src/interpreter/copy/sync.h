// Brings the workspace's changes into a working copy: everything when a session first wakes, and before each
// execution the changes of other clients in its folder, where the local file is unchanged.
#pragma once

#include "interpreter/copy/capture.h"
#include "interpreter/copy/manifest.h"
#include "interpreter/copy/working_copy.h"
#include "workspace/keep.h"

namespace sk::interpreter {

// Belongs to one session; one thread at a time.
class Sync {
 public:
  struct Room {
    // Limit on the disk space of the whole copy. A workspace counts equal contents once, a disk does not.
    uint64_t bytes_max = UINT64_MAX;
    uint64_t reserve_bytes = 0;  // free disk space that is left to others
  };
  Sync(workspace::Keep& keep, WorkingCopy& copy, Manifest& manifest, const Capture& paths, std::string folder,
       Room room)
      : keep_(keep),
        copy_(copy),
        manifest_(manifest),
        paths_(paths),
        folder_(std::move(folder)),
        room_(room) {}

  // Sets the source of the files that processes hold open for writing, as (device, inode). They are not
  // replaced or removed.
  using OpenFiles = std::set<std::pair<uint64_t, uint64_t>>;
  void ask_for_open_files(std::function<OpenFiles()> ask) { ask_ = std::move(ask), open_files_.reset(); }

  // Compares the whole folder with the manifest. Returns the journal's position before it began. Entries that
  // are blocked by the session's own changes are left out, and retried by the next call. Error(too_large)
  // when the names of the files need too much memory.
  int64_t bring_all(const workspace::Authority& authority);
  // Brings the changes that the journal has since `after`; everything when the journal does not reach back so
  // far. Returns the new position.
  int64_t bring_changes(const workspace::Authority& authority, int64_t after);
  // One sentence for each entry that could not be brought since the last call. Each is reported once and
  // retried every time.
  std::vector<Sentence> take_untold();
  // Makes the next bring_changes() look at this workspace path, whether or not the journal names it.
  void bring_later(const std::string& path) { skipped_.insert(path); }
  // Code renamed it: what is to be looked at below it lies under its new path.
  void follow_rename(const std::string& from, const std::string& to);
  bool has_skipped() const { return !skipped_.empty(); }
  // Writes one file into the copy, with its mode and time; `place` defines what it may replace.
  void materialise(const workspace::Entry& entry, const std::string& path,
                   WorkingCopy::Attributes place = {});

 private:
  void begin_bringing() { brought_bytes_ = 0, room_bytes_.reset(); }
  void need_room(uint64_t bytes);
  void bring(const workspace::Authority& authority, const std::string& workspace_path);
  void bring_entry(const workspace::Authority& authority, const workspace::Entry& entry);
  void need_folder_above(const workspace::Authority& authority, const std::string& path);
  bool has_members_of(const workspace::Authority& authority, const std::string& folder);
  void bring_folders_above(const workspace::Authority& authority, const std::string& path);
  bool is_written_alike(const workspace::Entry& entry, const std::string& path,
                        const std::optional<Node>& local);
  void bring_mode(const workspace::Entry& entry, const std::string& path, const Node& local);
  void bring_mode_later(const workspace::Entry& entry, const ManifestRow& row);
  void bring_or_skip(const workspace::Authority& authority, const workspace::Entry& entry);
  bool is_unchanged(const std::string& path, const Node& local) const;
  bool is_being_written(const Node& local);
  void make_way(const std::string& path, NodeKind wanted);
  void remove_if_unchanged(const std::string& path);
  bool is_known(const workspace::JournalEntry& event, const std::string& workspace_path) const;

  workspace::Keep& keep_;
  WorkingCopy& copy_;
  Manifest& manifest_;
  const Capture& paths_;
  const std::string folder_;
  const Room room_;
  // Of the current call.
  uint64_t brought_bytes_ = 0;
  uint64_t room_checked_at_bytes_ = 0;  // when the disk's free space was last checked
  std::optional<uint64_t> room_bytes_;  // what it may bring; unset until the copy was measured
  std::function<OpenFiles()> ask_;
  std::optional<OpenFiles> open_files_;  // fetched on first use
  std::set<std::string> skipped_;        // by the last call
  std::set<std::string> told_;
  std::vector<Sentence> untold_;
};

}  // namespace sk::interpreter
