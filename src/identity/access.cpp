#include "identity/access.h"

#include "base/error.h"
#include "base/id.h"
#include "base/redaction.h"
#include "base/text.h"

namespace sk::identity {

namespace {

constexpr size_t kRootKeyBytesMin = 16;
constexpr size_t kCacheMax = 10'000;

// The columns of Access::read_actor().
#define SK_ACTORS                                                                                            \
  "SELECT k.id, k.principal, p.name, p.admin, k.read_only, k.only_workspace, k.expires_us FROM keys k JOIN " \
  "principals p ON p.id = k.principal"

void check_display_name(const std::string& name, std::string_view what) {
  bool control = false;
  for (char c : name) control = control || static_cast<unsigned char>(c) < 32 || c == 127;
  if (trim(name).empty() || name.size() > 100 || control || !is_utf8(name))
    throw Error(Code::bad_request,
                std::string(what) + " must be 1 to 100 bytes of text without control characters");
}

void insert_key(catalog::Tx& tx, TimeUs now_us, const Id& id, const Id& principal, std::string_view secret,
                const NewKey& wanted) {
  tx.exec(
      "INSERT INTO keys (id, principal, hash, name, hint, read_only, only_workspace, expires_us, created_us) "
      "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
      {id, principal, sha256(secret), wanted.name, std::string(secret.substr(0, 6)) + "…",
       wanted.read_only ? 1 : 0, wanted.only_workspace, wanted.expires_us, now_us});
}

std::string make_secret() { return std::string(kKeySecretPrefix) + random_base64url(32); }

uint64_t mark_of(const Sha256& hash) {
  uint64_t mark;
  std::memcpy(&mark, hash.bytes.data(), sizeof mark);
  return mark;
}

KeyInfo read_key(const catalog::Row& row) {
  KeyInfo key;
  key.id = row.id(0);
  key.principal = row.id(1);
  key.principal_name = row.str(2);
  key.name = row.str(3);
  key.hint = row.str(4);
  key.read_only = row.integer(5) != 0;
  if (!row.is_null(6)) key.only_workspace = row.id(6);
  key.expires_us = row.maybe_integer(7);
  key.revoked_us = row.maybe_integer(8);
  key.last_used_us = row.maybe_integer(9);
  key.created_us = row.integer(10);
  return key;
}

#define SK_LIMITS "quota_bytes, workspaces_max, keys_max, sessions_max, sessions_kept_max"
#define SK_PRINCIPALS "SELECT id, name, kind, admin, created_us, suspended_us, " SK_LIMITS " FROM principals"

PrincipalLimits read_limits(const catalog::Row& row, int first) {
  auto limit = [&](int column) -> std::optional<uint64_t> {
    if (row.is_null(first + column)) return std::nullopt;
    return static_cast<uint64_t>(row.integer(first + column));
  };
  return {limit(0), limit(1), limit(2), limit(3), limit(4)};
}

Principal read_principal(const catalog::Row& row) {
  return {row.id(0),      row.str(1),           row.str(2),         row.integer(3) != 0,
          row.integer(4), row.maybe_integer(5), read_limits(row, 6)};
}

// Returns the expiry of a key that `actor` creates. It never exceeds the expiry of the creating key;
// otherwise a key lent for a minute could be kept forever.
std::optional<TimeUs> expiry_under(const Actor& actor, const std::optional<TimeUs>& wanted_us) {
  if (!actor.expires_us() || !wanted_us) return wanted_us ? wanted_us : actor.expires_us();
  if (*wanted_us > *actor.expires_us())
    throw Error(Code::forbidden, "this key expires at " + to_iso8601(*actor.expires_us()) +
                                     ", so it cannot create a key that expires later")
        .advise(Advice::ask_earlier_expiry);
  return wanted_us;
}

// Returns an unused principal name: the wanted one, or the wanted one plus a number.
std::string free_name(catalog::Tx& tx, std::string wanted) {
  constexpr size_t kNameBytesMax = 100;
  constexpr size_t kNumberBytes = 8;
  size_t end = std::min(wanted.size(), kNameBytesMax - kNumberBytes);
  while (end < wanted.size() && end > 0 && (static_cast<unsigned char>(wanted[end]) & 0xC0) == 0x80) --end;
  wanted.resize(end);
  std::string name = wanted;
  for (int number = 2; tx.query("SELECT 1 FROM principals WHERE name = $1", {name},
                                [](const catalog::Row&) { return false; }) > 0;
       ++number)
    name = wanted + " (" + std::to_string(number) + ")";
  return name;
}

Error key_revoked() { return Error(Code::unauthorized, "this key was revoked").advise(Advice::make_key); }

Error suspended() {
  return Error(Code::unauthorized, "the principal of this key is suspended")
      .advise(Advice::ask_administrator);
}

Error key_expired() { return Error(Code::unauthorized, "this key has expired").advise(Advice::make_key); }

}  // namespace

Json limits_json(const PrincipalLimits& limits) {
  auto value = [](const std::optional<uint64_t>& limit) { return limit ? Json(*limit) : Json(); };
  return {{"quota_bytes", value(limits.quota_bytes)},
          {"workspaces_max", value(limits.workspaces_max)},
          {"keys_max", value(limits.keys_max)},
          {"sessions_max", value(limits.sessions_max)},
          {"sessions_kept_max", value(limits.sessions_kept_max)}};
}

void Actor::need_write() const {
  if (!may_write()) throw Error(Code::forbidden, "this key may read, but not change anything");
}

Access::Access(catalog::Database& db, const Clock& clock, IdMaker& ids, TransactionHooks& hooks,
               size_t keys_max)
    : db_(db), clock_(clock), ids_(ids), hooks_(hooks), keys_max_(keys_max) {
  auto marks = db_.read([](catalog::Statements& statements) {
    return statements.all("SELECT hash FROM keys", {},
                          [](const catalog::Row& row) { return mark_of(Sha256::from_raw(row.text(0))); });
  });
  MutexLock lock(mutex_);
  marks_.insert(marks.begin(), marks.end());
}

void Access::mark_after_commit(catalog::Tx& tx, std::string_view secret) {
  tx.after_commit([this, mark = mark_of(sha256(secret))] {
    MutexLock lock(mutex_);
    marks_.insert(mark);
  });
}

bool Access::may_exist(std::string_view secret) {
  auto mark = mark_of(sha256(secret));
  MutexLock lock(mutex_);
  return marks_.contains(mark);
}

bool Access::has_administrator() {
  return db_.read([](catalog::Statements& statements) {
    return statements.exists("SELECT 1 FROM principals WHERE admin = 1", {});
  });
}

void Access::ensure_first_principal(const std::string& root_key) {
  if (root_key.size() < kRootKeyBytesMin)
    throw Error(Code::bad_request, "the root key has fewer than 16 characters")
        .advise(Advice::choose_longer_root_key);
  db_.write(catalog::Scope::installation(), [&](catalog::Tx& tx) {
    auto admin = tx.one("SELECT id FROM principals WHERE admin = 1 ORDER BY created_us LIMIT 1", {},
                        [](const catalog::Row& row) { return row.id(0); });
    Actor actor;
    actor.name_ = "admin";
    actor.admin_ = true;
    if (!admin) {
      actor.principal_ = ids_.next();
      tx.exec(
          "INSERT INTO principals (id, name, kind, admin, created_us) VALUES ($1, 'admin', 'person', 1, $2)",
          {actor.principal(), tx.now_us()});
      hooks_.record(tx, actor, "principal.create",
                    {{"principal_id", actor.principal().with_prefix(prefix::principal)}},
                    {{"name", "admin"}});
      hooks_.create_first_workspace(tx, actor);
    } else {
      actor.principal_ = *admin;
      if (tx.exists("SELECT 1 FROM keys WHERE hash = $1", {sha256(root_key)})) return;
    }
    NewKey wanted;
    wanted.name = "root";
    Id id = ids_.next();
    insert_key(tx, tx.now_us(), id, actor.principal(), root_key, wanted);
    mark_after_commit(tx, root_key);
    hooks_.record(tx, actor, "key.create",
                  {{"key_id", id.with_prefix(prefix::key)},
                   {"principal_id", actor.principal().with_prefix(prefix::principal)}},
                  {{"name", "root"}});
  });
}

Actor Access::authenticate(std::string_view secret) {
  Sha256 hash = sha256(secret);
  TimeUs now_us = clock_.now_us();
  int64_t revocations = 0;
  {
    MutexLock lock(mutex_);
    revocations = revocations_;
    auto found = cache_.find(hash);
    if (found != cache_.end()) {
      if (found->second.expires_us() && *found->second.expires_us() <= now_us) throw key_expired();
      last_use_us_[found->second.key()] = now_us;
      return found->second;
    }
  }
  auto found = db_.read([&](catalog::Statements& statements) {
    auto actor = statements.one(SK_ACTORS " WHERE k.hash = $1", {hash}, read_actor);
    if (actor) check_key(statements, *actor, now_us);
    return actor;
  });
  if (!found) throw Error(Code::unauthorized, "this key is unknown");
  {
    MutexLock lock(mutex_);
    if (cache_.size() >= kCacheMax) cache_.clear();
    // Do not cache a key that was revoked since the lookup above.
    if (revocations == revocations_) cache_.emplace(hash, *found);
    last_use_us_[found->key()] = now_us;
  }
  return *found;
}

Actor Access::read_actor(const catalog::Row& row) {
  Actor actor;
  actor.key_ = row.id(0);
  actor.principal_ = row.id(1);
  actor.name_ = row.str(2);
  actor.read_only_ = row.integer(4) != 0;
  if (!row.is_null(5)) actor.only_workspace_ = row.id(5);
  // A key limited to one workspace does not have its principal's admin rights. A read-only key keeps them for
  // reading; changes require both admin rights and write access.
  actor.admin_ = row.integer(3) != 0 && row.is_null(5);
  actor.expires_us_ = row.maybe_integer(6);
  return actor;
}

Actor Access::recorded_actor(ReplayKey, const Id& principal, const Id& key) {
  return db_.read([&](catalog::Statements& statements) {
    Actor actor;
    actor.principal_ = principal;
    if (key) {
      auto found =
          statements.one(SK_ACTORS " WHERE k.id = $1 AND k.principal = $2", {key, principal}, read_actor);
      if (!found) throw Error(Code::unauthorized, "this key is unknown");
      actor = std::move(*found);
    }
    check_key(statements, actor, clock_.now_us());
    return actor;
  });
}

// Creates the principal of a subject that is seen for the first time.
Actor Access::insert_subject(catalog::Tx& tx, const std::string& source, const std::string& subject) {
  Actor actor;
  actor.principal_ = ids_.next();
  actor.name_ = free_name(tx, source + ":" + subject);
  TimeUs now_us = tx.now_us();
  tx.exec("INSERT INTO principals (id, name, kind, admin, created_us) VALUES ($1, $2, 'person', 0, $3)",
          {actor.principal(), actor.name(), now_us});
  tx.exec("INSERT INTO subjects (source, subject, principal, created_us) VALUES ($1, $2, $3, $4)",
          {source, subject, actor.principal(), now_us});
  hooks_.record(tx, actor, "principal.create",
                {{"principal_id", actor.principal().with_prefix(prefix::principal)},
                 {"kind", "person"},
                 {"source", source}},
                {{"name", actor.name()}});
  hooks_.create_first_workspace(tx, actor);
  return actor;
}

Actor Access::actor_of_subject(const std::string& source, const std::string& subject) {
  const std::string known_as = source + "\n" + subject;
  int64_t revocations = 0;
  {
    MutexLock lock(mutex_);
    revocations = revocations_;
    auto found = subjects_.find(known_as);
    if (found != subjects_.end()) return found->second;
  }
  auto look_up = [&](catalog::Statements& statements) {
    auto known = statements.one(
        "SELECT p.id, p.name FROM subjects s JOIN principals p ON p.id = s.principal "
        "WHERE s.source = $1 AND s.subject = $2",
        {source, subject}, [](const catalog::Row& row) {
          Actor actor;
          actor.principal_ = row.id(0);
          actor.name_ = row.str(1);
          return actor;
        });
    if (known) check_key(statements, *known, clock_.now_us());
    return known;
  };
  auto actor = db_.read(look_up);
  if (!actor) {
    actor = db_.write(catalog::Scope::installation(), [&](catalog::Tx& tx) {
      if (auto meanwhile = look_up(tx)) return *meanwhile;
      return insert_subject(tx, source, subject);
    });
  }
  MutexLock lock(mutex_);
  if (subjects_.size() >= kCacheMax) subjects_.clear();
  // Do not cache a principal that was suspended since the lookup above.
  if (revocations == revocations_) subjects_.emplace(known_as, *actor);
  return *actor;
}

Principal Access::create_principal(const Actor& actor, const std::string& name, const std::string& kind) {
  if (!actor.is_admin() || !actor.may_write())
    throw Error(Code::forbidden, "only an administrator's key may create principals");
  check_display_name(name, "a principal's name");
  if (kind != "person" && kind != "agent") throw Error(Code::bad_request, "kind must be 'person' or 'agent'");
  Principal made{ids_.next(), name, kind, false, clock_.now_us(), {}, {}};
  db_.write(catalog::Scope::installation(), [&](catalog::Tx& tx) {
    check_key(tx, actor, tx.now_us());
    if (tx.exists("SELECT 1 FROM principals WHERE name = $1", {name}))
      throw Error(Code::conflict, "there is a principal named '" + name + "' already")
          .advise(Advice::choose_other_name);
    tx.exec("INSERT INTO principals (id, name, kind, admin, created_us) VALUES ($1, $2, $3, 0, $4)",
            {made.id, name, kind, made.created_us});
    hooks_.record(tx, actor, "principal.create",
                  {{"principal_id", made.id.with_prefix(prefix::principal)}, {"kind", kind}},
                  {{"name", name}});
    hooks_.create_first_workspace(tx, Author(made.id, name));
  });
  return made;
}

std::vector<Principal> Access::list_principals(const Actor& actor) {
  if (!actor.is_admin()) throw Error(Code::forbidden, "only an administrator's key may list principals");
  return db_.read([&](catalog::Statements& statements) {
    return statements.all(SK_PRINCIPALS " ORDER BY created_us", {}, read_principal);
  });
}

std::unordered_map<Id, std::string> Access::names_of(const Actor& actor, std::span<const Id> principals) {
  if (!actor.is_admin()) throw Error(Code::forbidden, "only an administrator's key may list principals");
  std::unordered_map<Id, std::string> out;
  db_.read([&](catalog::Statements& statements) {
    for (const Id& id : principals)
      if (auto name = statements.one("SELECT name FROM principals WHERE id = $1", {id},
                                     [](const catalog::Row& row) { return row.str(0); }))
        out[id] = std::move(*name);
  });
  return out;
}

Principal Access::suspend(const Actor& actor, const Id& principal) {
  return set_suspended(actor, principal, Suspended::yes);
}

Principal Access::resume(const Actor& actor, const Id& principal) {
  return set_suspended(actor, principal, Suspended::no);
}

Principal Access::set_suspended(const Actor& actor, const Id& principal, Suspended wanted) {
  if (!actor.is_admin() || !actor.may_write())
    throw Error(Code::forbidden, "only an administrator's key may suspend and resume principals");
  return db_.write(catalog::Scope::installation(), [&](catalog::Tx& tx) {
    check_key(tx, actor, tx.now_us());
    auto found = tx.one(SK_PRINCIPALS " WHERE id = $1", {principal}, read_principal);
    if (!found) throw Error(Code::not_found, "there is no such principal").advise(Advice::list_principals);
    if (found->admin) throw Error(Code::conflict, "an administrator cannot be suspended");
    if (found->suspended_us.has_value() == (wanted == Suspended::yes)) return *found;
    if (wanted == Suspended::yes)
      found->suspended_us = tx.now_us();
    else
      found->suspended_us.reset();
    tx.exec("UPDATE principals SET suspended_us = $2 WHERE id = $1", {principal, found->suspended_us});
    hooks_.record(tx, actor, wanted == Suspended::yes ? "principal.suspend" : "principal.resume",
                  {{"principal_id", principal.with_prefix(prefix::principal)}}, {{"name", found->name}});
    tx.after_commit([this, principal] {
      forget_cached();
      hooks_.end_use(principal);
    });
    return *found;
  });
}

Principal Access::set_limits(const Actor& actor, const Id& principal, const LimitChanges& changes) {
  if (!actor.is_admin() || !actor.may_write())
    throw Error(Code::forbidden, "only an administrator's key may set the limits of principals");
  return db_.write(catalog::Scope::installation(), [&](catalog::Tx& tx) {
    check_key(tx, actor, tx.now_us());
    auto found = tx.one(SK_PRINCIPALS " WHERE id = $1", {principal}, read_principal);
    if (!found) throw Error(Code::not_found, "there is no such principal").advise(Advice::list_principals);
    PrincipalLimits& limits = found->limits;
    auto apply = [](std::optional<uint64_t>& limit, const LimitChange& change) {
      if (change) limit = *change;
    };
    apply(limits.quota_bytes, changes.quota_bytes);
    apply(limits.workspaces_max, changes.workspaces_max);
    apply(limits.keys_max, changes.keys_max);
    apply(limits.sessions_max, changes.sessions_max);
    apply(limits.sessions_kept_max, changes.sessions_kept_max);
    tx.exec(
        "UPDATE principals SET quota_bytes = $2, workspaces_max = $3, keys_max = $4, sessions_max = $5, "
        "sessions_kept_max = $6 WHERE id = $1",
        {principal, limits.quota_bytes, limits.workspaces_max, limits.keys_max, limits.sessions_max,
         limits.sessions_kept_max});
    hooks_.record(
        tx, actor, "principal.limit",
        {{"principal_id", principal.with_prefix(prefix::principal)}, {"limits", limits_json(limits)}},
        {{"name", found->name}});
    return *found;
  });
}

PrincipalLimits Access::limits_of(catalog::Statements& statements, const Id& principal) {
  return statements
      .one("SELECT " SK_LIMITS " FROM principals WHERE id = $1", {principal},
           [](const catalog::Row& row) { return read_limits(row, 0); })
      .value_or(PrincipalLimits{});
}

PrincipalLimits Access::limits_of(const Id& principal) {
  return db_.read([&](catalog::Statements& statements) { return limits_of(statements, principal); });
}

uint64_t Access::valid_keys(catalog::Statements& statements, const Id& principal, TimeUs now_us) {
  return static_cast<uint64_t>(*statements.one(
      "SELECT count(*) FROM keys WHERE principal = $1 AND revoked_us IS NULL AND (expires_us IS NULL OR "
      "expires_us > $2)",
      {principal, now_us}, [](const catalog::Row& row) { return row.integer(0); }));
}

void Access::make_room_for_key(catalog::Tx& tx, const Id& principal) {
  uint64_t max = limits_of(tx, principal).keys_max.value_or(keys_max_);
  uint64_t valid = valid_keys(tx, principal, tx.now_us());
  if (valid >= max)
    throw Error(Code::quota_exceeded, "the principal has " + std::to_string(valid) +
                                          " valid keys, and the limit is " + std::to_string(max))
        .with("count", static_cast<int64_t>(valid))
        .with("limit", static_cast<int64_t>(max))
        .advise(Advice::revoke_some_keys);
  struct Old {
    Id id;
    uint64_t mark;
  };
  constexpr int64_t kAll = INT64_MAX;
  auto old = tx.all(
      "SELECT id, hash FROM keys WHERE principal = $1 AND (revoked_us IS NOT NULL OR expires_us <= $2) ORDER "
      "BY id DESC LIMIT $3 OFFSET $4",
      {principal, tx.now_us(), kAll, max},
      [](const catalog::Row& row) { return Old{row.id(0), mark_of(row.hash(1))}; });
  for (const Old& key : old) tx.exec("DELETE FROM keys WHERE id = $1", {key.id});
  if (old.empty()) return;
  tx.after_commit([this, old] {
    MutexLock lock(mutex_);
    for (const Old& key : old) marks_.erase(key.mark);
  });
}

MadeKey Access::create_key(const Actor& actor, const Id& principal, const NewKey& asked) {
  if (!actor.may_write()) throw Error(Code::forbidden, "a read-only key cannot create keys");
  if (principal != actor.principal() && !actor.is_admin())
    throw Error(Code::forbidden, "only an administrator's key may create keys for others");
  if (actor.only_workspace() && asked.only_workspace != actor.only_workspace())
    throw Error(Code::forbidden,
                "this key opens one workspace, so it can only create keys for that workspace")
        .with("workspace_id", actor.only_workspace()->with_prefix(prefix::workspace))
        .advise(Advice::narrow_new_key);
  NewKey wanted = asked;
  wanted.expires_us = expiry_under(actor, asked.expires_us);
  if (wanted.expires_us && *wanted.expires_us <= clock_.now_us())
    throw Error(Code::bad_request, "the key would expire in the past");
  check_display_name(wanted.name, "a key's name");
  MadeKey made;
  made.secret = make_secret();
  Id id = ids_.next();
  made.info = db_.write(catalog::Scope::installation(), [&](catalog::Tx& tx) {
    check_key(tx, actor, tx.now_us());
    if (!has_principal(tx, principal))
      throw Error(Code::not_found, "there is no such principal").advise(Advice::list_principals);
    // A key for a workspace that its principal cannot enter would be useless.
    if (wanted.only_workspace && !hooks_.is_member(tx, principal, *wanted.only_workspace))
      throw Error(Code::not_found, "the key's principal is not a member of that workspace")
          .advise(Advice::let_in_first);
    make_room_for_key(tx, principal);
    insert_key(tx, tx.now_us(), id, principal, made.secret, wanted);
    mark_after_commit(tx, made.secret);
    Json facts = {{"key_id", id.with_prefix(prefix::key)},
                  {"principal_id", principal.with_prefix(prefix::principal)},
                  {"read_only", wanted.read_only}};
    if (wanted.only_workspace) facts["workspace_id"] = wanted.only_workspace->with_prefix(prefix::workspace);
    if (wanted.expires_us) facts["expires_at"] = to_iso8601(*wanted.expires_us);
    hooks_.record(tx, actor, "key.create", facts, {{"name", wanted.name}});
    return *tx.one(
        "SELECT k.id, k.principal, p.name, k.name, k.hint, k.read_only, k.only_workspace, k.expires_us, "
        "k.revoked_us, k.last_used_us, "
        "k.created_us FROM keys k JOIN principals p ON p.id = k.principal WHERE k.id = $1",
        {id}, read_key);
  });
  return made;
}

std::vector<KeyInfo> Access::list_keys(const Actor& actor) {
  flush_last_use();
  auto keys = db_.read([&](catalog::Statements& statements) {
    return statements.all(
        "SELECT k.id, k.principal, p.name, k.name, k.hint, k.read_only, k.only_workspace, k.expires_us, "
        "k.revoked_us, k.last_used_us, "
        "k.created_us FROM keys k JOIN principals p ON p.id = k.principal WHERE $2 = 1 OR k.principal = $1 "
        "ORDER BY k.id",
        {actor.principal(), actor.is_admin() ? 1 : 0}, read_key);
  });
  if (actor.only_workspace())
    std::erase_if(keys, [&](const KeyInfo& key) { return key.only_workspace != actor.only_workspace(); });
  return keys;
}

void Access::revoke_key(const Actor& actor, const Id& key) {
  if (!actor.may_write()) throw Error(Code::forbidden, "a read-only key cannot revoke keys");
  db_.write(catalog::Scope::installation(), [&](catalog::Tx& tx) {
    check_key(tx, actor, tx.now_us());
    struct Found {
      Id principal;
      std::string name;
      bool revoked;
      std::optional<Id> workspace;
    };
    auto found = tx.one("SELECT principal, name, revoked_us, only_workspace FROM keys WHERE id = $1", {key},
                        [](const catalog::Row& row) {
                          return Found{row.id(0), row.str(1), !row.is_null(2),
                                       row.is_null(3) ? std::nullopt : std::optional(row.id(3))};
                        });
    bool visible = found && (actor.is_admin() ||
                             (found->principal == actor.principal() &&
                              (!actor.only_workspace() || found->workspace == actor.only_workspace())));
    if (!visible) throw Error(Code::not_found, "there is no such key").advise(Advice::list_keys);
    if (found->revoked) return;
    tx.exec("UPDATE keys SET revoked_us = $2 WHERE id = $1", {key, tx.now_us()});
    hooks_.record(tx, actor, "key.revoke", {{"key_id", key.with_prefix(prefix::key)}},
                  {{"name", found->name}});
    tx.after_commit([this, key] {
      forget_cached();
      hooks_.end_use(key);
    });
  });
}

void Access::forget_cached() {
  MutexLock lock(mutex_);
  cache_.clear();
  subjects_.clear();
  ++revocations_;
}

void Access::check_key(catalog::Statements& statements, const Actor& actor, TimeUs now_us) {
  struct Found {
    bool suspended, has_key;
  };
  auto found = statements.one(
      "SELECT p.suspended_us, k.id FROM principals p LEFT JOIN keys k ON k.id = $2 AND k.revoked_us IS NULL "
      "WHERE p.id = $1",
      {actor.principal(), actor.key()},
      [](const catalog::Row& row) { return Found{!row.is_null(0), !row.is_null(1)}; });
  if (found && found->suspended) throw suspended();
  if (!actor.key()) return;
  if (!found || !found->has_key) throw key_revoked();
  if (actor.expires_us() && *actor.expires_us() <= now_us) throw key_expired();
}

bool Access::has_principal(catalog::Statements& statements, const Id& principal) {
  return statements.query("SELECT 1 FROM principals WHERE id = $1", {principal},
                          [](const catalog::Row&) { return false; }) > 0;
}

void Access::flush_last_use() {
  std::unordered_map<Id, TimeUs> uses;
  {
    MutexLock lock(mutex_);
    uses.swap(last_use_us_);
  }
  if (uses.empty()) return;
  db_.write(catalog::Scope::shared(), [&](catalog::Tx& tx) {
    for (const auto& [key, time_us] : uses)
      tx.exec("UPDATE keys SET last_used_us = $2 WHERE id = $1", {key, time_us});
  });
}

}  // namespace sk::identity
