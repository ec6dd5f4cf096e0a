// The Files APIs of other vendors: a version under an id, with a purpose and an optional expiry. Uploads are
// stored below `uploads/` of a workspace, where users can find them. Files written by code in a session
// appear without an upload.
#pragma once

#include "workspace/files.h"
#include "workspace/ground.h"
#include "workspace/types.h"

namespace sk::workspace {

// The purpose of files written by executions.
inline constexpr std::string_view kOutputPurpose = "assistants_output";
// The purpose of all other files that have none.
inline constexpr std::string_view kPlainPurpose = "user_data";

struct GivenFile {
  Version version;
  std::string purpose;
  std::optional<TimeUs> expires_us;
};

struct GivenQuery {
  std::string purpose;  // empty: any
  Id after;             // id of the last one seen; zero: from the beginning
  Order order = Order::newest_first;
  size_t limit = 100;
};

// Any thread.
class Purposes {
 public:
  explicit Purposes(Ground& ground) : ground_(ground) {}

  // Returns a unique path such as "uploads/2026-11-15/0f3a9c41d2e7/report.csv", so uploads with equal names
  // are separate files. Uses the part of `name` after the last '/'. Error(bad_request) if that is empty.
  std::string place_for(std::string_view name);

  // Finds a file by version id in any workspace that the actor may read. Overwriting, renaming and trashing
  // have no effect on the id. nullopt if the version does not exist, was retracted or has expired;
  // Error(gone) if it was purged.
  std::optional<GivenFile> find(const Actor& actor, const Id& version);
  // Lists the newest version of each file that has a purpose or was written by an execution, in all
  // workspaces that the actor may read. At most `query.limit`, in id order.
  std::vector<GivenFile> list(const Actor& actor, const GivenQuery& query);

  // Retracts an id: find() no longer returns it, but its permanent link keeps working. If this is the file's
  // newest version, the file is trashed; restoring it from the trash undoes the retraction. Error(not_found),
  // Error(forbidden), Error(locked).
  void retract(const Actor& actor, const Id& version, const Conditions& conditions = {});
  // Retracts files that have expired, in the name of their workspace's owner. Returns the number of files.
  // Called by the background thread.
  size_t retract_due();

  // Sets the purpose of a file inside the transaction of a put.
  static void give(catalog::Tx& tx, const Entry& entry, const Purpose& purpose);
  // Deletes the purpose of a file inside the transaction of a purge.
  static void forget(catalog::Tx& tx, const Id& file);

 private:
  Ground& ground_;
};

}  // namespace sk::workspace
