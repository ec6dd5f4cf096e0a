// The part of the catalog that a write may change. It names the heads of journals that the write locks before
// its first statement: of one workspace, of the installation, of both, or none. Writes that share a head run
// one after the other, on one server and on many, so a closure may look first and write then. SQLite runs one
// closure at a time and locks nothing. With SqliteOptions::strict_writes it reports rows outside of the
// scope.
#pragma once

#include <optional>

#include "base/error.h"
#include "base/id.h"

namespace sk::catalog {

class Scope {
 public:
  // The rows of one workspace: files, members, locks, journal, sessions, conversations, uploads.
  static Scope workspace(const Id& id) {
    SK_CHECK(id, "a workspace has an id");
    return Scope(false, id);
  }
  // Principals, keys, checkpoints, the server's journal, and the names of workspaces, which are unique among
  // those of an owner. Includes the rows of a workspace that the write creates.
  static Scope installation() { return Scope(true, {}); }
  static Scope installation_and(const Id& workspace) {
    SK_CHECK(workspace, "a workspace has an id");
    return Scope(true, workspace);
  }
  // Rows that every write may change, whatever its scope: blobs, thumbnails, the last use of keys.
  static Scope shared() { return Scope(false, {}); }

  // The same rows, in a write that a principal asked for. Writes of one principal wait for each other before
  // those of others do.
  Scope asked_by(const Id& principal) const {
    Scope scope = *this;
    scope.principal_ = principal;
    return scope;
  }

  // Whose turn the write takes: the principal's, or, if the server writes for itself, the workspace's.
  const Id& tenant() const {
    static const Id nobody;
    return principal_ ? principal_ : workspace_ ? *workspace_ : nobody;
  }
  bool has_installation() const { return installation_; }
  const std::optional<Id>& workspace() const { return workspace_; }
  // `head` is a workspace, or zero for the installation.
  bool contains(const Id& head) const { return head ? workspace_ == head : installation_; }

 private:
  Scope(bool installation, std::optional<Id> workspace)
      : installation_(installation), workspace_(workspace) {}

  bool installation_;
  std::optional<Id> workspace_;
  Id principal_;
};

}  // namespace sk::catalog
