// A purge: nothing is left of what it took, and nothing goes that it was not asked for.
#include "keep_fixture.h"

namespace sk::workspace {
namespace {

class PurgeTest : public KeepTest {
 protected:
  void add_thumbnail(const Sha256& content) {
    keep->context().db.write(ws.scope(), [&](catalog::Tx& tx) {
      tx.exec("INSERT INTO thumbnails (sha256, mime, bytes, made_us) VALUES ($1, 'image/png', $2, 0)",
              {content, catalog::Param::raw("a small picture")});
    });
  }
  size_t thumbnails(const Sha256& content) {
    return keep->context().db.read([&](catalog::Statements& statements) {
      return statements.query("SELECT 1 FROM thumbnails WHERE sha256 = $1", {content},
                              [](const catalog::Row&) { return true; });
    });
  }
  PurgeResult purge(const std::string& path) {
    auto id = keep->files().get(ws, path).id;
    apply(TrashChange{path, {}});
    return keep->files().purge(ws, id);
  }
};

TEST_F(PurgeTest, APurgedFileLeavesNoThumbnail) {
  auto picture = *put("picture.png", "the picture").version;
  auto other = *put("other.png", "another picture").version;
  add_thumbnail(picture.sha256);
  add_thumbnail(other.sha256);
  purge("picture.png");
  EXPECT_EQ(thumbnails(picture.sha256), 0u);
  EXPECT_EQ(thumbnails(other.sha256), 1u);
  EXPECT_EQ(code_of([&] { keep->files().find_version_anywhere(picture.id); }), Code::gone);
}

TEST_F(PurgeTest, APurgedVersionLeavesNoThumbnail) {
  auto first = *put("picture.png", "the picture").version;
  put("picture.png", "a better picture");
  add_thumbnail(first.sha256);
  keep->files().purge_version(ws, first.id, {});
  EXPECT_EQ(thumbnails(first.sha256), 0u);
  EXPECT_EQ(code_of([&] { keep->files().find_version_anywhere(first.id); }), Code::gone);
}

TEST_F(PurgeTest, AnEmptiedTrashLeavesNoThumbnail) {
  auto picture = *put("folder/picture.png", "the picture").version;
  add_thumbnail(picture.sha256);
  apply(TrashChange{"folder", {}});
  keep->files().empty_trash(ws);
  EXPECT_EQ(thumbnails(picture.sha256), 0u);
}

TEST_F(PurgeTest, AfterThePurgeNoByteOfTheContentIsLeftInTheStore) {
  for (const auto& bytes : {std::string("small"), std::string(200'000, 'x'), std::string(9 << 20, 'y')}) {
    auto version = *put("a", bytes).version;
    purge("a");
    keep->upkeep().collect();
    EXPECT_EQ(code_of([&] { ContentReader(keep->context(), version.sha256, 0, version.size); }), Code::gone);
    EXPECT_EQ(keep->upkeep().verify().blobs, 0);
  }
}

TEST_F(PurgeTest, WhatWentToTheTrashAgainIsNotPurgedForItsFirstTime) {
  put("a", "1");
  auto id = keep->files().get(ws, "a").id;
  apply(TrashChange{"a", {}});
  const TimeUs before_us = clock.now_us() + 1;
  EXPECT_EQ(keep->files().trash(ws, "", 10).items.size(), 1u);
  keep->files().restore(ws, id, OnExisting::refuse, {}, {});
  apply(TrashChange{"a", {}});
  EXPECT_EQ(code_of([&] { keep->files().purge(ws, id, before_us); }), Code::not_found);
  EXPECT_EQ(keep->files().trash(ws, "", 10).items.size(), 1u);
  EXPECT_EQ(keep->files().purge(ws, id, clock.now_us() + kSecondUs).files, 1);
}

// More than one step of a purge.
class LargePurgeTest : public PurgeTest {
 protected:
  static constexpr int kFiles = 1'300;

  Id make_trash(const std::string& folder) {
    std::vector<Change> changes;
    for (int i = 0; i < kFiles; ++i)
      changes.push_back(put_change(folder + "/" + std::to_string(i % 7) + "/" + std::to_string(i),
                                   folder + std::to_string(i)));
    keep->files().apply(ws, std::move(changes));
    Id id = keep->files().get(ws, folder).id;
    apply(TrashChange{folder, {}});
    return id;
  }
  size_t rows(catalog::Sql sql) {
    return keep->context().db.read([&](catalog::Statements& statements) {
      return statements.query(sql, {}, [](const catalog::Row&) { return true; });
    });
  }
  int64_t used_bytes() {
    return *keep->context().db.read([&](catalog::Statements& statements) {
      return statements.one("SELECT used_bytes FROM workspaces WHERE id = $1", {ws.workspace_id()},
                            [](const catalog::Row& row) { return row.integer(0); });
    });
  }
};

TEST_F(LargePurgeTest, CountsWhatAllOfItsStepsPurged) {
  put("other", "stays");
  int64_t before = used_bytes();
  Id folder = make_trash("folder");
  auto result = keep->files().purge(ws, folder);
  EXPECT_EQ(result.files, kFiles + 8);
  EXPECT_EQ(result.versions, kFiles);
  EXPECT_EQ(rows("SELECT 1 FROM purges"), 0u);
  EXPECT_EQ(rows("SELECT 1 FROM entries WHERE trashed_us IS NOT NULL"), 0u);
  EXPECT_EQ(used_bytes(), before);
  expect_clean();
}

TEST_F(LargePurgeTest, AnEmptiedTrashIsEmptyHoweverLargeItWas) {
  make_trash("one");
  make_trash("two");
  for (int i = 0; i < 3; ++i) {
    put("small" + std::to_string(i), "x");
    apply(TrashChange{"small" + std::to_string(i), {}});
  }
  auto result = keep->files().empty_trash(ws);
  EXPECT_EQ(result.files, 2 * (kFiles + 8) + 3);
  EXPECT_TRUE(keep->files().trash(ws, "", 10).items.empty());
  EXPECT_EQ(rows("SELECT 1 FROM entries WHERE trashed_us IS NOT NULL"), 0u);
  expect_clean();
}

// Leaves a purge after its first step, as a kill would.
TEST_F(LargePurgeTest, GoesOnAfterAKill) {
  Id folder = make_trash("folder");
  struct Killed {};
  int steps = 0;
  keep->context().on_purge.emplace_back([&](catalog::Tx&, const Id&) {
    // Strict writes run every step twice.
    if (++steps > 1'400) throw Killed{};
  });
  EXPECT_THROW(keep->files().purge(ws, folder), Killed);
  EXPECT_EQ(rows("SELECT 1 FROM purges"), 1u);
  EXPECT_GT(rows("SELECT 1 FROM entries WHERE trashed_us IS NOT NULL"), 0u);
  EXPECT_TRUE(keep->files().trash(ws, "", 10).items.empty()) << "what is being purged is not in the trash";
  EXPECT_EQ(code_of([&] { keep->files().restore(ws, folder, OnExisting::refuse); }), Code::not_found);
  expect_clean();
  keep->context().on_purge.clear();
  keep->files().finish_purges();
  EXPECT_EQ(rows("SELECT 1 FROM purges"), 0u);
  EXPECT_EQ(rows("SELECT 1 FROM entries WHERE trashed_us IS NOT NULL"), 0u);
  expect_clean();
}

// A file with very many versions is purged in steps, too.
TEST_F(LargePurgeTest, PurgesTheVersionsOfOneFileInSteps) {
  std::vector<Change> changes;
  for (int i = 0; i < kFiles; ++i) changes.push_back(put_change("d/many", std::to_string(i)));
  changes.push_back(put_change("d/other", "x"));
  keep->files().apply(ws, std::move(changes));
  Id file = keep->files().get(ws, "d/many").id;
  Id head = keep->files().get(ws, "d/many").head;
  apply(TrashChange{"d/many", {}});
  struct Killed {};
  int steps = 0;
  keep->context().on_purge.emplace_back([&](catalog::Tx&, const Id&) {
    if (++steps > 2) throw Killed{};  // strict writes run every step twice
  });
  EXPECT_THROW(keep->files().purge(ws, file), Killed);
  size_t left = rows("SELECT 1 FROM versions");
  EXPECT_LT(left, static_cast<size_t>(kFiles));
  EXPECT_GT(left, 2u);
  EXPECT_TRUE(keep->files().trash(ws, "", 10).items.empty()) << "what is being purged is not in the trash";
  EXPECT_EQ(code_of([&] { keep->files().restore(ws, file, OnExisting::refuse); }), Code::not_found);
  EXPECT_EQ(code_of([&] { keep->files().purge(ws, file); }), Code::not_found) << "it is being purged";
  expect_clean();
  keep->context().on_purge.clear();
  keep->files().finish_purges();
  EXPECT_EQ(rows("SELECT 1 FROM versions"), 1u);
  EXPECT_EQ(rows("SELECT 1 FROM purged_versions"), static_cast<size_t>(kFiles));
  EXPECT_EQ(rows("SELECT 1 FROM purges"), 0u);
  EXPECT_EQ(code_of([&] { Retractions(keep->context()).find(ws.actor(), head); }), Code::gone);
  expect_clean();
}

TEST_F(LargePurgeTest, CountsTheVersionsOfAllSteps) {
  std::vector<Change> changes;
  for (int i = 0; i < kFiles; ++i) changes.push_back(put_change("d/many", std::to_string(i)));
  changes.push_back(put_change("d/other", "x"));
  keep->files().apply(ws, std::move(changes));
  Id folder = keep->files().get(ws, "d").id;
  apply(TrashChange{"d", {}});
  auto result = keep->files().purge(ws, folder);
  EXPECT_EQ(result.files, 3);
  EXPECT_EQ(result.versions, kFiles + 1);
  expect_clean();
}

}  // namespace
}  // namespace sk::workspace
