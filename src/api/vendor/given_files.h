// The Files APIs of other vendors: a version under an id, with a purpose and an optional expiry. Uploads are
// stored below `uploads/` of a workspace, where users can find them. Files written by code in a session
// appear without an upload.
#pragma once

#include "workspace/keep.h"

namespace sk::api {

// The purpose of files written by executions.
inline constexpr std::string_view kOutputPurpose = "assistants_output";
// The purpose of all other files that have none.
inline constexpr std::string_view kPlainPurpose = "user_data";

struct Purpose {
  std::string name;
  std::optional<TimeUs> expires_us;
};

struct GivenFile {
  workspace::Version version;
  std::string purpose;
  std::optional<TimeUs> expires_us;
};

struct GivenQuery {
  std::string purpose;  // empty: any
  Id after;             // id of the last one seen; zero: from the beginning
  workspace::Order order = workspace::Order::newest_first;
  size_t limit = 100;
};

// Any thread. Owns the table `purposes`.
class GivenFiles {
 public:
  // `keep` outlives it. From then on, a purge also deletes the file's purpose.
  explicit GivenFiles(workspace::Keep& keep);

  // Returns a unique path such as "uploads/2026-11-15/0f3a9c41d2e7/report.csv", so uploads with equal names
  // are separate files. Uses the part of `name` after the last '/'. Error(bad_request) if that is empty.
  std::string place_for(std::string_view name);

  // Finds a file as Retractions::find() does. nullopt also if it has expired.
  std::optional<GivenFile> find(const workspace::Actor& actor, const Id& version);
  // Lists the newest version of each file that has a purpose or was written by an execution, in all
  // workspaces that the actor may read. At most `query.limit`, in id order.
  std::vector<GivenFile> list(const workspace::Actor& actor, const GivenQuery& query);

  // Retracts files that have expired. Returns the number of files. Called every second.
  size_t retract_due();

  // Sets or replaces the purpose of a file inside the transaction of a put.
  static void give(catalog::Tx& tx, const workspace::Entry& entry, const Purpose& purpose);

 private:
  workspace::Keep& keep_;
};

}  // namespace sk::api
