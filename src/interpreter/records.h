// Sessions and executions in the catalog.
#pragma once

#include "interpreter/types.h"
#include "workspace/ground.h"

namespace sk::interpreter {

struct CopyState {
  bool dirty = true;       // code may have run since the copy was last compared
  std::string identity;    // of the directory that the manifest describes
  int64_t synced_seq = 0;  // the workspace's journal up to here is in the copy
};

// Any thread.
class Records {
 public:
  explicit Records(workspace::Ground& ground) : ground_(ground) {}

  void insert(const SessionInfo& session);
  std::optional<SessionInfo> find(const Id& session);
  // Of one owner, in one workspace if given.
  std::vector<SessionInfo> list(const Id& owner, const std::optional<Id>& workspace,
                                const SessionQuery& query);
  // Sessions whose copies may hold what was not kept: their server died.
  std::vector<SessionInfo> dirty_sessions();
  // Those that sleep beside a copy which holds nothing new, unused since before that time; longest first.
  std::vector<SessionInfo> sessions_with_copies(TimeUs unused_since_us, size_t limit);
  void mark_deleted(const Id& session, TimeUs now_us);
  // Journals `session.expiring` or `session.sleep`.
  void tell(const SessionInfo& session, std::string_view kind, TimeUs expires_us);
  void save_activity(const Id& session, TimeUs active_us, int64_t execution_count);

  CopyState copy_state(const Id& session);
  void save_copy_state(const Id& session, const CopyState& state);
  // The copy is about to be removed: whatever is there from now on is another one.
  void forget_copy(const Id& session);

  void save(const Execution& execution);
  std::optional<Execution> find_execution(const Id& session, const Id& execution);
  // Newest first, without code's outputs' files; `before` 0 for the first page.
  std::vector<Execution> list_executions(const Id& session, int64_t before, size_t limit);
  // Oldest first.
  std::vector<Execution> executions_after(const Id& session, int64_t after, size_t limit);
  std::vector<KeptFile> kept_files(const Id& execution, int64_t after, size_t limit);
  // Executions that a dead server left running end as `crash`.
  void end_interrupted_executions(TimeUs now_us);

 private:
  workspace::Ground& ground_;
};

// Whether a session is the actor's own, and in the workspace that their key is for.
bool is_of(const SessionInfo& session, const workspace::Actor& actor);

Json to_json(const KeptFile& file);
KeptFile kept_file_from(const Json& json);

}  // namespace sk::interpreter
