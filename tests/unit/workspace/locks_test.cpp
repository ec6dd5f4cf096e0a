#include "keep_fixture.h"
#include "workspace/change_run.h"

namespace sk::workspace {
namespace {

// Counts the statements that ask about locks and fences.
class Counting final : public catalog::Tx {
 public:
  explicit Counting(catalog::Tx& tx) : catalog::Tx(tx.now_us(), tx.change_us()), tx_(tx) {}
  size_t query(catalog::Sql sql, std::initializer_list<catalog::Param> params, const OnRow& on_row) override {
    count(sql.text());
    return tx_.query(sql, params, on_row);
  }
  size_t exec(catalog::Sql sql, std::initializer_list<catalog::Param> params) override {
    count(sql.text());
    return tx_.exec(sql, params);
  }
  void attempt(const std::function<void()>& part) override { tx_.attempt(part); }
  void after_commit(std::function<void()> action) override { tx_.after_commit(std::move(action)); }

  int about_locks = 0;

 private:
  void count(std::string_view sql) {
    about_locks += sql.find(" locks ") != sql.npos || sql.find(" fences ") != sql.npos;
  }
  catalog::Tx& tx_;
};

class LocksTest : public KeepTest {
 protected:
  Lock lock(std::string path, bool shared = false, bool deep = true) {
    LockWanted wanted;
    wanted.path = std::move(path);
    wanted.shared = shared;
    wanted.deep = deep;
    wanted.purpose = "testing";
    return keep->locks().acquire(ws, wanted);
  }
  static Conditions with(const Lock& lock) {
    Conditions conditions;
    conditions.lock_tokens = {lock.token};
    return conditions;
  }
};

TEST_F(LocksTest, WithoutTheTokenEveryKindOfWriteIsRefused) {
  put("d/a", "1");
  auto version = put("d/a", "2").version->id;
  auto first = keep->files().versions(ws, keep->files().get(ws, "d/a").id, "", 10).items.back().id;
  put("other", "x");
  Lock held = lock("d/a");
  EXPECT_EQ(code_of([&] { put("d/a", "3"); }), Code::locked);
  EXPECT_EQ(code_of([&] { apply(MoveChange{"d/a", "e", OnExisting::refuse, {}}); }), Code::locked);
  EXPECT_EQ(code_of([&] { apply(MoveChange{"d", "e", OnExisting::refuse, {}}); }), Code::locked);
  EXPECT_EQ(code_of([&] { apply(MoveChange{"other", "d/a", OnExisting::replace, {}}); }), Code::locked);
  EXPECT_EQ(code_of([&] { apply(CopyChange{"other", {}, "d/a", OnExisting::replace, {}, {}}); }),
            Code::locked);
  EXPECT_EQ(code_of([&] { apply(TrashChange{"d/a", {}}); }), Code::locked);
  EXPECT_EQ(code_of([&] { apply(TrashChange{"d", {}}); }), Code::locked);
  EXPECT_EQ(code_of([&] { apply(RestoreVersionChange{first, {}}); }), Code::locked);
  EXPECT_EQ(code_of([&] { apply(SetModeChange{"d/a", 0600, {}, {}}); }), Code::locked);
  EXPECT_EQ(code_of([&] { keep->files().restore_as_of(ws, "", clock.now_us(), false); }), Code::locked);
  EXPECT_EQ(keep->files().get(ws, "d/a").head, version);
  keep->files().restore_as_of(ws, "", clock.now_us(), false, with(held));
  put("d/a", "3", with(held));
  put("d/b", "beside it");
}

TEST_F(LocksTest, ADeepLockOnAFolderGuardsWhatIsNotThereYet) {
  Lock held = lock("future/folder");
  EXPECT_EQ(code_of([&] { put("future/folder/x/y", "1"); }), Code::locked);
  EXPECT_EQ(code_of([&] { apply(MkdirChange{"future/folder", {}, {}, true}); }), Code::locked);
  put("future/beside", "1");
  put("future/folder/x/y", "1", with(held));
  // And what is there by now, however deep.
  EXPECT_EQ(code_of([&] { put("future/folder/x/y", "2"); }), Code::locked);
  EXPECT_EQ(code_of([&] { apply(TrashChange{"future/folder/x/y", {}}); }), Code::locked);
}

TEST_F(LocksTest, SharedLocksCoexistButNotWithAnExclusiveOne) {
  Lock one = lock("a", true), two = lock("a", true);
  EXPECT_EQ(code_of([&] { lock("a"); }), Code::locked);
  put("a", "x", with(two));
  EXPECT_EQ(code_of([&] { put("a", "y"); }), Code::locked);
  keep->locks().release(ws, one.token);
  keep->locks().release(ws, two.token);
  lock("a");
}

TEST_F(LocksTest, ALockRunsOutAndAStaleTokenOrFenceIsRefused) {
  put("a", "x");
  Lock old = lock("a");
  clock.advance_us(301 * kSecondUs);
  EXPECT_EQ(keep->locks().expire(), 1u);
  Lock next = lock("a");
  EXPECT_GT(next.fence, old.fence);
  keep->locks().release(ws, next.token);
  EXPECT_EQ(code_of([&] { put("a", "y", with(old)); }), Code::precondition_failed);
  Conditions fenced;
  fenced.fence = old.fence;
  EXPECT_EQ(code_of([&] { put("a", "y", fenced); }), Code::precondition_failed);
  fenced.fence = next.fence;
  put("a", "y", fenced);
}

TEST_F(LocksTest, AnExpiredLockDoesNotHoldEvenBeforeItsRowIsDeleted) {
  put("a", "x");
  Lock old = lock("a");
  clock.advance_us(301 * kSecondUs);
  EXPECT_TRUE(keep->locks().list(ws).empty());
  EXPECT_EQ(code_of([&] { keep->locks().renew(ws, old.token, 300); }), Code::not_found);
  EXPECT_EQ(code_of([&] { put("a", "y", with(old)); }), Code::precondition_failed);
  put("a", "y");
  EXPECT_GT(lock("a").fence, old.fence);
}

TEST_F(LocksTest, TheFenceOfADeepLockCoversWhatLiesBelow) {
  Lock deep = lock("d");
  keep->locks().release(ws, deep.token);
  Conditions fenced;
  fenced.fence = deep.fence - 1;
  EXPECT_EQ(code_of([&] { put("d/x/y", "1", fenced); }), Code::precondition_failed);
}

TEST_F(LocksTest, RenewExtendsALockAndTheOwnerBreaksIt) {
  Lock held = lock("a");
  clock.advance_us(200 * kSecondUs);
  keep->locks().renew(ws, held.token, 300);
  clock.advance_us(200 * kSecondUs);
  EXPECT_EQ(code_of([&] { lock("a"); }), Code::locked);
  keep->locks().break_lock(ws, held.id);
  lock("a");
  EXPECT_EQ(code_of([&] { keep->locks().renew(ws, held.token, 300); }), Code::not_found);
}

TEST_F(LocksTest, TimesOutsideTheLimitsAreRefused) {
  LockWanted wanted;
  wanted.path = "a";
  for (int64_t ttl : {0, 59, 3601, -5}) {
    wanted.ttl_s = ttl;
    EXPECT_EQ(code_of([&] { keep->locks().acquire(ws, wanted); }), Code::bad_request);
    EXPECT_EQ(last_error->advice(), ttl > 3600 ? Advice::lock_for_less : Advice::correct_request) << ttl;
  }
}

TEST_F(LocksTest, TheAdviceFitsTheActThatFailed) {
  put("a", "1");
  Lock held = lock("a");
  code_of([&] { put("a", "2"); });
  EXPECT_EQ(last_error->advice(), Advice::wait_for_lock);
  code_of([&] { lock("a"); });
  EXPECT_EQ(last_error->advice(), Advice::wait_to_acquire);
  keep->locks().release(ws, held.token);
  code_of([&] { keep->locks().release(ws, held.token); });
  EXPECT_EQ(last_error->advice(), Advice::release_nothing);
  code_of([&] { keep->locks().renew(ws, held.token, 300); });
  EXPECT_EQ(last_error->advice(), Advice::lock_again);
}

TEST_F(LocksTest, ALockIsNotRenewedBeyondTheLimit) {
  Lock held = lock("a");
  for (int64_t ttl : {0, 59, 3601, 1'000'000}) {
    EXPECT_EQ(code_of([&] { keep->locks().renew(ws, held.token, ttl); }), Code::bad_request) << ttl;
    auto held_now = keep->locks().list(ws);
    ASSERT_EQ(held_now.size(), 1u);
    EXPECT_EQ(held_now[0].expires_us, held.expires_us);
  }
  // However often it is renewed, it ends at most the limit after the last time.
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(keep->locks().renew(ws, held.token, 3600).expires_us, clock.now_us() + 3600 * kSecondUs);
  clock.advance_us(3600 * kSecondUs);
  EXPECT_EQ(code_of([&] { keep->locks().renew(ws, held.token, 3600); }), Code::not_found);
  lock("a");
}

TEST_F(LocksTest, AnExpiryThatARenewalOvertakesDoesNothing) {
  Lock held = lock("a");
  clock.advance_us(299 * kSecondUs);
  keep->locks().renew(ws, held.token, 300);
  clock.advance_us(2 * kSecondUs);
  EXPECT_EQ(keep->locks().expire(), 0u);
  EXPECT_EQ(keep->locks().list(ws).size(), 1u);
  // Nor does it go with another one that did run out.
  clock.advance_us(200 * kSecondUs);
  lock("b");
  keep->locks().renew(ws, held.token, 600);
  clock.advance_us(301 * kSecondUs);
  EXPECT_EQ(keep->locks().expire(), 1u);
  ASSERT_EQ(keep->locks().list(ws).size(), 1u);
  EXPECT_EQ(keep->locks().list(ws)[0].id, held.id);
  clock.advance_us(300 * kSecondUs);
  EXPECT_EQ(keep->locks().expire(), 1u);
  EXPECT_EQ(keep->locks().expire(), 0u);
}

TEST_F(LocksTest, ACaptureOnALockedPathIsKeptAside) {
  auto first = put("a", "x");
  lock("a");
  PutChange change = put_change("a", "captured");
  change.keep_when_locked = true;
  auto result = apply(std::move(change));
  EXPECT_TRUE(result.kept_aside);
  EXPECT_EQ(keep->files().get(ws, "a").head, first.version->id);
  EXPECT_EQ(bytes_of(*keep->files().find_version_anywhere(result.version->id)), "captured");
  expect_clean();
}

TEST_F(LocksTest, ACaptureOfWhatIsNotThereYetIsKeptInTheTrash) {
  Lock held = lock("d", false, false);
  for (const char* path : {"d/new", "d/folder/new"}) {
    PutChange change = put_change(path, path);
    change.keep_when_locked = true;
    auto again = change;
    auto result = apply(std::move(change));
    EXPECT_TRUE(result.kept_aside && result.created && result.entry.trashed_us);
    EXPECT_EQ(bytes_of(*keep->files().find_version_anywhere(result.version->id)), path);
    auto same = apply(std::move(again));
    EXPECT_TRUE(same.kept_aside && same.unchanged);
    EXPECT_EQ(same.version->id, result.version->id);
    EXPECT_EQ(paths(), std::vector<std::string>{});
    expect_clean();
  }
  keep->locks().release(ws, held.token);
  auto trash = keep->files().trash(ws, "", 10).items;
  ASSERT_EQ(trash.size(), 2u);
  keep->files().restore(ws, trash[0].id, OnExisting::refuse);
  EXPECT_EQ(bytes_at("d/folder/new"), "d/folder/new");
  expect_clean();
}

TEST_F(LocksTest, ABatchReadsTheLocksOnceAndAPutWithoutLocksAsksNothingMore) {
  put("d/a", "1");
  auto statements = [&](std::vector<Change> changes) {
    return keep->context().db.write(ws.scope(), [&](catalog::Tx& tx) {
      Counting counting(tx);
      ChangeRun run(counting, keep->context(), actor, ws.workspace_id());
      for (auto& change : changes) run.run(change);
      return counting.about_locks;
    });
  };
  EXPECT_EQ(statements({put_change("d/new", "x")}), 1);
  EXPECT_EQ(statements({put_change("e/f/g/new", "x")}), 1);
  EXPECT_EQ(statements({put_change("d/a", "2"), put_change("d/a", "3"), put_change("h/i/j", "x")}), 1);
  EXPECT_EQ(statements({MoveChange{"d/a", "d/b", OnExisting::refuse, {}}}), 2);
}

TEST_F(LocksTest, FencesGoWithAFolderAndNeverFall) {
  put("d/s/x", "1");
  auto fence_of = [&](std::string path, bool deep = true) {
    Lock held = lock(std::move(path), false, deep);
    keep->locks().release(ws, held.token);
    Conditions conditions;
    conditions.fence = held.fence;
    return conditions;
  };
  auto inner = fence_of("d/s/x"), outer = fence_of("d"), later = fence_of("e/s/x"), last = fence_of("z");
  apply(MoveChange{"d", "e", OnExisting::refuse, {}});
  for (const auto& stale : {inner, outer})
    EXPECT_EQ(code_of([&] { put("e/s/x", "2", stale); }), Code::precondition_failed);
  put("e/s/x", "2", later);
  EXPECT_EQ(code_of([&] { put("e/new", "2", inner); }), Code::precondition_failed);
  put("e/new", "2", outer);
  apply(MoveChange{"e", "d", OnExisting::refuse, last});
  EXPECT_EQ(code_of([&] { put("d/s/x", "3", outer); }), Code::precondition_failed);
  put("d/s/x", "3", later);
}

TEST_F(LocksTest, TheFenceOfTheFolderAboveGoesWithWhatLeavesIt) {
  put("d/x", "1");
  auto fence_of = [&](std::string path) {
    Lock held = lock(std::move(path));
    keep->locks().release(ws, held.token);
    Conditions conditions;
    conditions.fence = held.fence;
    return conditions;
  };
  auto early = fence_of("elsewhere"), deep = fence_of("d");
  apply(MoveChange{"d/x", "y", OnExisting::refuse, {}});
  EXPECT_EQ(code_of([&] { put("y", "2", early); }), Code::precondition_failed);
  put("y", "2", deep);
}

TEST_F(LocksTest, AtTheLimitTheTimeUntilTheFirstLockExpiresIsTold) {
  limits.locks_per_workspace_max = 2;
  reopen();
  LockWanted wanted;
  for (auto [path, ttl_s] : {std::pair("a", 300), std::pair("b", 90)}) {
    wanted.path = path;
    wanted.ttl_s = ttl_s;
    keep->locks().acquire(ws, wanted);
  }
  clock.advance_us(20 * kSecondUs + kSecondUs / 2);
  EXPECT_EQ(code_of([&] { lock("c"); }), Code::too_many_requests);
  EXPECT_EQ(last_error->retry_after_s(), 70);
  clock.advance_us(70 * kSecondUs);
  EXPECT_NO_THROW(lock("c"));
}

TEST_F(LocksTest, EveryActOfALockIsInTheJournal) {
  Lock held = lock("a");
  keep->locks().renew(ws, held.token, 60);
  keep->locks().release(ws, held.token);
  Lock second = lock("a");
  keep->locks().break_lock(ws, second.id);
  EventFilter filter;
  filter.kinds = {"lock.*"};
  std::vector<std::string> kinds;
  for (const auto& entry : keep->journal().events(ws, 0, 100, filter).items) kinds.push_back(entry.kind);
  EXPECT_EQ(kinds, (std::vector<std::string>{"lock.acquire", "lock.renew", "lock.release", "lock.acquire",
                                             "lock.break"}));
}

}  // namespace
}  // namespace sk::workspace
