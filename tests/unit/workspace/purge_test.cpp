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

}  // namespace
}  // namespace sk::workspace
