#include "workspace/workspaces.h"

#include <algorithm>

#include "base/error.h"
#include "identity/access.h"
#include "workspace/journal.h"
#include "workspace/lock_check.h"
#include "workspace/revocations.h"
#include "workspace/usage.h"
#include "workspace/workspace_rows.h"

namespace sk::workspace {

namespace {

#define SK_WORKSPACE_COLUMNS \
  "w.id, w.name, w.owner, p.name, m.role, w.quota_bytes, w.used_bytes, w.created_us, w.trashed_us"
// A workspace that is being purged is not there any more.
#define SK_NOT_PURGED "NOT EXISTS (SELECT 1 FROM purges g WHERE g.root = w.id)"
#define SK_WORKSPACE_TABLES                                                                                  \
  "members m JOIN workspaces w ON w.id = m.workspace JOIN principals p ON p.id = w.owner WHERE m.principal " \
  "= $1 AND " SK_NOT_PURGED
// Every workspace, with the role of principal $1.
#define SK_ALL_WORKSPACES                                                                       \
  "SELECT w.id, w.name, w.owner, p.name, COALESCE(m.role, -1), w.quota_bytes, w.used_bytes, "   \
  "w.created_us, w.trashed_us FROM workspaces w JOIN principals p ON p.id = w.owner LEFT JOIN " \
  "members m ON m.workspace = w.id AND m.principal = $1"

// The workspaces that a subject can find, and the most that it may do there.
struct Reach {
  Reach(const Actor& actor)
      : principal(actor.principal()), only_workspace(actor.only_workspace()), may_write(actor.may_write()) {}
  // All workspaces of a principal, as an unlimited key finds them.
  explicit Reach(const Id& of) : principal(of) {}

  bool includes(const Id& workspace) const { return !only_workspace || *only_workspace == workspace; }

