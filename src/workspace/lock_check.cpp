#include "workspace/lock_check.h"

#include "base/path.h"
#include "workspace/change_run.h"

namespace sk::workspace {

namespace {

bool in_the_way(const Lock& lock, std::string_view path, Touches touches) {
  if (lock.path == path || (lock.deep && is_within(path, lock.path))) return true;
  if (touches == Touches::content) return false;
  // A lock on a folder also protects the set of its members.
  if (lock.path == split_path(path).first && !path.empty()) return true;
  return touches == Touches::subtree && is_within(lock.path, path);
}

bool opened_by(const Lock& lock, const std::vector<Sha256>& tokens) {
  for (const auto& token : tokens)
    if (equal_constant_time(lock.token, as_text(token.bytes))) return true;
  return false;
}

void check_tokens(const std::vector<Lock>& locks, const std::vector<Sha256>& tokens) {
  for (const auto& token : tokens) {
    bool known = false;
    for (const auto& lock : locks) known = known || equal_constant_time(lock.token, as_text(token.bytes));
    if (!known)
      throw Error(Code::precondition_failed,
                  "a lock token is no longer valid: the lock expired, was released or was broken")
          .advise(Advice::lock_again_and_read);
  }
}

// Returns the greatest deep fence of the folders above `path`.
int64_t fence_above(catalog::Statements& statements, const Id& workspace, std::string_view path) {
  int64_t latest = 0;
  for (std::string at(path); !at.empty();) {
    at = split_path(at).first;
    statements.query("SELECT deep_fence FROM fences WHERE workspace = $1 AND path = $2", {workspace, at},
                     [&](const catalog::Row& row) {
                       latest = std::max(latest, row.integer(0));
                       return false;
                     });
  }
  return latest;
}

int64_t fence_at(catalog::Statements& statements, const Id& workspace, std::string_view path) {
  return statements
      .one("SELECT fence FROM fences WHERE workspace = $1 AND path = $2", {workspace, path},
           [](const catalog::Row& row) { return row.integer(0); })
      .value_or(0);
}

int64_t fence_below(catalog::Statements& statements, const Id& workspace, std::string_view path) {
  auto take = [](const catalog::Row& row) { return row.maybe_integer(0).value_or(0); };
  if (path.empty())
    return *statements.one("SELECT max(fence) FROM fences WHERE workspace = $1", {workspace}, take);
  Below range(path);
  return *statements.one("SELECT max(fence) FROM fences WHERE workspace = $1 AND path >= $2 AND path < $3",
                         {workspace, range.from, range.to}, take);
}

// Considers the same locks as in_the_way(), including those that ended long ago.
void check_fence(catalog::Statements& statements, const Id& workspace, std::string_view path, Touches touches,
                 int64_t fence) {
  int64_t latest = std::max(fence_at(statements, workspace, path), fence_above(statements, workspace, path));
  if (touches != Touches::content && !path.empty())
    latest = std::max(latest, fence_at(statements, workspace, split_path(path).first));
  if (touches == Touches::subtree) latest = std::max(latest, fence_below(statements, workspace, path));
  if (fence < latest)
    throw Error(Code::precondition_failed, "the fencing number " + std::to_string(fence) +
                                               " is stale: a later lock had " + std::to_string(latest))
        .advise(Advice::lock_again_and_read)
        .with("current_fence", latest);
}

}  // namespace

std::vector<Lock> live_locks(catalog::Statements& statements, const Id& workspace, TimeUs now_us) {
  return statements.all(
      "SELECT l.id, l.path, l.deep, l.shared, l.token_hash, l.owner, p.name, l.purpose, l.fence, "
      "l.created_us, l.expires_us "
      "FROM locks l LEFT JOIN principals p ON p.id = l.owner WHERE l.workspace = $1 AND l.expires_us > $2 "
      "ORDER BY l.path",
      {workspace, now_us}, [&](const catalog::Row& row) {
        Lock lock;
        lock.id = row.id(0);
        lock.workspace = workspace;
        lock.path = row.str(1);
        lock.deep = row.integer(2) != 0;
        lock.shared = row.integer(3) != 0;
        lock.token = row.str(4);
        lock.owner = row.id(5);
        lock.owner_name = row.str(6);
        lock.purpose = row.str(7);
        lock.fence = row.integer(8);
        lock.created_us = row.integer(9);
        lock.expires_us = row.integer(10);
        return lock;
      });
}

void LockCheck::check(std::string_view path, Touches touches, const Conditions& conditions) {
  if (conditions.fence) check_fence(statements_, workspace_, path, touches, *conditions.fence);
  if (!live_) live_ = live_locks(statements_, workspace_, now_us_);
  const auto& locks = *live_;
  if (locks.empty() && conditions.lock_tokens.empty()) return;
  std::vector<Sha256> tokens;
  for (const auto& token : conditions.lock_tokens) tokens.push_back(sha256(token));
  check_tokens(locks, tokens);
  // Each exclusive lock needs its own token; one token is enough for all shared locks on a path.
  for (const auto& lock : locks) {
    if (!in_the_way(lock, path, touches) || opened_by(lock, tokens)) continue;
    bool shared_and_held = false;
    for (const auto& other : locks)
      shared_and_held = shared_and_held ||
                        (lock.shared && other.shared && other.path == lock.path && opened_by(other, tokens));
    if (!shared_and_held) throw locked_error(lock);
  }
}

void carry_fences(catalog::Tx& tx, const Id& workspace, std::string_view from, std::string_view to) {
  if (from == to) return;
  bool any = tx.query("SELECT 1 FROM fences WHERE workspace = $1 LIMIT 1", {workspace},
                      [](const catalog::Row&) { return false; }) > 0;
  if (!any) return;
#define SK_GREATER_FENCES                                                                         \
  " ON CONFLICT (workspace, path) DO UPDATE SET "                                                 \
  "fence = CASE WHEN excluded.fence > fences.fence THEN excluded.fence ELSE fences.fence END, "   \
  "deep_fence = CASE WHEN excluded.deep_fence > fences.deep_fence THEN excluded.deep_fence ELSE " \
  "fences.deep_fence END"
  int64_t above = fence_above(tx, workspace, from);
  Below range(from);
  tx.exec(
      "INSERT INTO fences (workspace, path, fence, deep_fence) "
      "SELECT workspace, $5 || substr(path, length($2) + 1), fence, deep_fence FROM fences "
      "WHERE workspace = $1 AND (path = $2 OR (path >= $3 AND path < $4))" SK_GREATER_FENCES,
      {workspace, range.exact, range.from, range.to, to});
  if (above > 0)
    tx.exec(
        "INSERT INTO fences (workspace, path, fence, deep_fence) VALUES ($1, $2, $3, $3)" SK_GREATER_FENCES,
        {workspace, to, above});
#undef SK_GREATER_FENCES
}

Error locked_error(const Lock& lock) {
  Sentence what = lock.path.empty() ? Sentence("the whole workspace") : quoted_path(lock.path);
  Error error(Code::locked, what + " is locked by " + lock.owner_name + " until " +
                                to_iso8601(lock.expires_us) +
                                (lock.purpose.empty() ? "" : " (" + lock.purpose + ")"));
  error.with("lock_id", lock.id.with_prefix(prefix::lock));
  error.with_paths("locked_path", Sentence::of_path(lock.path));
  error.with("holder", lock.owner_name);
  error.with("purpose", lock.purpose);
  error.with("expires_at", to_iso8601(lock.expires_us));
  return error;
}

}  // namespace sk::workspace
