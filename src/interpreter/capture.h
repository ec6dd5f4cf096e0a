// Keeping what a session's code did in its working copy: compares what was touched with the manifest and
// turns the differences into changes of the workspace (new versions, folders, renames, deletions to the
// trash), all durable when settle() returns.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "interpreter/manifest.h"
#include "interpreter/watcher.h"
#include "interpreter/working_copy.h"
#include "workspace/keep.h"

namespace sk::interpreter {

struct KeptFile {
  std::string path;  // in the workspace
  Id file, version;
  uint64_t size = 0;
  Sha256 sha256;
  std::string mime;
  std::string change;  // created | changed | unchanged
  bool complete = true, diverged = false, locked = false;
};

struct NotKept {
  std::string path;
  // A word: link, fifo, socket, device, too_large, quota, disk_full, locked, name, conflict, unreadable.
  std::string reason;
  std::string message;
  bool only_copy = false;  // content that is nowhere but in the session's own folder
};

struct Settled {
  std::vector<KeptFile> kept;
  std::vector<std::string> folders;  // new ones
  std::vector<std::pair<std::string, std::string>> renamed;
  std::vector<std::string> deleted;
  std::vector<NotKept> not_kept;
  void append(Settled&& other);
};

// On whose behalf, and as which execution's work.
struct CaptureAs {
  workspace::Actor actor;
  workspace::Workspace workspace;
  workspace::Source source;
};

// Belongs to one session; one thread at a time. All parameters outlive it.
class Capture {
 public:
  Capture(workspace::Keep& keep, const WorkingCopy& copy, Manifest& manifest, std::string folder,
          uint64_t file_bytes_max);

  // `open_files`: what processes of the session hold open for writing; those are kept as incomplete.
  Settled settle(const Touched& touched, const std::set<std::pair<uint64_t, uint64_t>>& open_files,
                 const CaptureAs& as);

  // Whether something was refused that may be kept the next time, whether or not it is touched.
  bool has_refused() const { return !refused_.empty(); }

  // "a/b" on disk → "folder/a/b" in the workspace, and back; throws Error(bad_request) for names that the
  // workspace does not take.
  std::string workspace_path(const std::string& path) const;
  std::string disk_path(const std::string& workspace_path) const;

 private:
  struct Plan;
  void put_in_order(Plan& plan);
  void collect_candidates(const Touched& touched, Plan& plan);
  void find_renames(Plan& plan);
  void classify(Plan& plan);
  void read_changed(Plan& plan);
  void plan_deletions(Plan& plan);
  bool is_all_ours(Plan& plan, const std::string& folder, const std::set<std::string>& gone);
  void apply(Plan& plan);
  bool is_refused_again(Plan& plan, const std::string& path, const Node& node);
  std::optional<uint64_t> room(const Plan& plan);  // that the quota leaves, if it can be known
  void record(Plan& plan, size_t index, const workspace::ChangeResult& result);
  void applied(Plan& plan, size_t index, workspace::ChangeResult& result);
  void refused(Plan& plan, size_t index, const Error& error);
  void refused_content(Plan& plan, const std::string& path, const Node& node, const Error& error);
  NotKept& note_not_kept(Plan& plan, const std::string& path, std::string reason, std::string message);

  workspace::Keep& keep_;
  const WorkingCopy& copy_;
  Manifest& manifest_;
  const std::string folder_;
  const uint64_t file_bytes_max_;
  std::map<std::string, int64_t> told_;  // path → ctime of what was already told as not kept
  struct Refused {
    Node node;
    std::string reason, message;
    uint64_t room = 0;  // that the workspace had
  };
  std::map<std::string, Refused> refused_;  // tried again by every capture
};

}  // namespace sk::interpreter