  Id principal;
  std::optional<Id> only_workspace;
  bool may_write = true;
};

Workspace read_workspace(const catalog::Row& row, const Reach& reach) {
  Workspace workspace;
  workspace.id = row.id(0);
  workspace.name = row.str(1);
  workspace.owner = row.id(2);
  workspace.owner_name = row.str(3);
  workspace.role = static_cast<Right>(row.integer(4));
  if (!reach.may_write) workspace.role = std::min(workspace.role, Right::read);
  workspace.quota_bytes = static_cast<uint64_t>(row.integer(5));
  workspace.used_bytes = static_cast<uint64_t>(row.integer(6));
  workspace.created_us = row.integer(7);
  workspace.trashed_us = row.maybe_integer(8);
  return workspace;
}

void check_name(const std::string& name) {
  bool bad = name.empty() || name.size() > 100 || !is_utf8(name) || trim(name) != name ||
             name.starts_with(prefix::workspace) || name == "." || name == "..";
  for (char c : name) bad = bad || static_cast<unsigned char>(c) < 32 || c == 127 || c == '/' || c == ':';
  if (bad)
    throw Error(Code::bad_request,
                "a workspace's name must be 1 to 100 bytes of text without '/', ':', control characters, "
                "spaces at its ends, "
                "and must not begin with 'ws_'");
}

void set_name(catalog::Tx& tx, KeepContext& context, const Authority& authority, const std::string& name) {
  const Workspace& workspace = authority.workspace();
  if (tx.query("SELECT 1 FROM workspaces WHERE owner = $1 AND name = $2 AND trashed_us IS NULL AND id <> $3",
               {workspace.owner, name, workspace.id}, [](const catalog::Row&) { return false; }) > 0)
    throw Error(Code::conflict, "there is a workspace named '" + name + "' already")
        .advise(Advice::choose_other_name);
  tx.exec("UPDATE workspaces SET name = $2 WHERE id = $1", {workspace.id, name});
  Journal::append(tx, context, workspace.id, authority.author(), "workspace.rename", Json::object(),
                  {{"from", workspace.name}, {"to", name}});
}

// Finds a live workspace, or a trashed one if `trashed`. Among equal names, the subject's own come first,
// then the newest.
std::optional<Workspace> find(catalog::Statements& statements, const Reach& reach,
                              std::string_view id_or_name, bool trashed) {
  std::optional<Workspace> found;
  auto take = [&](const catalog::Row& row) {
    if (!reach.includes(row.id(0)) || row.is_null(8) == trashed) return true;
    found = read_workspace(row, reach);
    return false;
  };
  if (auto id = Id::from_prefixed(id_or_name, prefix::workspace)) {
    statements.query("SELECT " SK_WORKSPACE_COLUMNS " FROM " SK_WORKSPACE_TABLES " AND w.id = $2",
                     {reach.principal, *id}, take);
  } else {
    statements.query("SELECT " SK_WORKSPACE_COLUMNS " FROM " SK_WORKSPACE_TABLES
                     " AND w.name = $2 ORDER BY CASE WHEN w.owner = $1 THEN 0 ELSE 1 END, w.id DESC",
                     {reach.principal, id_or_name}, take);
  }
  return found;
}

constexpr size_t kRememberedMax = 10'000;

// Contains everything that decides which workspace is found and with which rights.
std::string memory_key(const Actor& actor, std::string_view id_or_name) {
  std::string key(as_text(actor.principal().bytes));
  key.append(as_text(actor.only_workspace().value_or(Id{}).bytes));
  key.append(actor.may_write() ? "w" : "r");
  return key.append(id_or_name);
}

}  // namespace

Authority Workspaces::enter(const Actor& actor, std::string_view id_or_name, Right right) {
  const std::string key = memory_key(actor, id_or_name);
  int64_t changes;
  {
    MutexLock lock(mutex_);
    changes = changes_;
    auto found = remembered_.find(key);
    if (found != remembered_.end()) {
      Authority known = authority_of(actor, found->second);
      known.need(right);
      return known;
    }
  }
  Authority opened = open(actor, id_or_name, right);
  MutexLock lock(mutex_);
  // Do not cache a result that was read before an invalidation.
  if (changes != changes_) return opened;
  if (remembered_.size() >= kRememberedMax) remembered_.clear();
  remembered_.emplace(key, opened.workspace());
  return opened;
}

void Workspaces::forget_after(catalog::Tx& tx) {
  tx.after_commit([this] { forget_cached(); });
}

void Workspaces::revoke_after(catalog::Tx& tx, const Id& workspace) {
  tx.after_commit([this, workspace] {
    forget_cached();
    context_.revocations.announce(workspace);
  });
}

void Workspaces::forget_cached() {
  MutexLock lock(mutex_);
  ++changes_;
  remembered_.clear();
}

Authority Workspaces::open(const Actor& actor, std::string_view id_or_name, Right right) {
  auto found = context_.db.read(
      [&](catalog::Statements& statements) { return find(statements, actor, id_or_name, false); });
  if (!found) throw no_such_workspace(id_or_name);
  Authority opened = authority_of(actor, std::move(*found));
  opened.need(right);
  return opened;
}

Workspace Workspaces::open_for(const Actor& actor, const Id& principal, std::string_view id_or_name) {
  if (principal == actor.principal()) return open(actor, id_or_name).workspace();
  if (!actor.is_admin())
    throw Error(Code::forbidden, "only an administrator's key may create keys for others");
  auto found = context_.db.read(
      [&](catalog::Statements& statements) { return find(statements, Reach(principal), id_or_name, false); });
  if (!found)
    throw Error(Code::not_found,
                "there is no workspace '" + std::string(id_or_name) + "' that this principal may open")
        .advise(Advice::let_in_or_name_own);
  return *found;
}

Authority Workspaces::look_at(const Actor& actor, std::string_view id_or_name) {
  auto id = Id::from_prefixed(id_or_name, prefix::workspace);
  if (!id || !actor.is_admin()) return open(actor, id_or_name);
  auto found = context_.db.read([&](catalog::Statements& statements) {
    return statements.one(SK_ALL_WORKSPACES " WHERE w.id = $2 AND w.trashed_us IS NULL",
                          {actor.principal(), *id},
                          [&](const catalog::Row& row) { return read_workspace(row, actor); });
  });
  if (!found) throw no_such_workspace(id_or_name);
  return authority_of(actor, std::move(*found));
}

Authority Workspaces::authority_of(const Actor& actor, Workspace workspace) {
  return Authority(actor, std::move(workspace),
                   actor.key() ? Authority::Origin::key : Authority::Origin::token);
}

std::optional<Authority> Workspaces::find_readable(const Actor& actor, const Id& workspace) {
  auto id = workspace.with_prefix(prefix::workspace);
  auto found = context_.db.read([&](catalog::Statements& statements) {
    auto live = find(statements, actor, id, false);
    return live ? live : find(statements, actor, id, true);
  });
  if (!found) return std::nullopt;
  found->role = Right::read;
  return authority_of(actor, std::move(*found));
}

Authority Workspaces::standing(const Actor& actor, const Id& workspace) {
  try {
    return enter(actor, workspace.with_prefix(prefix::workspace));
  } catch (const Error& error) {
    if (error.code() != Code::not_found) throw;
  }
  Workspace unknown;
  unknown.id = workspace;
  return authority_of(actor, std::move(unknown));
}

Workspace Workspaces::describe(const Authority& authority) {
  authority.need_in_scope(Right::read);
  auto found = context_.db.read([&](catalog::Statements& statements) {
    return statements.one(SK_ALL_WORKSPACES " WHERE w.id = $2 AND w.trashed_us IS NULL",
                          {authority.author().principal, authority.workspace_id()},
                          [&](const catalog::Row& row) { return read_workspace(row, authority.actor()); });
  });
  if (!found) throw no_such_workspace(authority.workspace_id().with_prefix(prefix::workspace));
  found->role = authority.right();
  return *found;
}

bool Workspaces::may_read(const Actor& actor, const Id& workspace) {
  return context_.db.read(
      [&](catalog::Statements& statements) { return workspace::may_read(statements, actor, workspace); });
}

Authority Workspaces::open_default(const Actor& actor, Right right) {
  if (actor.only_workspace())
    return enter(actor, actor.only_workspace()->with_prefix(prefix::workspace), right);
  return enter(actor, "default", right);
}

Workspace Workspaces::create(const Actor& actor, const std::string& name,
                             std::optional<uint64_t> quota_bytes) {
  if (!actor.may_write() || actor.only_workspace())
    throw Error(Code::forbidden, "this key may not create workspaces");
  check_name(name);
  if (quota_bytes && *quota_bytes > context_.limits.quota_default_bytes && !actor.is_admin())
    throw Error(Code::forbidden, "only an administrator may give a workspace more than " +
                                     human_size(context_.limits.quota_default_bytes));
  return context_.db.write(catalog::Scope::installation(), [&](catalog::Tx& tx) {
    identity::Access::check_key(tx, actor, tx.now_us());
    forget_after(tx);
    return insert_workspace(tx, context_, actor, name,
                            quota_bytes.value_or(context_.limits.quota_default_bytes));
  });
}

static std::vector<Workspace> list_where(KeepContext& context, const Actor& actor, bool trashed) {
  std::vector<Workspace> result;
  context.db.read([&](catalog::Statements& statements) {
    statements.query("SELECT " SK_WORKSPACE_COLUMNS " FROM " SK_WORKSPACE_TABLES " ORDER BY w.name, w.id",
                     {actor.principal()}, [&](const catalog::Row& row) {
                       if (Reach(actor).includes(row.id(0)) && row.is_null(8) != trashed)
                         result.push_back(read_workspace(row, actor));
                       return true;
                     });
  });
  return result;
}

std::vector<Workspace> Workspaces::list(const Actor& actor) { return list_where(context_, actor, false); }
std::vector<Workspace> Workspaces::list_trashed(const Actor& actor) {
  return list_where(context_, actor, true);
}

std::vector<Workspace> Workspaces::list_everybodys(const Actor& actor, Trashed trashed) {
  if (!actor.is_admin()) throw Error(Code::forbidden, "only an administrator's key may list all workspaces");
  return context_.db.read([&](catalog::Statements& statements) {
    return statements.all(SK_ALL_WORKSPACES
                          " WHERE CASE WHEN w.trashed_us IS NULL THEN 0 ELSE 1 END = $2 AND " SK_NOT_PURGED
                          " ORDER BY p.name, w.name, w.id",
                          {actor.principal(), trashed == Trashed::yes ? 1 : 0},
                          [&](const catalog::Row& row) { return read_workspace(row, actor); });
  });
}

std::unordered_map<Id, std::string> Workspaces::names_of(const Actor& actor, std::span<const Id> workspaces) {
  if (!actor.is_admin()) throw Error(Code::forbidden, "only an administrator's key may list all workspaces");
  std::unordered_map<Id, std::string> out;
  context_.db.read([&](catalog::Statements& statements) {
    for (const Id& id : workspaces)
      if (auto name = statements.one("SELECT name FROM workspaces WHERE id = $1", {id},
                                     [](const catalog::Row& row) { return row.str(0); }))
        out[id] = std::move(*name);
  });
  return out;
}

std::unordered_map<Id, uint64_t> Workspaces::used_bytes_by_owner() {
  std::unordered_map<Id, uint64_t> out;
  context_.db.read([&](catalog::Statements& statements) {
    statements.query("SELECT owner, CAST(sum(used_bytes) AS BIGINT) FROM workspaces GROUP BY owner", {},
                     [&](const catalog::Row& row) {
                       out[row.id(0)] = static_cast<uint64_t>(std::max<int64_t>(0, row.integer(1)));
                       return true;
                     });
  });
  return out;
}

Workspace Workspaces::change(const Authority& authority, const std::optional<std::string>& name,
                             std::optional<uint64_t> quota_bytes) {
  const Actor& actor = authority.actor();
  if (name) {
    authority.need(Right::own);
    check_name(*name);
  }
  if (authority.is_limited()) throw out_of_scope(authority, "");
  if (quota_bytes && (!actor.is_admin() || !actor.may_write()))
    throw Error(Code::forbidden, "only an administrator's key may change a quota");
  auto scope = name ? catalog::Scope::installation_and(authority.workspace_id()) : authority.scope();
  context_.db.write(scope, [&](catalog::Tx& tx) {
    forget_after(tx);
    // Check only the key: an administrator may set the quota of another principal's workspace.
    identity::Access::check_key(tx, actor, tx.now_us());
    if (name) check_still_holds(tx, authority, Right::own);
    if (name) check_room_for_records(tx, context_, authority.workspace_id());
    if (name) set_name(tx, context_, authority, *name);
    if (!quota_bytes) return;
    tx.exec("UPDATE workspaces SET quota_bytes = $2 WHERE id = $1", {authority.workspace_id(), *quota_bytes});
    Journal::append(tx, context_, authority.workspace_id(), actor, "workspace.quota",
                    {{"quota_bytes", *quota_bytes}}, Json::object());
  });
  return look_at(actor, authority.workspace_id().with_prefix(prefix::workspace)).workspace();
}

void Workspaces::trash(const Authority& authority, const Conditions& conditions) {
  authority.need(Right::own);
  const Workspace& workspace = authority.workspace();
  context_.db.write(authority.scope(), [&](catalog::Tx& tx) {
    check_still_holds(tx, authority, Right::own);
    revoke_after(tx, workspace.id);
    LockCheck(tx, workspace.id, tx.now_us()).check("", Touches::subtree, conditions);
    tx.exec("UPDATE workspaces SET trashed_us = $2 WHERE id = $1 AND trashed_us IS NULL",
            {workspace.id, tx.now_us()});
    Journal::append(tx, context_, workspace.id, authority.author(), "workspace.trash", Json::object(),
                    {{"name", workspace.name}});
  });
}

Workspace Workspaces::restore(const Actor& actor, std::string_view id_or_name) {
  auto not_there = [&] {
    return Error(Code::not_found, "there is no workspace '" + std::string(id_or_name) + "' in the trash");
  };
  auto named = context_.db.read([&](catalog::Statements& statements) {
    identity::Access::check_key(statements, actor, context_.clock.now_us());
    return find(statements, actor, id_or_name, true);
  });
  if (!named) throw not_there();
  const std::string id = named->id.with_prefix(prefix::workspace);
  context_.db.write(catalog::Scope::installation_and(named->id), [&](catalog::Tx& tx) {
    identity::Access::check_key(tx, actor, tx.now_us());
    forget_after(tx);
    auto found = find(tx, actor, id, true);
    if (!found) throw not_there();
    authority_of(actor, *found).need(Right::own);
    std::string name = found->name;
    for (int n = 2; tx.query("SELECT 1 FROM workspaces WHERE owner = $1 AND name = $2 AND trashed_us IS NULL",
                             {found->owner, name}, [](const catalog::Row&) { return false; }) > 0;
         ++n)
      name = found->name + " (" + std::to_string(n) + ")";
    check_room_for_records(tx, context_, found->id);
    tx.exec("UPDATE workspaces SET trashed_us = NULL, name = $2 WHERE id = $1", {found->id, name});
    Journal::append(tx, context_, found->id, actor, "workspace.restore", Json::object(), {{"name", name}});
  });
  return open(actor, id).workspace();
}

namespace {

// The trashed workspaces that an id or a name means to the actor. Administrators may name any by its id.
std::vector<Workspace> find_trashed(catalog::Statements& statements, const Actor& actor,
                                    std::string_view id_or_name) {
  const Reach reach(actor);
  std::vector<Workspace> found;
  auto take = [&](const catalog::Row& row) {
    if (reach.includes(row.id(0))) found.push_back(read_workspace(row, reach));
    return true;
  };
  auto id = Id::from_prefixed(id_or_name, prefix::workspace);
  if (!id)
    statements.query("SELECT " SK_WORKSPACE_COLUMNS " FROM " SK_WORKSPACE_TABLES
                     " AND w.name = $2 AND w.trashed_us IS NOT NULL",
                     {actor.principal(), id_or_name}, take);
  else if (actor.is_admin())
    statements.query(SK_ALL_WORKSPACES " WHERE w.id = $2 AND w.trashed_us IS NOT NULL AND " SK_NOT_PURGED,
                     {actor.principal(), *id}, take);
  else
    statements.query("SELECT " SK_WORKSPACE_COLUMNS " FROM " SK_WORKSPACE_TABLES
                     " AND w.id = $2 AND w.trashed_us IS NOT NULL",
                     {actor.principal(), *id}, take);
  return found;
}

// The entry of the server's journal about a purged workspace. Its own journal has ended with the last
// entry.
Json last_facts(catalog::Tx& tx, const Workspace& workspace) {
  Json facts = {{"workspace_id", workspace.id.with_prefix(prefix::workspace)},
                {"owner_id", workspace.owner.with_prefix(prefix::principal)},
                {"created_at", to_iso8601(workspace.created_us)}};
  tx.query(
      "SELECT u.entries, u.versions, w.used_bytes, j.seq, j.hash FROM workspaces w JOIN workspace_usage u ON "
      "u.workspace = w.id JOIN journals j ON j.workspace = w.id WHERE w.id = $1",
      {workspace.id}, [&](const catalog::Row& row) {
        facts["entries"] = row.integer(0);
        facts["versions"] = row.integer(1);
        facts["bytes"] = row.integer(2);
        facts["journal_seq"] = row.integer(3);
        facts["journal_hash"] = row.hash(4).hex();
        return false;
      });
  return facts;
}

}  // namespace

Workspace Workspaces::begin_purge(const Actor& actor, std::string_view id_or_name) {
  auto choose = [&](catalog::Statements& statements, TimeUs now_us, std::string_view named) {
    identity::Access::check_key(statements, actor, now_us);
    auto trashed = find_trashed(statements, actor, named);
    if (trashed.empty() && find(statements, actor, named, false))
      throw Error(Code::conflict, "the workspace '" + std::string(named) + "' is not in the trash")
          .advise(Advice::trash_workspace_first);
    if (trashed.empty())
      throw Error(Code::not_found, "there is no workspace '" + std::string(named) + "' in the trash");
    if (trashed.size() > 1)
      throw Error(Code::conflict, std::to_string(trashed.size()) +
                                      " workspaces in the trash have the name '" + std::string(named) + "'")
          .advise(Advice::name_workspace_by_id);
    bool is_ours = actor.is_admin() && actor.may_write() && !actor.only_workspace();
    if (!is_ours) authority_of(actor, trashed.front()).need(Right::own);
    return std::move(trashed.front());
  };
  const Workspace named = context_.db.read([&](catalog::Statements& statements) {
    return choose(statements, context_.clock.now_us(), id_or_name);
  });
  auto scope = catalog::Scope::installation_and(named.id).asked_by(actor.principal());
  return context_.db.write(scope, [&](catalog::Tx& tx) {
    Workspace workspace = choose(tx, tx.now_us(), named.id.with_prefix(prefix::workspace));
    revoke_after(tx, workspace.id);
    const Json name = {{"name", workspace.name}};
    Journal::append(tx, context_, workspace.id, actor, "workspace.purge", Json::object(), name);
    Journal::append(tx, context_, Id{}, actor, "workspace.purge", last_facts(tx, workspace), name);
    tx.exec("INSERT INTO purges (root, workspace, path) VALUES ($1, $1, '')", {workspace.id});
    return workspace;
  });
}

void Workspaces::revoke_links(const Authority& authority) {
  authority.need(Right::own);
  std::array<std::byte, 32> secret;
  fill_random(secret);
  context_.db.write(authority.scope(), [&](catalog::Tx& tx) {
    check_still_holds(tx, authority, Right::own);
    tx.exec("UPDATE workspaces SET link_secret = $2 WHERE id = $1",
            {authority.workspace_id(), catalog::Param::raw(as_text(secret))});
    // Never refused, so it could fill the journal without end. Nothing else happened since the last one.
    bool is_repeated = tx.exists(
        "SELECT 1 FROM journals h JOIN journal j ON j.workspace = h.workspace AND j.seq = h.seq WHERE "
        "h.workspace = $1 AND j.kind = 'links.revoke'",
        {authority.workspace_id()});
    if (is_repeated && !has_room_for_records(tx, context_, authority.workspace_id())) return;
    Journal::append(tx, context_, authority.workspace_id(), authority.author(), "links.revoke",
                    Json::object(), Json::object());
  });
}

void Workspaces::set_member(const Authority& authority, const Id& principal, std::optional<Right> right) {
  authority.need(Right::own);
  const Workspace& workspace = authority.workspace();
  if (principal == workspace.owner) throw Error(Code::bad_request, "the owner's own role cannot be changed");
  context_.db.write(authority.scope(), [&](catalog::Tx& tx) {
    check_still_holds(tx, authority, Right::own);
    revoke_after(tx, workspace.id);
    if (!identity::Access::has_principal(tx, principal))
      throw Error(Code::not_found, "there is no such principal").advise(Advice::list_principals);
    auto before =
        tx.one("SELECT role FROM members WHERE principal = $1 AND workspace = $2", {principal, workspace.id},
               [](const catalog::Row& row) { return static_cast<Right>(row.integer(0)); });
    if (before == right) return;
    // More rights only: taking some away is never refused.
    if (right > before) check_room_for_records(tx, context_, workspace.id);
    tx.exec("DELETE FROM members WHERE principal = $1 AND workspace = $2", {principal, workspace.id});
    Json facts = {{"principal_id", principal.with_prefix(prefix::principal)}};
    if (right) {
      tx.exec("INSERT INTO members (principal, workspace, role) VALUES ($1, $2, $3)",
              {principal, workspace.id, static_cast<int>(*right)});
      facts["role"] = *right == Right::own ? "own" : *right == Right::write ? "write" : "read";
    }
    Journal::append(tx, context_, workspace.id, authority.author(), right ? "member.set" : "member.remove",
                    facts, Json::object());
  });
}

}  // namespace sk::workspace
