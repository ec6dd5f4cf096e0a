#include "workspace/locks.h"

#include <algorithm>

#include "base/error.h"
#include "base/path.h"
#include "workspace/journal.h"
#include "workspace/lock_check.h"
#include "workspace/usage.h"

namespace sk::workspace {

namespace {

int64_t checked_ttl(const KeepContext& context, int64_t ttl_s) {
  const auto& limits = context.limits;
  if (ttl_s >= limits.lock_ttl_min_s && ttl_s <= limits.lock_ttl_max_s) return ttl_s;
  Error error(Code::bad_request,
              "the lifetime of a lock must be between " + std::to_string(limits.lock_ttl_min_s) + " and " +
                  std::to_string(limits.lock_ttl_max_s) + " seconds, not " + std::to_string(ttl_s));
  error.with("field", "ttl_s");
  if (ttl_s > limits.lock_ttl_max_s) error.advise(Advice::lock_for_less);
  throw error;
}

bool overlap(const Lock& held, const std::string& path, bool deep) {
  return held.path == path || (held.deep && is_within(path, held.path)) ||
         (deep && is_within(held.path, path));
}

Json lock_facts(const Lock& lock) {
  return {{"lock_id", lock.id.with_prefix(prefix::lock)},
          {"fence", lock.fence},
          {"shared", lock.shared},
          {"deep", lock.deep},
          {"expires_at", to_iso8601(lock.expires_us)}};
}

// Returns the live lock with this token, or nullopt if there is none within the authority's scope.
std::optional<Lock> find_by_token(catalog::Statements& statements, const Authority& authority, TimeUs now_us,
                                  const std::string& token) {
  std::string hash = sha256(token).raw();
  for (auto& lock : live_locks(statements, authority.workspace_id(), now_us))
    if (authority.covers(lock.path) && equal_constant_time(lock.token, hash)) {
      lock.token = token;
      return lock;
    }
  return std::nullopt;
}

Error no_such_lock(Advice advice) {
  return Error(Code::not_found, "no lock has this token: it expired, was released or was broken")
      .advise(advice);
}

}  // namespace

Locks::Attempt Locks::try_acquire(const Authority& authority, const LockWanted& wanted) {
  authority.need_in_scope(Right::write);
  std::string path = clean_path(wanted.path);
  authority.need_at(Right::write, path);
  int64_t ttl_s = checked_ttl(context_, wanted.ttl_s);
  if (wanted.purpose.size() > 500 || !is_utf8(wanted.purpose))
    throw Error(Code::bad_request, "purpose must be at most 500 bytes of text");
  return context_.db.write(authority.scope(), [&](catalog::Tx& tx) {
    check_still_holds(tx, authority, Right::write);
    TimeUs now_us = tx.now_us();
    Attempt attempt;
    auto held = live_locks(tx, authority.workspace_id(), now_us);
    if (held.size() >= context_.limits.locks_per_workspace_max)
      throw Error(Code::too_many_requests, "the workspace has too many locks")
          .retry_in(seconds_until(std::ranges::min(held, {}, &Lock::expires_us).expires_us, now_us));
    check_room_for_records(tx, context_, authority.workspace_id());
    for (auto& lock : held) {
      if (!overlap(lock, path, wanted.deep) || (lock.shared && wanted.shared)) continue;
      lock.token.clear();
      attempt.in_the_way = lock;
      return attempt;
    }
    Lock lock;
    lock.id = context_.ids.next();
    lock.workspace = authority.workspace_id();
    lock.path = path;
    lock.deep = wanted.deep;
    lock.shared = wanted.shared;
    lock.owner = authority.author().principal;
    lock.owner_name = authority.author().name;
    lock.purpose = wanted.purpose;
    lock.created_us = now_us;
    lock.expires_us = now_us + ttl_s * kSecondUs;
    lock.token = "lt_" + random_base64url(24);
    lock.fence =
        *tx.one("UPDATE workspaces SET next_fence = next_fence + 1 WHERE id = $1 RETURNING next_fence - 1",
                {authority.workspace_id()}, [](const catalog::Row& row) { return row.integer(0); });
    tx.exec(
        "INSERT INTO locks (id, workspace, path, deep, shared, token_hash, owner, purpose, fence, "
        "created_us, expires_us) "
        "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        {lock.id, authority.workspace_id(), path, lock.deep ? 1 : 0, lock.shared ? 1 : 0, sha256(lock.token),
         lock.owner, lock.purpose, lock.fence, lock.created_us, lock.expires_us});
    tx.exec(
        "INSERT INTO fences (workspace, path, fence, deep_fence) VALUES ($1, $2, $3, $4) ON CONFLICT "
        "(workspace, path) DO UPDATE SET "
        "fence = excluded.fence, deep_fence = CASE WHEN excluded.deep_fence > 0 THEN excluded.deep_fence "
        "ELSE fences.deep_fence END",
        {authority.workspace_id(), path, lock.fence, lock.deep ? lock.fence : 0});
    Journal::append(tx, context_, authority.workspace_id(), authority.author(), "lock.acquire",
                    lock_facts(lock), {{"path", path}, {"purpose", lock.purpose}});
    attempt.lock = lock;
    return attempt;
  });
}

