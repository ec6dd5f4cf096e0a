// Lists the entries of a working copy that the server put there or kept: path on disk → its version, and the
// marks that reveal a change. A scan compares with the manifest, never with the workspace, so only a path
// listed here can count as deleted. The copy's own directory has no row: it is never deleted or renamed.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "base/id.h"
#include "base/memory_budget.h"
#include "interpreter/copy/working_copy.h"
#include "interpreter/session_key.h"
#include "workspace/keep_context.h"

namespace sk::interpreter {

struct ManifestRow {
  NodeKind kind = NodeKind::file;
  Id file;        // the entry in the workspace
  Id version;     // zero for folders
  Sha256 sha256;  // of the content; zero for folders and for rows that older versions of the server wrote
  uint64_t device = 0, inode = 0, size = 0;
  int64_t birth_ns = 0;     // zero when unknown
  uint64_t generation = 0;  // zero when unknown
  int64_t mtime_ns = 0, ctime_ns = 0;
  uint32_t mode = 0;
  bool complete = true;  // false: the file was being written when it was kept
  TimeUs seen_us = 0;    // time at which these marks were read

  // Whether the node's marks are unchanged.
  bool has_marks_of(const Node& node) const;
  // Whether the node is unchanged. A change within one clock tick of the time when the marks were read could
  // leave them unchanged: only the content can tell then, and this returns false.
  bool matches(const Node& node) const;
  // Whether it is the same inode, not a later one with the same number. False when the birth time is unknown.
  bool is_inode_of(const Node& node) const;
  // Whether code has created or written the file since these marks were read, perhaps with the same bytes.
  // A mode or a time that was set is no write. False when the birth time is unknown.
  bool is_written_since(const Node& node) const;
};

// Belongs to one session; one thread at a time. In memory while the session is awake. A capture writes its
// changes to the catalog in the transaction of its versions. A server that dies thus neither mistakes an old
// file for a new one nor forgets that code deleted a file.
class Manifest {
 public:
  Manifest(workspace::KeepContext& context, const SessionKey& session, MemoryBudget::Share memory = {})
      : context_(context), session_(session), memory_(std::move(memory)) {}

  // Reads the rows from the catalog. Drops unsaved changes.
  void load();
  void save();
  // Writes the changes as part of a transaction. Call saved() once that is durable.
  void save(catalog::Tx& tx) const;
  void saved();
  void clear();
  // Undoes all changes since remember(): a transaction that runs again makes them again.
  void remember();
  void go_back();

  // Claims memory for so many bytes besides the rows, until release_memory(). Error(too_large) when the
  // session's owner, or all sessions, would use too much.
  void need_memory(uint64_t besides_bytes);
  bool has_memory(uint64_t besides_bytes) { return memory_.resize(bytes_ + besides_bytes); }
  void release_memory() { memory_.set(bytes_); }
  // Memory of a row, or of something like it, about a file with this path.
  static uint64_t bytes_of(const std::string& path) { return 300 + path.size(); }

  const ManifestRow* find(const std::string& path) const;
  // The same as it was at remember().
  const ManifestRow* find_remembered(const std::string& path) const;
  void set(const std::string& path, const ManifestRow& row);
  void set_folder(const std::string& path, const Node& node, const Id& file, TimeUs now_us);
  struct Kept {
    Id file, version;
    Sha256 sha256;
    bool complete = true;
  };
  void set_file(const std::string& path, const Node& node, const Kept& kept, TimeUs now_us);
  void erase(const std::string& path);
  // Moves the rows of a folder or file that was renamed on disk, with all rows below it.
  void rename(const std::string& from, const std::string& to);
  // Paths of `folder` itself and everything below it.
  std::vector<std::string> below(const std::string& folder) const;
  // Returns the cost of changing these paths in one transaction: one per path, plus one per 256 bytes of it.
  // Stops counting above `enough`.
  size_t count_below(const std::string& folder, size_t enough) const;
  // Paths of `folder`'s direct members.
  std::vector<std::string> members(const std::string& folder) const;
  std::vector<std::string> find_inodes(uint64_t device, uint64_t inode) const;
  const std::map<std::string, ManifestRow>& rows() const { return rows_; }

 private:
  void note_before(const std::string& path);

  workspace::KeepContext& context_;
  const SessionKey session_;
  std::map<std::string, ManifestRow> rows_;
  std::unordered_multimap<uint64_t, const std::string*> by_inode_;  // keys of rows_
  uint64_t bytes_ = 0;                                              // of all rows
  MemoryBudget::Share memory_;
  std::set<std::string> changed_;  // since save()
  // The rows of remember() that were changed or erased since, and those that did not exist.
  std::map<std::string, std::optional<ManifestRow>> before_;
  std::set<std::string> changed_before_;
  bool remembers_ = false;
};

}  // namespace sk::interpreter
