// Reports writes that change rows outside of their scope. For tests: temporary triggers on every table tell
// it which workspace a changed row belongs to.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/scope.h"
#include "catalog/sqlite_connection.h"

namespace sk::catalog {

// Whose rows a table has, as an SQL expression: the workspace of a row, in which `ROW` stands for the row.
struct TableOwner {
  const char* table;
  const char* workspace;
  // Columns whose updates count; the others may be changed under any scope. Null: all.
  const char* updated_columns = nullptr;
};

// Every table of the catalog.
const std::vector<TableOwner>& table_owners();

// Used by the thread that uses the connection, which outlives it.
class ScopeCheck {
 public:
  explicit ScopeCheck(SqliteConnection& connection);
  ScopeCheck(const ScopeCheck&) = delete;
  ScopeCheck& operator=(const ScopeCheck&) = delete;

  // Begins a closure of that scope.
  void begin(const Scope& scope);
  // Error(internal) if a row outside of the scope was changed since begin().
  void end() const;
  // Called by the triggers.
  void note_created(const Id& workspace) { created_.insert(workspace); }
  void note_change(std::string_view table, const std::optional<Id>& head);

 private:
  Scope scope_ = Scope::shared();
  std::set<Id> created_;  // workspaces that the closure created
  std::string violation_;
};

}  // namespace sk::catalog
