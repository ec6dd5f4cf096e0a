// Files as the Files APIs of other vendors have them: a version under an id, with a purpose and perhaps an
// expiry. Uploads are kept below `uploads/` of a workspace, where people find them; what code wrote in a
// session is such a file without any step in between.
#pragma once

#include "workspace/files.h"
#include "workspace/ground.h"
#include "workspace/types.h"

namespace sk::workspace {

// The purpose of what an execution wrote.
inline constexpr std::string_view kOutputPurpose = "assistants_output";
// The purpose of what came in another way and was given none.
inline constexpr std::string_view kPlainPurpose = "user_data";

struct GivenFile {
  Version version;
  std::string purpose;
  std::optional<TimeUs> expires_us;
};

struct GivenQuery {
  std::string purpose;  // empty: any
  Id after;             // of the last one seen; zero: from the beginning
  Order order = Order::newest_first;
  size_t limit = 100;
};

// Any thread.
class Purposes {
 public:
  explicit Purposes(Ground& ground) : ground_(ground) {}

  // "uploads/2026-11-15/0f3a9c41d2e7/report.csv": a place of its own for each upload, so that two of one name
  // are two files. Of `name` only what stands behind the last '/' counts. Error(bad_request) for no name.
  std::string place_for(std::string_view name);

  // By version id, in whatever workspace the actor may read. nullopt when there is none, when it was
  // retracted, and when its time is over; Error(gone) when it was purged. Overwriting, renaming and trashing
  // change nothing.
  std::optional<GivenFile> find(const Actor& actor, const Id& version);
  // The newest version of each file that was given for a purpose, and of each that an execution wrote; in all
  // workspaces that the actor may read. `limit` many, in the order of their ids.
  std::vector<GivenFile> list(const Actor& actor, const GivenQuery& query);

  // Takes an id back: find() knows it no more, while its permanent link serves on. The file goes to the trash
  // if this is its newest version; taken out of the trash, it is shown again. Error(not_found),
  // Error(forbidden), Error(locked).
  void retract(const Actor& actor, const Id& version, const Conditions& conditions = {});
  // The same for files whose time is over, in the name of their workspace's owner; how many. For the
  // background.
  size_t retract_due();

  // Inside the transaction of a put.
  static void give(catalog::Tx& tx, const Entry& entry, const Purpose& purpose);
  // Inside the transaction of a purge.
  static void forget(catalog::Tx& tx, const Id& file);

 private:
  Ground& ground_;
};

}  // namespace sk::workspace
