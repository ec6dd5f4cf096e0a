// Keeps the changes that a session's code made in its working copy. Compares touched paths with the manifest
// and turns the differences into changes of the workspace: new versions, folders, renames, deletions to the
// trash. All of them are durable when settle() returns.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "interpreter/copy/manifest.h"
#include "interpreter/copy/watcher.h"
#include "interpreter/copy/working_copy.h"
#include "interpreter/outcome.h"
#include "workspace/keep.h"

namespace sk::interpreter {

struct KeptFile {
  std::string path;  // in the workspace
  Id file, version;
  uint64_t size = 0;
  Sha256 sha256;
  std::string mime;
  KeptChange change = KeptChange::created;
  bool complete = true, diverged = false, locked = false;
};

struct NotKept {
  std::string path;
  UnkeptReason reason = UnkeptReason::error;
  Sentence message;
  bool only_copy = false;  // content that exists only in the session's own folder
};

struct Settled {
  std::vector<KeptFile> kept;
  std::vector<std::string> folders;  // new folders
  std::vector<std::pair<std::string, std::string>> renamed;
  std::vector<std::string> deleted;
  std::vector<NotKept> not_kept;
  size_t left_out = 0;  // names that bound() removed
  void append(Settled&& other);
  // Cuts all lists but `kept` to what an answer can show and a record can hold. Kept files have rows of their
  // own.
  void bound();
  // Returns how many of the kept files an answer can show, at most `count_max`.
  size_t kept_to_show(size_t count_max) const;
};

// The author of a capture: the authority, and the execution that the changes belong to.
struct CaptureAs {
  workspace::Authority authority;
  workspace::Source source;
  // Runs in the transaction that makes each batch durable, with the files of the batch. The record of the
  // execution thus becomes durable with its versions.
  std::function<void(catalog::Tx& tx, const std::vector<KeptFile>& kept)> also = {};
  // The processes were killed: files that they had open stay incomplete, whatever they wrote to them.
  bool after_kill = false;
  std::function<bool()> must_stop = {};  // see CopyContext
};

// A file that the server itself put into the copy, whose bytes are in the store already.
struct PlacedFile {
  std::string path;  // on disk
  Node node;         // as it was once it was in its place
  workspace::Content content;
};

// The reason why content was refused, for NotKept.
UnkeptReason reason_of(const Error& error);

// Content that is not in the workspace, or not as the head, as recorded in the catalog.
struct Unkept {
  enum class What { refused, aside, recovered };
  std::string path;  // in the workspace
  What what = What::refused;
  UnkeptReason reason = UnkeptReason::error;
  std::string message;
  Id version;              // holds the bytes; zero for refused content
  bool only_copy = false;  // the bytes exist only in the session's own folder
  bool operator==(const Unkept&) const = default;
};
std::string_view name_of(Unkept::What what);  // refused | aside | recovered
std::optional<Unkept::What> unkept_from(std::string_view name);

// Belongs to one session; one thread at a time. All parameters outlive it.
class Capture {
 public:
  Capture(workspace::Keep& keep, const WorkingCopy& copy, Manifest& manifest, std::string folder,
          uint64_t file_bytes_max);

  // Captures touched paths. `open_files`: files that processes of the session hold open for writing; they are
  // kept as incomplete. When it throws, the manifest has nothing that is not durable. Error(too_large) when
  // the names of the files need too much memory. `later` returns the paths touched since `touched` was taken;
  // it is empty when nothing runs. A missing name may have been renamed in between, and only these later
  // events give its new name.
  using Later = std::function<Touched()>;
  Settled settle(const Touched& touched, const std::set<std::pair<uint64_t, uint64_t>>& open_files,
                 const CaptureAs& as, const Later& later = {});
  // The next settle() keeps this file from its content, without reading it. If code has changed, renamed or
  // removed it by then, the content becomes a version of its own first, and what code did follows as for any
  // kept file. If a client has created another file at that path meanwhile, the content goes to the trash. A
  // settle() that throws forgets it: the next one finds it in the copy.
  void place(PlacedFile file) { placed_.push_back(std::move(file)); }
  // Whether the next settle() has such files.
  bool has_placed() const { return !placed_.empty(); }
  // Whether nothing else was touched, nor any file opened: no process holds a file open then that settle()
  // looks at.
  bool is_only_placed(const Touched& touched) const;
  // Touched paths that the last settle() left undecided, because code kept renaming files.
  Touched take_postponed() { return std::exchange(postponed_, {}); }

  // Whether refused content may be kept by the next capture without being touched.
  bool has_refused() const { return refused_again_ > 0 || compare_all_ || !unreadable_.empty(); }
  // Marks a path of the workspace whose file was kept aside, so that its bytes differ from the head. When
  // code writes the file again, even with the same bytes, a capture puts it again.
  void set_aside(const std::string& workspace_path);
  // Refused content that still exists in the copy.
  std::vector<Unkept> refused() const;
  // Workspace paths that code deleted and that stay, because another client wrote or locked them.
  std::set<std::string> take_disowned() { return std::exchange(disowned_, {}); }
  // Paths of new files that were kept aside and that code has since removed or renamed.
  std::vector<std::string> take_gone_aside() { return std::exchange(gone_aside_, {}); }
  // Keeps the bytes of an untrusted copy (see copy_keeper.h) and removes each kept file from it. Deletes,
  // renames and replaces nothing in the workspace.
  Settled search(WorkingCopy& suspect, const CaptureAs& as);

