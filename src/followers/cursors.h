// How far a follower has come in each journal.
#pragma once

#include <memory>
#include <string>

#include "base/id.h"
#include "workspace/keep.h"

namespace sk::followers {

// Where a follower begins in the journals that exist when it first appears. Later journals are followed from
// their beginning.
enum class Begin { now, at_start };

// One thread at a time. Every call may throw Error of the catalog and can be repeated then.
class Cursors {
 public:
  virtual ~Cursors() = default;
  // Prepares the cursors of a follower that appears for the first time. Call once, before all others.
  virtual void open() = 0;
  // Returns the number of the last entry that the follower has seen.
  virtual int64_t get(const Id& workspace) = 0;
  // `handled`: the entries had an effect, which the next process must not repeat without need. `skipped`: to
  // skip them again costs nothing, so that they alone are no reason to write.
  enum class Entries { handled, skipped };
  virtual void set(const Id& workspace, int64_t seq, Entries entries) = 0;
  // Whether save() should be called.
  virtual bool is_save_due() const = 0;
  // Writes the cursors. They survive a kill at once, a power cut with the next synced write.
  virtual void save() = 0;
};

// Cursors in the catalog, for a follower that must miss nothing. set() takes effect there with save(): after
// a kill, entries since the last save() are seen again.
std::unique_ptr<Cursors> durable_cursors(workspace::Keep& keep, std::string follower, Begin begin);

// For KeepContext::on_workspace_purge: deletes the cursors in the journal of a workspace. Returns how many.
size_t purge_cursors(catalog::Tx& tx, const Id& workspace, size_t rows_max);

// Cursors that end with the process.
std::unique_ptr<Cursors> memory_cursors(workspace::Keep& keep, Begin begin);

}  // namespace sk::followers
