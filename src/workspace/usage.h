// How much a workspace and its owner keep, and whether more fits. Contents of files are counted as distinct
// bytes; records are rows of the catalog: messages, executions with their sessions, the journal, and the rows
// of files. Every figure changes in the transaction of the rows that it counts, so a check is one lookup.
#pragma once

#include "identity/access.h"
#include "workspace/authority.h"
#include "workspace/keep_context.h"
#include "workspace/types.h"

namespace sk::workspace {

// Records of a workspace that do not count for its quota. Also the room that is left for records, and not for
// contents, above a full quota of a workspace or a principal, so that code can run that removes files.
// Migrations 0017 and 0019 have the same number.
inline constexpr uint64_t kFreeRecordBytes = 1 << 20;
// A row of the catalog counts its text and this. The views of migration 0017 have the same number.
inline constexpr int64_t kRowBytes = 128;
// The same for rows of files, which have more columns and indexes. The views of migration 0019 have the same
// numbers, and the reasons for them.
inline constexpr int64_t kEntryRowBytes = 256, kVersionRowBytes = 512, kPlaceRowBytes = 128,
                         kPurgedRowBytes = 128;

enum class RecordKind { message, execution, journal };

// Some rows or contents; as a change, both may be negative.
struct Amount {
  int64_t bytes = 0;
  int64_t count = 0;
};

// Rows of files: entries, versions, former places, and the ids of purged versions. As a change, each may be
// negative.
struct FileRows {
  int64_t bytes = 0;  // that count for quotas
  int64_t entries = 0, versions = 0, purged = 0;
  int64_t version_bytes = 0;  // sizes of the versions; for information

  // `path_bytes`: of the parent's path and the name. `count` may be negative.
  void add_entry(int64_t path_bytes, int64_t count = 1);
  void add_places(int64_t path_bytes, int64_t count);
  // `text_bytes`: twice the type, and the details of the source.
  void add_version(int64_t text_bytes, int64_t size, int64_t count = 1);
  void add_purged(int64_t count);
  // Paths of entries become longer by this much together.
  void lengthen_paths(int64_t by_bytes) { bytes += 2 * by_bytes; }
  bool operator==(const FileRows&) const = default;
};

// Counts records for the workspace and its owner. The server's own journal has no workspace and is not
// counted. Never refuses: the caller decides with check_room_for_records() whether it may add. `rows` are
// counted by the same statements.
void count_records(catalog::Tx& tx, const Id& workspace, RecordKind kind, Amount change,
                   const FileRows& rows = {});
void count_file_rows(catalog::Tx& tx, const Id& workspace, const FileRows& change);
// The same for distinct bytes of contents.
void count_contents(catalog::Tx& tx, const Id& workspace, int64_t bytes);

// Error(quota_exceeded) if the workspace or its owner holds more than its quota. Called after
// count_contents() of `grown_bytes`.
void check_room_for_contents(catalog::Statements& statements, const KeepContext& context, const Id& workspace,
                             uint64_t grown_bytes);
// The same for changes that only add records, such as messages, executions and moves: refuses them only
// kFreeRecordBytes above a quota. Must not be called for deleting, purging, unlocking and revoking, which
// always work.
void check_room_for_records(catalog::Statements& statements, const KeepContext& context, const Id& workspace,
                            uint64_t grown_bytes = 0);
bool has_room_for_records(catalog::Statements& statements, const KeepContext& context, const Id& workspace);

// Count what a principal has. The first two throw Error(quota_exceeded) at the principal's limit; a principal
// above a lowered limit keeps what it has.
void add_workspace(catalog::Tx& tx, const KeepContext& context, const Id& owner);
void add_session(catalog::Tx& tx, const KeepContext& context, const Id& owner);
void drop_session(catalog::Tx& tx, const Id& owner);
// The workspace is gone; the ids of its purged versions stay and count for its owner. Deletes its figures.
void drop_workspace(catalog::Tx& tx, const Id& workspace);

struct WorkspaceUsage {
  uint64_t quota_bytes = 0;
  uint64_t counted_bytes = 0;  // of the quota: contents, and records beyond the free ones
  Amount contents;             // distinct; of files, versions, trash and unfinished uploads
  Amount versions;             // their sizes, as if no two had bytes in common
  Amount trash;                // files in it, with their newest versions
  Amount uploads;              // unfinished; bytes that have arrived
  Amount messages, executions, journal;
  Amount entries;  // rows of files and folders, with those of their versions and former places
};

struct PrincipalUsage {
  Id principal;
  identity::PrincipalLimits limits;  // those that apply: every value but quota_bytes is set
  uint64_t bytes = 0;                // of all that follows, except parts of contents
  uint64_t contents_bytes = 0;
  Amount versions, uploads;  // parts of contents, as in WorkspaceUsage
  Amount messages, executions, journal, entries;
  Amount trashed_workspaces;  // a part of all others: what they hold
  Amount purged_workspaces;   // ids of their versions, whose links answer 410
  uint64_t workspaces = 0, keys = 0, sessions_kept = 0;
};

// Questions outside of a transaction. Any thread.
class Quotas {
 public:
  explicit Quotas(KeepContext& context) : context_(context) {}

  // As the function of that name, before work whose records come later, such as an execution.
  // `bytes` are about to be added.
  void check_room_for_records(const Authority& authority, uint64_t bytes);
  // Returns the message of that error, if there is no room at all.
  std::optional<std::string> why_no_room_for_records(const Authority& authority);
  // Bytes that fit into the workspace before its quota or its owner's is used up.
  uint64_t room(const Authority& authority);

  // Reads the entries and versions of the workspace. An administrator's authority of Workspaces::look_at()
  // suffices, since figures name nothing.
  WorkspaceUsage of_workspace(const Authority& authority);
  // The actor's own figures, or those of `principal` for an administrator. Error(forbidden) for a key of one
  // workspace. `sessions_max` is the server's limit on running sessions.
  PrincipalUsage of_principal(const Actor& actor, const Id& principal, uint64_t sessions_max);

 private:
  KeepContext& context_;
};

}  // namespace sk::workspace
