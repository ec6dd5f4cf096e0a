// Keeps one session's working copy equal to its folder of the workspace: opens the copy, captures code's
// changes, brings in other clients' changes, closes it, recovers it after a crash, evicts it. Only this class
// touches a copy, whether its session is running or asleep.
//
// The origin of the copy decides how far it is trusted:
//   same directory, same boot (or synced since)   deletions, renames and new bytes are code's work
//   anything else (power cut, restored backup)    the directory is moved aside and searched: bytes that are
//                                                 not kept yet become versions beside the head or new files,
//                                                 marked as recovered; nothing is deleted, renamed or
//                                                 replaced
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "interpreter/copy/capture.h"
#include "interpreter/copy/manifest.h"
#include "interpreter/copy/sync.h"
#include "interpreter/copy/watcher.h"
#include "interpreter/copy/working_copy.h"
#include "interpreter/records.h"

namespace sk::interpreter {

// Shared by all sessions; outlives their keepers.
struct CopyContext {
  workspace::Keep& keep;
  Records& records;
  Watcher& watcher;
  std::string directory;  // directory of the copies, each under its session's id
  Owner owner;            // owner of the files in the copies
  uint64_t file_bytes_max = 64ull << 30;
  std::string boot_id;  // id of the machine's current boot; not empty
  // Asked between pieces of a large file: whether the server is in a hurry to stop. Such a file stays in its
  // copy, and the next capture reads it.
  std::function<bool()> must_stop = {};
  uint64_t brought_bytes_max = UINT64_MAX;  // see Sync
  uint64_t reserve_bytes = 0;               // see Sync
  MemoryBudget* names = nullptr;            // for the manifests of open copies; null: unlimited
};

// Where the boot is unknown, each process counts as a boot of its own: it trusts no copy of an earlier
// process.
std::string boot_or_process(const std::string& boot_id);

// Without an execution, the session acts as its owner; else as the execution's author.
CaptureAs capture_as(const SessionInfo& session);
CaptureAs capture_as(const SessionInfo& session, workspace::Author author);

// Belongs to one session; one thread at a time.
class CopyKeeper {
 public:
  // Does not touch the disk.
  CopyKeeper(const CopyContext& context, SessionInfo session);
  ~CopyKeeper();  // stops watching

  // Makes sure that the copy's directory is the one that open() will fill, so that a sandbox can start on it.
  void prepare();
  // Opens the copy: keeps what a killed server left in it, brings in other clients' changes, starts watching
  // it. Code must not run before mark_used() has returned. Calls prepare() unless the caller did.
  Settled open(const CaptureAs& as);
  // Durably records that code may change the copy from now on. Any thread; once per open().
  void mark_used();
  bool is_open() const { return copy_ != nullptr; }

  // Keeps the changes since the last capture; everything is durable when it returns. `all` compares the whole
  // copy, which is needed after processes died. Files in `open_files`, which processes hold open for writing,
  // are kept as incomplete.
  enum class Extent { touched, all };
  using OpenFiles = std::set<std::pair<uint64_t, uint64_t>>;  // device, inode
  Settled capture(Extent extent, const CaptureAs& as, const std::function<OpenFiles()>& open_files = {});
  // As capture() of what was touched, while code runs. Does nothing while the quotas have no room for
  // records: code that renames many files again and again would fill the catalog. The capture at its end
  // keeps the last of the names.
  Settled capture_early(const CaptureAs& as, const std::function<OpenFiles()>& open_files);
  // Writes a new file of the server's own into the copy, and its content into the store; the next capture
  // keeps it. `fill` hands over the content piece by piece, and is called twice. Error(conflict) when
  // something is at the path or in its way, Error(disk_full). Content that the store refuses is only in the
  // copy, and the capture says why it is not kept.
  using Pieces = std::function<void(Bytes)>;
  void place(const std::string& path, const std::function<void(const Pieces& take)>& fill);
  // Captures between cells, for processes that outlive their cell. A path that keeps changing is kept less
  // and less often, down to once a minute, until forget_turns(). Like capture_early() over a quota.
  Settled capture_between_cells(const CaptureAs& as, const std::function<OpenFiles()>& open_files);
  void forget_turns() { turns_.clear(); }
  // Compares the whole copy and searches the remains of untrusted copies again, so that everything that was
  // refused is retried.
  Settled retry(const CaptureAs& as, const std::function<OpenFiles()>& open_files);
  // Brings in other clients' changes, where the copy is unchanged and no process writes. Returns one sentence
  // for each entry that could not be brought, once.
  std::vector<Sentence> bring_outside_changes(const CaptureAs& as,
                                              const std::function<OpenFiles()>& open_files = {});
  // Whether other clients have changed the workspace since the last time. Any thread.
  bool has_outside_changes() const { return outside_changes_; }

  // The result of close(). `kept` is false when something could not be kept or compared. `only_copies` lists
  // content that exists only in the copy; it is unset when that is unknown.
  struct Closed {
    bool kept = false;
    std::optional<std::vector<NotKept>> only_copies;
  };
  // Closes the copy once no process uses it: brings in other clients' changes, keeps the rest, records that
  // nothing is pending, stops watching. Never throws: a copy that could not be compared stays marked as used.
  Closed close(const CaptureAs& as);

  // Keep the contents of a sleeping session's copy and close it again. recover() is for copies that a killed
  // server left; it throws when they cannot be compared.
  Closed recover(const CaptureAs& as);
  Closed look_for_only_copies(const CaptureAs& as);
  // Removes the copy unless some content exists only there. Returns whether the copy is gone.
  bool evict(const CaptureAs& as);
  // Removes the copy with all its contents. Logs what cannot be removed.
  void remove();
  bool exists() const;

  // Require an open copy.
  WorkingCopy& copy() { return *copy_; }
  Manifest& manifest() { return *manifest_; }
  Capture& paths() { return *capture_; }  // converts between paths on disk and in the workspace
  Sync& sync() { return *sync_; }

 private:
  void attach();
  void detach();
  bool is_trusted(const CopyState& state) const;
  Settled bring_up_to_date(const CaptureAs& as);
  void set_aside();
  Settled capture_touched(const Touched& touched, const CaptureAs& as,
                          const std::function<OpenFiles()>& open_files);
  bool has_room(const CaptureAs& as) const;
  Settled search_suspects(const CaptureAs& as);
  Settled settle(const Touched& touched, const OpenFiles& open_files, CaptureAs as);
  void forget_gone_aside();
  void save_refused();
  CopyState state_now(bool dirty) const;

  const CopyContext& context_;
  const SessionInfo session_;
  const std::string directory_;
  const std::string suspects_;  // holds untrusted copies until all their contents are kept
  std::unique_ptr<WorkingCopy> copy_;
  std::unique_ptr<Manifest> manifest_;
  std::unique_ptr<Capture> capture_;
  std::unique_ptr<Sync> sync_;
  workspace::Feed::Subscription subscription_;
  std::atomic<bool> outside_changes_{true};
  bool watched_ = false;
  int64_t synced_seq_ = 0;
  CopyState recorded_;       // as recorded in the catalog
  bool is_trusted_ = false;  // valid after prepare()
  struct Turn {
    int count = 0;
    TimeUs next_us = 0;
  };
  std::unordered_map<std::string, Turn> turns_;  // by path; backoff of captures between cells
  std::vector<NotKept> suspect_left_;            // contents of the suspects that could not be kept
  std::vector<Unkept> saved_refused_;            // as recorded in the catalog
  bool has_aside_ = false;                       // the catalog may list versions that were kept aside
};

}  // namespace sk::interpreter
