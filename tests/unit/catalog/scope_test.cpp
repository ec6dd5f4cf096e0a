// Scopes of writes, and closures that run again.
#include "catalog/scope.h"

#include <gtest/gtest.h>

#include <set>

#include "catalog/scope_check.h"
#include "unit/catalog/support.h"

namespace sk::catalog::test {
namespace {

class ScopeTest : public testing::Test {
 protected:
  static Id id_of(int number) {
    Id id;
    id.bytes[15] = static_cast<std::byte>(number);
    return id;
  }
  static void insert_workspace(Tx& tx, const Id& id) {
    tx.exec(
        "INSERT INTO workspaces (id, name, owner, quota_bytes, used_bytes, next_fence, link_secret, "
        "created_us) VALUES ($1, $2, $1, 0, 0, 1, $1, 0)",
        {id, id.hex()});
  }
  static void insert_fence(Tx& tx, const Id& workspace) {
    tx.exec("INSERT INTO fences (workspace, path, fence, deep_fence) VALUES ($1, 'a', 1, 0)", {workspace});
  }
  static void insert_session(Tx& tx, const Id& id, const Id& workspace) {
    tx.exec(
        "INSERT INTO sessions (id, workspace, folder, name, owner, memory_bytes, timeout_s, idle_s, runtime, "
        "environment, labels, execution_count, dirty, copy_identity, synced_seq, created_us, active_us) "
        "VALUES ($1, $2, '', '', $1, 0, 0, 0, '', '', '', 0, 0, '', 0, 0, 0)",
        {id, workspace});
  }
  static void insert_manifest_row(Tx& tx, const Id& session) {
    tx.exec(
        "INSERT INTO manifests (session, path, kind, file, device, inode, size, mtime_ns, ctime_ns, mode, "
        "seen_us) VALUES ($1, $1, 0, $1, 0, 0, 0, 0, 0, 0, 0)",
        {session});
  }
  int64_t fences() {
    return *db->read([](Statements& s) {
      return s.one("SELECT count(*) FROM fences", {}, [](const Row& row) { return row.integer(0); });
    });
  }

  TempDir dir;
  std::unique_ptr<Database> db = open_sqlite(dir.file("catalog.db"), {.strict_writes = true});
};

TEST_F(ScopeTest, EveryTableHasAnOwner) {
  std::set<std::string> there, known;
  db->read([&](Statements& s) {
    s.query("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'", {},
            [&](const Row& row) { return there.insert(row.str(0)).second; });
  });
  for (const auto& owner : table_owners()) known.insert(owner.table);
  EXPECT_EQ(known, there);
}

TEST_F(ScopeTest, AWriteOfAWorkspacesRowsUnderAnotherScopeFailsAndLeavesNothing) {
  for (const Scope& scope : {Scope::workspace(id_of(2)), Scope::installation(), Scope::shared()})
    EXPECT_THROW(db->write(scope, [&](Tx& tx) { insert_fence(tx, id_of(1)); }), Error);
  EXPECT_EQ(fences(), 0);
  db->write(Scope::workspace(id_of(1)), [&](Tx& tx) { insert_fence(tx, id_of(1)); });
  db->write(Scope::installation_and(id_of(2)), [&](Tx& tx) { insert_fence(tx, id_of(2)); });
  EXPECT_EQ(fences(), 2);
  EXPECT_THROW(
      db->write(Scope::workspace(id_of(2)), [&](Tx& tx) { tx.exec("UPDATE fences SET fence = 2", {}); }),
      Error);
  EXPECT_THROW(db->write(Scope::workspace(id_of(2)), [&](Tx& tx) { tx.exec("DELETE FROM fences", {}); }),
               Error);
  EXPECT_EQ(fences(), 2);
}

TEST_F(ScopeTest, AClosureCannotSwallowTheReport) {
  EXPECT_THROW(db->write(Scope::shared(),
                         [&](Tx& tx) {
                           try {
                             insert_fence(tx, id_of(1));
                           } catch (const Error&) {
                           }
                         }),
               Error);
}

TEST_F(ScopeTest, RowsOfASessionBelongToItsWorkspace) {
  db->write(Scope::workspace(id_of(1)), [&](Tx& tx) { insert_session(tx, id_of(9), id_of(1)); });
  EXPECT_THROW(db->write(Scope::workspace(id_of(2)), [&](Tx& tx) { insert_manifest_row(tx, id_of(9)); }),
               Error);
  db->write(Scope::workspace(id_of(1)), [&](Tx& tx) { insert_manifest_row(tx, id_of(9)); });
}

TEST_F(ScopeTest, TheInstallationCreatesWorkspacesWithTheirRows) {
  auto create = [](Tx& tx) {
    insert_workspace(tx, id_of(1));
    insert_fence(tx, id_of(1));
  };
  EXPECT_THROW(db->write(Scope::workspace(id_of(1)), create), Error);
  db->write(Scope::installation(), create);
  EXPECT_THROW(db->write(Scope::installation(), [](Tx& tx) { tx.exec("DELETE FROM fences", {}); }), Error);
}

TEST_F(ScopeTest, AStrictClosureRunsTwiceAndCommitsOnce) {
  int runs = 0, actions = 0;
  int result = db->write(Scope::workspace(id_of(1)), [&](Tx& tx) {
    insert_fence(tx, id_of(1));
    tx.after_commit([&] { ++actions; });
    return ++runs;
  });
  EXPECT_EQ(result, 2);
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(actions, 1);
  EXPECT_EQ(fences(), 1);
}

TEST_F(ScopeTest, AClosureThatFailsOnlyTheFirstTimeIsReported) {
  int runs = 0;
  EXPECT_THROW(db->write(Scope::shared(),
                         [&](Tx&) {
                           if (++runs == 1) throw Error(Code::conflict, "once");
                         }),
               Error);
}

TEST_F(ScopeTest, TheErrorOfAClosureIsTheCallers) {
  try {
    db->write(Scope::shared(), [](Tx&) { throw Error(Code::locked, "always"); });
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::locked);
  }
}

TEST_F(ScopeTest, WithoutStrictWritesAClosureRunsOnceAndNothingIsChecked) {
  db = open_sqlite(dir.file("other.db"));
  int runs = 0;
  db->write(Scope::shared(), [&](Tx& tx) {
    insert_fence(tx, id_of(1));
    ++runs;
  });
  EXPECT_EQ(runs, 1);
}

}  // namespace
}  // namespace sk::catalog::test
