// Ids of versions that their owner took back. Dialects in which a client deletes a file by the id of its
// version retract that id: it is no longer found, while its permanent link keeps working.
#pragma once

#include <functional>

#include "workspace/authority.h"
#include "workspace/keep_context.h"
#include "workspace/types.h"

namespace sk::workspace {

// Any thread.
class Retractions {
 public:
  explicit Retractions(KeepContext& context) : context_(context) {}

  // Finds a version by its id in any workspace that the actor may read. Overwriting, renaming and trashing
  // have no effect on the id. nullopt if the version does not exist or was retracted; Error(gone) if it was
  // purged.
  std::optional<Version> find(const Actor& actor, const Id& version);
  // The same inside a transaction or snapshot of another room.
  static std::optional<Version> find(catalog::Statements& statements, const Actor& actor, const Id& version);

  // Retracts an id: find() no longer returns it. If this is the file's newest version, the file is trashed;
  // restoring it from the trash undoes the retraction. Error(not_found), Error(forbidden), Error(locked).
  void retract(const Actor& actor, const Id& version, const Conditions& conditions = {});
  // Retracts all versions of a file, for example because its time is over, in the name of the workspace's
  // owner. `also` runs in the same transaction, also if the workspace has no such file. Error(locked).
  void retract_file(const Id& workspace, const Id& file, SystemReason reason,
                    const std::function<void(catalog::Tx& tx)>& also);

  // Forgets that a version was retracted, inside the transaction that purges it.
  static void forget(catalog::Tx& tx, const Id& version);

 private:
  KeepContext& context_;
};

}  // namespace sk::workspace
