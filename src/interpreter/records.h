// Sessions and executions in the catalog.
#pragma once

#include "interpreter/types.h"
#include "workspace/ground.h"

namespace sk::interpreter {

struct CopyState {
  bool dirty = true;       // code may have run since the copy was last compared
  std::string identity;    // of the directory that the manifest describes
  int64_t synced_seq = 0;  // the workspace's journal up to here is in the copy
  std::string boot;        // in which the copy was last written without being synced; empty: it is on disk
};

// A queued execution that a killed server had accepted, and how to run it.
struct AcceptedExecution {
  Execution execution;
  NewExecution wanted;
};

// Any thread. Writes that take a SessionInfo are those of its owner (session_key.h), unless they say
// otherwise.
class Records {
 public:
  explicit Records(workspace::Ground& ground) : ground_(ground) {}

  void insert(const SessionInfo& session);
  // Makes the caller the owner of a session: writes of earlier owners are refused from now on, with
  // Error(conflict). Sets its epoch. Error(not_found) for a session that is deleted.
  void claim(SessionInfo& session);
  std::optional<SessionInfo> find(const Id& session);
  // Of one owner, in one workspace if given.
  std::vector<SessionInfo> list(const Id& owner, const std::optional<Id>& workspace,
                                const SessionQuery& query);
  // Sessions of this node whose copies may hold what was not kept: their server died.
  std::vector<SessionInfo> dirty_sessions();
  // Those that sleep beside a copy on this node which holds nothing new, unused since before that time;
  // longest first.
  std::vector<SessionInfo> sessions_with_copies(TimeUs unused_since_us, size_t limit);
  void mark_deleted(const SessionInfo& session, TimeUs now_us);
  // Journals `session.expiring` or `session.sleep`.
  void tell(const SessionInfo& session, std::string_view kind, TimeUs expires_us);
  void save_activity(const SessionInfo& session, TimeUs active_us, int64_t execution_count);

  CopyState copy_state(const Id& session);
  void save_copy_state(const SessionInfo& session, const CopyState& state);
  // The copy is about to be removed: a directory that is there from now on is another one.
  void forget_copy(const SessionInfo& session);
  // Every copy of this node is on disk: none is suspect after another boot.
  void mark_copies_synced();

  // Replaces what was refused; adds what was kept aside or recovered, which stays until it is settled.
  void save_refused(const SessionInfo& session, const std::vector<Unkept>& refused);
  void add_unkept(catalog::Tx& tx, const Id& session, const std::vector<Unkept>& items);
  // Ordered by path; without what was settled since, such as a version that somebody restored or purged.
  std::vector<Unkept> unkept(const Id& session);
  // The same, page by page: behind one place, at most `limit`.
  struct UnkeptPlace {
    std::string path;
    std::optional<Unkept::What> what = {};
  };
  std::vector<Unkept> unkept(const Id& session, const UnkeptPlace& after, size_t limit);
  // Of items with a version, by anybody. Do nothing when the place has another version by now.
  bool forget_unkept(const SessionInfo& session, const Unkept& item);
  // A file was kept as the head: what the session had kept aside of it is superseded.
  void forget_aside(catalog::Tx& tx, const Id& session, const KeptFile& kept);
  // The same for a file that code has removed since.
  void forget_aside(const SessionInfo& session, const std::string& path);
  void explain_unkept(const SessionInfo& session, const Unkept& item);  // by anybody; sets reason and message
  // Recovered files that no answer has named yet.
  std::vector<Unkept> untold(const Id& session);
  void mark_told(const SessionInfo& session);

  // A queued execution with all that it takes to run it, durable when this returns.
  void save_accepted(const SessionInfo& session, const Execution& execution, const NewExecution& wanted);
  // On this node, in the order in which they were accepted.
  std::vector<AcceptedExecution> accepted();
  void save(const SessionInfo& session, const Execution& execution,
            catalog::Survives survives = catalog::Survives::power_cut);
  // As part of a transaction, with more files that it kept. save() completes it.
  void save(catalog::Tx& tx, const Execution& execution, const std::vector<KeptFile>& kept);
  std::optional<Execution> find_execution(const Id& session, const Id& execution);
  // The newest that was accepted under that key since then.
  std::optional<Execution> find_by_key(const Id& session, const std::string& key, TimeUs since_us);
  // Newest first, without code's outputs' files; `before` 0 for the first page.
  std::vector<Execution> list_executions(const Id& session, int64_t before, size_t limit);
  // Oldest first.
  std::vector<Execution> executions_after(const Id& session, int64_t after, size_t limit);
  std::vector<KeptFile> kept_files(const Id& execution, int64_t after, size_t limit);
  // Executions that this node's dead server left running end as `crash`; those that had not begun stay
  // queued.
  void end_interrupted_executions(TimeUs now_us);

 private:
  void end_interrupted(catalog::Tx& tx, const Id& workspace, TimeUs now_us);

  workspace::Ground& ground_;
};

// Whether a session is the actor's own, and in the workspace that their key is for.
bool is_of(const SessionInfo& session, const workspace::Actor& actor);

Json to_json(const KeptFile& file);
KeptFile kept_file_from(const Json& json);

}  // namespace sk::interpreter
