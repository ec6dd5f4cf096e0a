#include "interpreter/sessions/aliases.h"

#include "base/error.h"

namespace sk::interpreter {

namespace {

std::optional<Id> look_up(catalog::Statements& statements, const Id& owner, const Id& workspace,
                          std::string_view kind, std::string_view alias) {
  return statements.one(
      "SELECT a.session FROM session_aliases a JOIN sessions s ON s.id = a.session "
      "WHERE a.owner = $1 AND a.workspace = $2 AND a.kind = $3 AND a.alias = $4 AND s.deleted_us IS NULL",
      {owner, workspace, kind, alias}, [](const catalog::Row& row) { return row.id(0); });
}

}  // namespace

std::optional<SessionInfo> Aliases::find(const workspace::Authority& authority, std::string_view kind,
                                         std::string_view alias) {
  authority.need(workspace::Right::read);
  auto id = keep_.context().db.read([&](catalog::Statements& statements) {
    return look_up(statements, authority.author().principal, authority.workspace_id(), kind, alias);
  });
  if (!id) return std::nullopt;
  return book_.find(authority.actor(), *id);
}

SessionInfo Aliases::find_or_create(const workspace::Authority& authority, std::string_view kind,
                                    std::string_view alias, const NewSession& wanted) {
  if (auto found = find(authority, kind, alias)) return *found;
  SessionInfo made = interpreter_.create(authority, wanted);
  auto& context = keep_.context();
  Id winner = context.db.write(made.key().scope(), [&](catalog::Tx& tx) {
    check_still_holds(tx, authority, workspace::Right::write);
    if (auto earlier = look_up(tx, authority.author().principal, made.workspace, kind, alias))
      return *earlier;
    tx.exec(
        "INSERT INTO session_aliases (owner, workspace, kind, alias, session, created_us) "
        "VALUES ($1, $2, $3, $4, $5, $6) "
        "ON CONFLICT (owner, workspace, kind, alias) DO UPDATE SET session = excluded.session, created_us = "
        "excluded.created_us",
        {authority.author().principal, made.workspace, kind, alias, made.id, tx.now_us()});
    return made.id;
  });
  if (winner == made.id) return made;
  // No client knows the new session, so its removal has nothing to wait for.
  interpreter_.remove(authority, made.id).then([](const Result<Done>&) {});
  return interpreter_.get(authority.actor(), winner);
}

std::vector<Aliases::Named> Aliases::list(const workspace::Authority& authority, std::string_view kind,
                                          size_t skip, size_t limit) {
  authority.need(workspace::Right::read);
  auto rows = keep_.context().db.read([&](catalog::Statements& statements) {
    return statements.all(
        "SELECT a.alias, a.session FROM session_aliases a JOIN sessions s ON s.id = a.session "
        "WHERE a.owner = $1 AND a.workspace = $2 AND a.kind = $3 AND s.deleted_us IS NULL "
        "ORDER BY a.alias LIMIT $4 OFFSET $5",
        {authority.author().principal, authority.workspace_id(), kind, limit, skip},
        [](const catalog::Row& row) { return std::pair(row.str(0), row.id(1)); });
  });
  std::vector<Named> out;
  for (auto& [alias, session] : rows)
    if (auto found = book_.find(authority.actor(), session))
      out.push_back({std::move(alias), std::move(*found)});
  return out;
}

}  // namespace sk::interpreter