  // Convert "a/b" on disk to "folder/a/b" in the workspace, and back. Error(bad_request) for names that the
  // workspace does not accept.
  std::string workspace_path(const std::string& path) const;
  std::string disk_path(const std::string& workspace_path) const;
  // The same as workspace_path(), also of a name that the workspace does not take.
  std::string named(const std::string& path) const;

 private:
  struct Plan;
  enum class Renames { all, files, none };  // which renames to look for
  enum class Deletions { folders, one_by_one };
  struct How {
    Renames renames = Renames::all;
    Deletions deletions = Deletions::folders;
  };
  Settled settle_steps(const Touched& touched, const std::set<std::pair<uint64_t, uint64_t>>& open_files,
                       const CaptureAs& as, How how, const Later& later = {});
  void put_in_order(Plan& plan);
  static void drop_overtaken(Settled& settled);
  void collect_candidates(const Touched& touched, Plan& plan);
  void follow_renames(const Later& later, Plan& plan);
  void look_at(Plan& plan, const std::string& path);
  void count_name(Plan& plan, const std::string& path);
  void note_unreadable(Plan& plan, const std::string& path);
  void take_placed(Plan& plan);
  Settled keep_altered(Plan& plan);
  void save_marks();
  void put_placed(Plan& plan, const PlacedFile& file) const;
  std::optional<std::string> place_beside(const Plan& plan, const PlacedFile& file) const;
  size_t entries_at_once() const;
  bool moves_as_a_whole(const std::string& from, const std::string& to) const;
  void find_renames(Plan& plan);
  bool is_below_pending(const Plan& plan, const std::string& path);
  void note_moving(Plan& plan, const std::string& path, const Node& node);
  void note_folder_above(Plan& plan, const workspace::Entry& folder);
  bool is_known(const Node& node) const;  // whether it is the inode of a known path
  std::optional<std::string> renamed_from(const std::string& path, Node& node, NodeKind kind);
  void classify(Plan& plan);
  void read_changed(Plan& plan);
  workspace::PutChange put_of(const Plan& plan, const std::string& path, const Node& node,
                              workspace::Content content) const;
  bool is_written_anew(const Plan& plan, const std::string& path, const Node& node,
                       const Sha256& sha256) const;
  bool is_same_content(Plan& plan, const std::string& path, const Node& node, const Sha256& sha256,
                       bool complete);
  void plan_deletions(Plan& plan);
  bool is_ours(const Plan& plan, const workspace::Entry& entry) const;
  bool is_all_ours(const Plan& plan, const std::string& folder);
  void apply(Plan& plan);
  bool is_refused_again(Plan& plan, const std::string& path, const Node& node);
  std::optional<uint64_t> room(Plan& plan);  // free bytes of the quota, if known
  void forget_refused_rows(const Plan& plan, size_t index, const Error& error);
  void record(Plan& plan, size_t index, const workspace::ChangeResult& result);
  void applied(Plan& plan, size_t index, const workspace::ChangeResult& result);
  // nullopt for changes of other kinds, and for content that was there before.
  static std::optional<KeptFile> kept_file(const workspace::ChangeResult& result);
  void refuse(Plan& plan, size_t index, const Error& error);
  void forget_refused(const std::string& path);
  void refused_content(Plan& plan, const std::string& path, const Node& node, const Error& error);
  NotKept& note_not_kept(Plan& plan, const std::string& path, UnkeptReason reason, Sentence message);

  workspace::Keep& keep_;
  const WorkingCopy& copy_;
  Manifest& manifest_;
  const std::string folder_;
  const uint64_t file_bytes_max_;
  std::vector<PlacedFile> placed_;  // since the last settle()
  // Path → inode and ctime of links and devices that an answer has reported.
  std::map<std::string, std::pair<uint64_t, int64_t>> told_;
  struct Refused {
    Node node;
    UnkeptReason reason = UnkeptReason::error;
    Sentence message;
    uint64_t room = 0;  // free bytes of the workspace at that time
    bool again = true;  // retried by every capture; else only when touched
  };
  std::map<std::string, Refused> refused_;
  std::set<std::string> aside_;       // paths in the copy of files that were kept aside
  std::set<std::string> unreadable_;  // paths that the last capture could not read
  size_t refused_again_ = 0;          // refused paths that every capture retries
  uint64_t refused_bytes_ = 0;        // memory of refused_
  std::set<std::string> disowned_;
  Touched postponed_;
  std::vector<std::string> gone_aside_;
  bool compare_all_ = false;  // a whole batch failed: its contents must be searched for again
};

}  // namespace sk::interpreter
