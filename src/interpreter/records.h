// Sessions and executions in the catalog.
#pragma once

#include <unordered_map>

#include "interpreter/types.h"
#include "workspace/authority.h"
#include "workspace/keep_context.h"

namespace sk::interpreter {

struct CopyState {
  bool dirty = true;       // code may have run since the copy was last compared
  std::string identity;    // of the directory that the manifest describes
  int64_t synced_seq = 0;  // the copy includes the workspace's journal up to here
  std::string boot;        // boot in which the copy was last written without a sync; empty: it is on disk
};

// A queued execution that a killed server had accepted, and the request to run.
struct AcceptedExecution {
  Execution execution;
  NewExecution wanted;
  Id key = {};                  // that asked for it; zero for a token, and in records of earlier versions
  std::string path_scope = {};  // of the authority that asked for it
};

// Any thread. Writes that take a SessionInfo are those of its owner (session_key.h), unless they say
// otherwise.
class Records {
 public:
  explicit Records(workspace::KeepContext& context) : context_(context) {}

  // Throws like check_still_holds() if the authority lacks the right to write by now.
  void insert(const workspace::Authority& authority, const SessionInfo& session);
  // Makes the caller the owner of a session: writes of earlier owners are refused from now on, with
  // Error(conflict). Sets its epoch. Error(not_found) for a session that is deleted.
  void claim(SessionInfo& session);
  std::optional<SessionInfo> find(const Id& session);
  // Lists the sessions of one owner, in one workspace if given.
  std::vector<SessionInfo> list(const Id& owner, const std::optional<Id>& workspace,
                                const SessionQuery& query);
  // The number of sessions of each owner, awake or asleep, without deleted ones. Reads every session.
  std::unordered_map<Id, size_t> count_by_owner();
  // Sessions of this node whose server died: their copies may hold content that was not kept.
  std::vector<SessionInfo> dirty_sessions();
  // Sleeping sessions whose copies are on this node, hold nothing new and were last used before that time;
  // least recently used first.
  std::vector<SessionInfo> sessions_with_copies(TimeUs unused_since_us, size_t limit);
  void mark_deleted(const workspace::Authority& by, const SessionInfo& session, TimeUs now_us);
  // Journals `session.expiring` or `session.sleep`.
  void tell(const SessionInfo& session, std::string_view kind, TimeUs expires_us);
  void save_activity(const SessionInfo& session, TimeUs active_us, int64_t execution_count);

  CopyState copy_state(const Id& session);
  void save_copy_state(const SessionInfo& session, const CopyState& state);
  // Records that the copy is about to be removed: any directory found later is another copy.
  void forget_copy(const SessionInfo& session);
  // Records that every copy of this node is on disk, so that none is untrusted after another boot.
  void mark_copies_synced();

  // save_refused() replaces the refused items. add_unkept() adds items that were kept aside or recovered;
  // they stay until they are settled.
  void save_refused(const SessionInfo& session, const std::vector<Unkept>& refused);
  void add_unkept(catalog::Tx& tx, const Id& session, const std::vector<Unkept>& items);
  // Ordered by path. Leaves out items that were settled since, such as a version that was restored or purged.
  std::vector<Unkept> unkept(const Id& session);
  // The same list by pages: at most `limit` items after a place.
  struct UnkeptPlace {
    std::string path;
    std::optional<Unkept::What> what = {};
  };
  std::vector<Unkept> unkept(const Id& session, const UnkeptPlace& after, size_t limit);
  // The number of sessions of this one's owner, besides it, that hold content which exists nowhere else.
  size_t count_with_only_copies(const SessionInfo& besides);
  // Only for items with a version; any caller. These do nothing when the path has another version by now.
  bool forget_unkept(const workspace::Authority& by, const SessionInfo& session, const Unkept& item);
  // Forgets versions that the session kept aside of a file, because the file was now kept as the head.
  void forget_aside(catalog::Tx& tx, const Id& session, const KeptFile& kept);
  // The same for a file that code has since removed.
  void forget_aside(const SessionInfo& session, const std::string& path);
  void explain_unkept(const SessionInfo& session, const Unkept& item);  // any caller; sets reason and message
  // Recovered files that no answer has reported yet.
  std::vector<Unkept> untold(const Id& session);
  void mark_told(const SessionInfo& session);

  // Saves a queued execution with everything needed to run it; durable when this returns. Throws like
  // insert().
  void save_accepted(const workspace::Authority& authority, const SessionInfo& session,
                     const Execution& execution, const NewExecution& wanted);
  // On this node, in the order of acceptance.
  std::vector<AcceptedExecution> accepted();
  void save(const SessionInfo& session, const Execution& execution,
            catalog::Survives survives = catalog::Survives::power_cut);
  // Saves as part of a transaction, with more files that the execution kept. save() completes it.
  void save(catalog::Tx& tx, const SessionInfo& session, const Execution& execution,
            const std::vector<KeptFile>& kept);
  std::optional<Execution> find_execution(const Id& session, const Id& execution);
  // The newest execution accepted under that key since then.
  std::optional<Execution> find_by_key(const Id& session, const std::string& key, TimeUs since_us);
  // Newest first, without the files of outputs; `before` is 0 for the first page. The page has at most
  // `count` executions, and ends after the one that reaches `bytes`.
  struct PageLimit {
    size_t count;
    size_t bytes = SIZE_MAX;
  };
  workspace::Page<Execution> list_executions(const Id& session, int64_t before, const PageLimit& limit);
  // Oldest first.
  std::vector<Execution> executions_after(const Id& session, int64_t after, size_t limit);
  std::vector<KeptFile> kept_files(const Id& execution, int64_t after, size_t limit);
  // Ends executions that this node's dead server left running, as `crash`. Those that had not begun stay
  // queued.
  void end_interrupted_executions(TimeUs now_us);

 private:
  void end_interrupted(catalog::Tx& tx, const Id& workspace, TimeUs now_us);

  workspace::KeepContext& context_;
};

// Whether a session belongs to the actor, in the workspace of the actor's key.
bool is_of(const SessionInfo& session, const workspace::Actor& actor);
// Whether the session is its actor's own, in its workspace, and within its scope.
bool is_of(const SessionInfo& session, const workspace::Authority& authority);

Json to_json(const KeptFile& file);
KeptFile kept_file_from(const Json& json);

}  // namespace sk::interpreter
