// Keeps one session's working copy and its folder of the workspace equal: opens the copy, captures what code
// changed in it, brings in what others changed, closes it, recovers it after a crash, evicts it. A running
// session and everything that happens to a sleeping one use this class, and nothing else touches a copy.
//
// How far the copy is believed depends on where it comes from:
//   same directory, same boot (or synced since)   deletions, renames and new bytes are what code did
//   anything else (power cut, restored backup)    the directory is set aside and searched: bytes that are not
//                                                 kept yet become versions beside the head or new files,
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
  std::string directory;  // the copies lie in it, each under its session's id
  Owner owner;            // of the files in the copies
  uint64_t file_bytes_max = 64ull << 30;
  std::string boot_id;  // of this boot of the machine; not empty
};

// A session acts by itself, as its owner, when no execution runs; else as the execution's author.
CaptureAs capture_as(const SessionInfo& session);
CaptureAs capture_as(const SessionInfo& session, workspace::Actor author);

// Belongs to one session; one thread at a time.
class CopyKeeper {
 public:
  // Touches nothing yet.
  CopyKeeper(const CopyContext& context, SessionInfo session);
  ~CopyKeeper();  // stops watching

  // Makes sure that the copy's directory is the one that open() will fill: a sandbox may be started on it.
  void prepare();
  // Opens the copy: keeps what a killed server left in it, brings in what others changed, watches it. Code
  // must not run before mark_used() has returned. Calls prepare() unless that was done.
  Settled open(const CaptureAs& as);
  // Records durably that code may change the copy from now on. Any thread, once per open().
  void mark_used();
  bool is_open() const { return copy_ != nullptr; }

  // Keeps what changed since the last capture; everything is durable when it returns. `all` compares the
  // whole copy, which is needed after processes died. `open_files` are those that processes hold open for
  // writing: they are kept as incomplete.
  enum class Extent { touched, all };
  using OpenFiles = std::set<std::pair<uint64_t, uint64_t>>;  // device, inode
  Settled capture(Extent extent, const CaptureAs& as, const std::function<OpenFiles()>& open_files = {});
  // Writes a new file of the server's own into the copy, and its content into the store; the next capture
  // keeps it. `fill` hands over the content piece by piece, and is called twice. Error(conflict) when
  // something is at the path or in its way, Error(disk_full). Content that the store refuses is only in the
  // copy, and the capture says why it is not kept.
  using Pieces = std::function<void(Bytes)>;
  void place(const std::string& path, const std::function<void(const Pieces& take)>& fill);
  // The same between cells, for processes that outlive theirs: a path that changes again and again is kept
  // ever less often, once a minute in the end, until forget_turns().
  Settled capture_between_cells(const CaptureAs& as, const std::function<OpenFiles()>& open_files);
  void forget_turns() { turns_.clear(); }
  // Compares the whole copy, and searches again what is left of copies that were not trusted: everything that
  // was refused is tried again.
  Settled retry(const CaptureAs& as, const std::function<OpenFiles()>& open_files);
  // Brings in what others changed, where the copy is unchanged and no process writes. Returns one sentence
  // for each entry that could not be brought, once.
  std::vector<std::string> bring_outside_changes(const CaptureAs& as,
                                                 const std::function<OpenFiles()>& open_files = {});

  // The result of close(). `kept` is false when something could not be kept or compared; `only_copies` names
  // content that is nowhere but in the copy, and is unset when that is unknown.
  struct Closed {
    bool kept = false;
    std::optional<std::vector<NotKept>> only_copies;
  };
  // Once no process uses the copy: brings in outside changes, keeps the rest, records that nothing is
  // pending, stops watching. Never throws: a copy that could not be compared stays marked as used.
  Closed close(const CaptureAs& as);

  // Of a session that sleeps: keeps what is in its copy, which is closed again afterwards. `recover` is for
  // copies that a killed server left, and throws when they cannot be compared.
  Closed recover(const CaptureAs& as);
  Closed look_for_only_copies(const CaptureAs& as);
  // Removes the copy unless something in it is nowhere else. Whether it is gone.
  bool evict(const CaptureAs& as);
  // Removes the copy with whatever is in it. Logs what cannot be removed.
  void remove();
  bool exists() const;

  // Of an open copy.
  WorkingCopy& copy() { return *copy_; }
  Manifest& manifest() { return *manifest_; }
  Capture& paths() { return *capture_; }  // between paths on disk and in the workspace
  Sync& sync() { return *sync_; }

 private:
  void attach();
  void detach();
  bool is_trusted(const CopyState& state) const;
  Settled bring_up_to_date(const CaptureAs& as);
  void set_aside();
  Settled capture_touched(const Touched& touched, const CaptureAs& as,
                          const std::function<OpenFiles()>& open_files);
  Settled search_suspects(const CaptureAs& as);
  Settled settle(const Touched& touched, const OpenFiles& open_files, CaptureAs as);
  void save_refused();
  CopyState state_now(bool dirty) const;

  const CopyContext& context_;
  const SessionInfo session_;
  const std::string directory_;
  const std::string suspects_;  // copies that are not trusted lie in it until all they hold is kept
  std::unique_ptr<WorkingCopy> copy_;
  std::unique_ptr<Manifest> manifest_;
  std::unique_ptr<Capture> capture_;
  std::unique_ptr<Sync> sync_;
  workspace::Feed::Subscription subscription_;
  std::atomic<bool> outside_changes_{true};
  bool watched_ = false;
  int64_t synced_seq_ = 0;
  CopyState recorded_;       // as the catalog has it
  bool is_trusted_ = false;  // since prepare()
  struct Turn {
    int count = 0;
    TimeUs next_us = 0;
  };
  std::unordered_map<std::string, Turn> turns_;  // by path; of captures between cells
  std::vector<NotKept> suspect_left_;            // of the suspects, what could not be kept
  std::vector<Unkept> saved_refused_;            // as the catalog has it
  bool has_aside_ = false;                       // the catalog may list versions that were kept aside
};

}  // namespace sk::interpreter
