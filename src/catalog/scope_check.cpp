#include "catalog/scope_check.h"

#include <sqlite3.h>

#include "base/error.h"

namespace sk::catalog {

namespace {

constexpr const char* kShared = nullptr;
// The installation's head has the zero id.
constexpr const char* kInstallation = "zeroblob(16)";
constexpr const char* kOwn = "ROW.workspace";
constexpr const char* kOfSession = "(SELECT s.workspace FROM sessions s WHERE s.id = ROW.session)";
constexpr const char* kOfExecution =
    "(SELECT s.workspace FROM executions x JOIN sessions s ON s.id = x.session WHERE x.id = ROW.execution)";

std::optional<Id> id_of(sqlite3_value* value) {
  auto data = static_cast<const char*>(sqlite3_value_blob(value));
  auto size = static_cast<size_t>(sqlite3_value_bytes(value));
  if (data == nullptr || size != sizeof(Id::bytes)) return std::nullopt;
  return Id::from_raw({data, size});
}

void note_created(sqlite3_context* context, int, sqlite3_value** values) {
  if (auto id = id_of(values[0])) static_cast<ScopeCheck*>(sqlite3_user_data(context))->note_created(*id);
}

void note_change(sqlite3_context* context, int, sqlite3_value** values) {
  auto table = reinterpret_cast<const char*>(sqlite3_value_text(values[0]));
  static_cast<ScopeCheck*>(sqlite3_user_data(context))->note_change(table, id_of(values[1]));
}

std::string for_row(std::string expression, const char* row) {
  for (size_t at; (at = expression.find("ROW.")) != std::string::npos;) expression.replace(at, 3, row);
  return expression;
}

std::string trigger(const TableOwner& owner, const std::string& event, const char* row) {
  std::string table = owner.table;
  std::string name = "scope_" + table + "_" + event.substr(0, 3);
  return "CREATE TEMP TRIGGER " + name + " AFTER " + event + " ON main." + table +
         " BEGIN SELECT sk_note_change('" + table + "', " + for_row(owner.workspace, row) + "); END;";
}

}  // namespace

const std::vector<TableOwner>& table_owners() {
  static const std::vector<TableOwner> owners = {
      {"schema_migrations", kShared},
      {"blobs", kShared},
      {"thumbnails", kShared},
      {"followers", kShared},
      {"follower_cursors", kShared},
      {"principals", kInstallation},
      // Figures that grow and shrink with the rows of any workspace of the principal.
      {"principal_usage", kShared},
      {"keys", kInstallation, "principal, hash, read_only, only_workspace, expires_us, revoked_us"},
      {"subjects", kInstallation},
      {"checkpoints", kInstallation},
      {"workspaces", "ROW.id"},
      // Erasing personal data makes the journals of all workspaces smaller.
      {"workspace_usage", kOwn, "workspace"},
      {"members", kOwn},
      {"entries", kOwn},
      {"placements", kOwn},
      {"attributes", kOwn},
      {"versions", kOwn},
      {"purged_versions", kOwn},
      {"purged_workspaces", kOwn},
      {"purges", kOwn},
      {"retracted_versions", "(SELECT v.workspace FROM versions v WHERE v.id = ROW.version)"},
      {"workspace_blobs", kOwn},
      {"purposes", kOwn},
      {"uploads", kOwn},
      {"upload_parts", "(SELECT u.workspace FROM uploads u WHERE u.id = ROW.upload)"},
      {"locks", kOwn},
      {"fences", kOwn},
      // A checkpoint covers all journals; its mark is no part of the chain.
      {"journals", kOwn, "workspace, seq, hash, time_us"},
      // Personal data is erased from all journals at once.
      {"journal", kOwn, "workspace, seq, time_us, kind, actor, facts, commitment, hash"},
      {"sessions", kOwn},
      {"session_aliases", kOwn},
      {"session_attachments", kOfSession},
      {"manifests", kOfSession},
      {"unkept", kOfSession},
      {"executions", kOfSession},
      {"execution_files", kOfExecution},
      {"execution_outputs", kOfExecution},
      {"conversations", kOwn},
      {"messages", "(SELECT c.workspace FROM conversations c WHERE c.id = ROW.conversation)"},
      {"message_files", kOwn},
  };
  return owners;
}

ScopeCheck::ScopeCheck(SqliteConnection& connection) {
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_INNOCUOUS;
  sqlite3* db = connection.handle();
  bool defined = sqlite3_create_function(db, "sk_note_created", 1, kFlags, this, catalog::note_created,
                                         nullptr, nullptr) == SQLITE_OK &&
                 sqlite3_create_function(db, "sk_note_change", 2, kFlags, this, catalog::note_change, nullptr,
                                         nullptr) == SQLITE_OK;
  SK_CHECK(defined, sqlite3_errmsg(db));
  // The creation of a workspace changes the installation; its other rows belong to the same closure.
  connection.script(
      "CREATE TEMP TRIGGER scope_workspaces_new BEFORE INSERT ON main.workspaces BEGIN SELECT "
      "sk_note_created(NEW.id), sk_note_change('workspaces', zeroblob(16)); END");
  for (const TableOwner& owner : table_owners()) {
    if (owner.workspace == kShared) continue;
    std::string update = owner.updated_columns == nullptr ? std::string("UPDATE")
                                                          : "UPDATE OF " + std::string(owner.updated_columns);
    connection.script(trigger(owner, "INSERT", "NEW") + trigger(owner, update, "NEW") +
                      trigger(owner, "DELETE", "OLD"));
  }
}

void ScopeCheck::begin(const Scope& scope) {
  scope_ = scope;
  created_.clear();
  violation_.clear();
}

void ScopeCheck::end() const {
  if (!violation_.empty()) throw Error(Code::internal, violation_);
}

void ScopeCheck::note_change(std::string_view table, const std::optional<Id>& head) {
  // Rows of a parent that does not exist belong to nobody.
  if (!head || scope_.contains(*head) || created_.contains(*head) || !violation_.empty()) return;
  violation_ = "bug: a write changed a row of '" + std::string(table) + "' of " +
               (*head ? "the workspace " + head->hex() : "the installation") + ", which is not its scope";
}

}  // namespace sk::catalog