Lock Locks::acquire(const Authority& authority, const LockWanted& wanted) {
  auto attempt = try_acquire(authority, wanted);
  if (!attempt.lock) throw locked_error(*attempt.in_the_way).advise(Advice::wait_to_acquire);
  return *attempt.lock;
}

Lock Locks::renew(const Authority& authority, const std::string& token, int64_t ttl_s) {
  authority.need_in_scope(Right::write);
  checked_ttl(context_, ttl_s);
  return context_.db.write(authority.scope(), [&](catalog::Tx& tx) {
    check_still_holds(tx, authority, Right::write);
    TimeUs now_us = tx.now_us();
    auto lock = find_by_token(tx, authority, now_us, token);
    if (!lock) throw no_such_lock(Advice::lock_again);
    check_room_for_records(tx, context_, authority.workspace_id());
    lock->expires_us = now_us + ttl_s * kSecondUs;
    tx.exec("UPDATE locks SET expires_us = $2 WHERE id = $1", {lock->id, lock->expires_us});
    Journal::append(tx, context_, authority.workspace_id(), authority.author(), "lock.renew",
                    lock_facts(*lock), {{"path", lock->path}});
    return *lock;
  });
}

void Locks::release(const Authority& authority, const std::string& token) {
  authority.need_in_scope(Right::write);
  context_.db.write(authority.scope(), [&](catalog::Tx& tx) {
    check_still_holds(tx, authority, Right::write);
    auto lock = find_by_token(tx, authority, tx.now_us(), token);
    if (!lock) throw no_such_lock(Advice::release_nothing);
    tx.exec("DELETE FROM locks WHERE id = $1", {lock->id});
    Journal::append(tx, context_, authority.workspace_id(), authority.author(), "lock.release",
                    lock_facts(*lock), {{"path", lock->path}});
  });
}

void Locks::break_lock(const Authority& authority, const Id& id) {
  authority.need_in_scope(Right::own);
  context_.db.write(authority.scope(), [&](catalog::Tx& tx) {
    check_still_holds(tx, authority, Right::own);
    for (const auto& lock : live_locks(tx, authority.workspace_id(), tx.now_us())) {
      if (lock.id != id || !authority.covers(lock.path)) continue;
      tx.exec("DELETE FROM locks WHERE id = $1", {id});
      Json facts = lock_facts(lock);
      facts["owner_id"] = lock.owner.with_prefix(prefix::principal);
      Journal::append(tx, context_, authority.workspace_id(), authority.author(), "lock.break", facts,
                      {{"path", lock.path}, {"owner", lock.owner_name}});
      return;
    }
    throw Error(Code::not_found, "there is no lock " + id.with_prefix(prefix::lock))
        .advise(Advice::list_locks);
  });
}

std::vector<Lock> Locks::list(const Authority& authority, std::string_view below) {
  authority.need_in_scope(Right::read);
  std::string folder = clean_path(below);
  auto locks = context_.db.read([&](catalog::Statements& statements) {
    return live_locks(statements, authority.workspace_id(), context_.clock.now_us());
  });
  std::erase_if(
      locks, [&](const Lock& lock) { return !is_within(lock.path, folder) || !authority.covers(lock.path); });
  for (Lock& lock : locks) lock.token.clear();
  return locks;
}

size_t Locks::expire() {
  TimeUs now_us = context_.clock.now_us();
  struct Expired {
    Id id, owner;
    std::string path, owner_name;
    int64_t fence;
  };
  auto workspaces = context_.db.read([&](catalog::Statements& statements) {
    return statements.all("SELECT DISTINCT workspace FROM locks WHERE expires_us <= $1", {now_us},
                          [](const catalog::Row& row) { return row.id(0); });
  });
  size_t count = 0;
  for (const Id& workspace : workspaces)
    count += context_.db.write(catalog::Scope::workspace(workspace), [&](catalog::Tx& tx) {
      auto expired = tx.all(
          "SELECT l.id, l.owner, l.path, p.name, l.fence FROM locks l LEFT JOIN principals p ON p.id = "
          "l.owner WHERE l.workspace = $1 AND l.expires_us <= $2",
          {workspace, now_us}, [](const catalog::Row& row) {
            return Expired{row.id(0), row.id(1), row.str(2), row.str(3), row.integer(4)};
          });
      for (const auto& lock : expired) {
        tx.exec("DELETE FROM locks WHERE id = $1", {lock.id});
        Journal::append(tx, context_, workspace, Author(lock.owner, lock.owner_name), "lock.expire",
                        {{"lock_id", lock.id.with_prefix(prefix::lock)}, {"fence", lock.fence}},
                        {{"path", lock.path}});
      }
      return expired.size();
    });
  return count;
}

}  // namespace sk::workspace
