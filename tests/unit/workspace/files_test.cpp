#include "base/path.h"
#include "keep_fixture.h"

namespace sk::workspace {
namespace {

using testing::Test;

TEST_F(KeepTest, APutFileComesBackAndKeepsItsIdThroughOverwriteAndRename) {
  auto first = put("data/a.txt", "one");
  EXPECT_TRUE(first.created);
  auto second = put("data/a.txt", "two");
  EXPECT_FALSE(second.created);
  EXPECT_EQ(first.entry.id, second.entry.id);
  EXPECT_EQ(second.version->base, first.version->id);
  EXPECT_EQ(second.version->number, 2);
  auto moved = apply(MoveChange{"data/a.txt", "b.txt", OnExisting::refuse, {}});
  EXPECT_EQ(moved.entry.id, first.entry.id);
  EXPECT_EQ(bytes_at("b.txt"), "two");
  EXPECT_EQ(bytes_of(*keep->files().find_version_anywhere(first.version->id)), "one");
  expect_clean();
}

TEST_F(KeepTest, EverySizeClassComesBackByteForByteAfterReopening) {
  std::map<std::string, std::string> contents;
  for (size_t size : {size_t{0}, size_t{1}, size_t{131072}, size_t{131073}, size_t{1 << 20},
                      size_t{(1 << 20) + 1}, size_t{9 << 20}}) {
    std::string bytes(size, '\0');
    fill_random(std::as_writable_bytes(std::span(bytes)));
    std::string path = std::to_string(size);
    put(path, bytes);
    contents[path] = bytes;
  }
  reopen();
  for (const auto& [path, bytes] : contents) EXPECT_TRUE(bytes_at(path) == bytes) << path;
  expect_clean();
}

TEST_F(KeepTest, ThePiecesOfARangeAreExactlyThoseBytes) {
  std::string bytes(20 << 20, '\0');
  fill_random(std::as_writable_bytes(std::span(bytes)));
  auto version = *put("big", bytes).version;
  for (auto [offset, size] :
       {std::pair<uint64_t, uint64_t>{0, 1}, {5 << 20, 9 << 20}, {(20 << 20) - 1, 1}, {20 << 20, 0}})
    EXPECT_TRUE(ContentReader(keep->context(), version.sha256, offset, size).read_all() ==
                bytes.substr(offset, size))
        << offset;
}

TEST_F(KeepTest, TheSameBytesAgainMakeNoNewVersion) {
  auto first = put("a", "same");
  auto again = put("a", "same");
  EXPECT_TRUE(again.unchanged);
  EXPECT_EQ(again.version->id, first.version->id);
}

TEST_F(KeepTest, OneContentPutTwiceInOneBatchKeepsItsFile) {
  std::string bytes(blobs::kInlineBytesMax + 1, 'x');
  PutChange one = put_change("a", bytes), other = one;
  other.path = "b";
  keep->files().apply(ws, {one, other});
  EXPECT_EQ(bytes_at("a"), bytes);
  EXPECT_EQ(bytes_at("b"), bytes);
  expect_clean();
}

TEST_F(KeepTest, IdenticalContentIsStoredOnceAcrossWorkspaces) {
  std::string bytes(200'000, 'x');
  put("a", bytes);
  put("b", bytes);
  keep->workspaces().create(actor, "other");
  keep->files().apply_one(keep->workspaces().open(actor, "other"), put_change("c", bytes));
  auto result = keep->upkeep().verify();
  EXPECT_EQ(result.blobs, 1);
  EXPECT_EQ(keep->workspaces().open(actor, "default").workspace().used_bytes, bytes.size());
  EXPECT_EQ(keep->workspaces().open(actor, "other").workspace().used_bytes, bytes.size());
}

TEST_F(KeepTest, PreconditionsDecideWhoWrites) {
  auto first = put("a", "one");
  Conditions match;
  match.if_match = {first.version->id};
  auto second = put("a", "two", match);
  EXPECT_EQ(code_of([&] { put("a", "three", match); }), Code::precondition_failed);
  bool named = false;
  for (const auto& [name, value] : last_error->facts())
    named = named || (name == "current_version_id" &&
                      std::get<std::string>(value) == second.version->id.with_prefix(prefix::version));
  EXPECT_TRUE(named);
  Conditions fresh;
  fresh.if_none_match_any = true;
  EXPECT_EQ(code_of([&] { put("a", "four", fresh); }), Code::precondition_failed);
  put("new", "x", fresh);
  Conditions existing;
  existing.if_match_any = true;
  EXPECT_EQ(code_of([&] { put("nothing", "x", existing); }), Code::precondition_failed);
  EXPECT_EQ(bytes_at("a"), "two");
}

TEST_F(KeepTest, ATagThatIsNoVersionOfOursMatchesNothing) {
  put("a", "one");
  Conditions foreign;
  foreign.if_match_foreign = true;
  EXPECT_EQ(code_of([&] { put("a", "two", foreign); }), Code::precondition_failed);
  EXPECT_EQ(code_of([&] { apply(TrashChange{"a", foreign}); }), Code::precondition_failed);
  EXPECT_EQ(bytes_at("a"), "one");
}

TEST_F(KeepTest, AMoveOntoSomethingHonoursThatNothingMayBeThere) {
  put("a", "one");
  put("b", "two");
  Conditions fresh;
  fresh.if_none_match_any = true;
  EXPECT_EQ(code_of([&] { apply(MoveChange{"a", "b", OnExisting::replace, fresh}); }),
            Code::precondition_failed);
  EXPECT_EQ(bytes_at("b"), "two");
  apply(MoveChange{"a", "c", OnExisting::replace, fresh});
  EXPECT_EQ(bytes_at("c"), "one");
}

TEST_F(KeepTest, ACopyThatLagsBehindPutsNothingBack) {
  const Id old = put("a", "old").version->id;
  put("a", "new");
  for (std::optional<Id> base : {std::optional(old), std::optional<Id>()}) {
    PutChange captured = put_change("a", "old");
    captured.captured = true;
    captured.base = base;
    EXPECT_TRUE(apply(std::move(captured)).unchanged);
    EXPECT_EQ(bytes_at("a"), "new");
    EXPECT_FALSE(keep->files().get(ws, "a").diverged);
  }
}

TEST_F(KeepTest, AWriteFromAnOldBaseBecomesTheHeadAndSaysDiverged) {
  auto base = put("a", "base");
  put("a", "theirs");
  PutChange mine = put_change("a", "mine");
  mine.base = base.version->id;
  auto result = apply(std::move(mine));
  EXPECT_TRUE(result.diverged);
  EXPECT_TRUE(keep->files().get(ws, "a").diverged);
  EXPECT_EQ(bytes_at("a"), "mine");
  PutChange merged = put_change("a", "merged");
  merged.base = result.version->id;
  EXPECT_FALSE(apply(std::move(merged)).diverged);
  EXPECT_FALSE(keep->files().get(ws, "a").diverged);
}

TEST_F(KeepTest, ABlindWriteDoesNotEndADivergence) {
  auto base = put("a", "base");
  put("a", "theirs");
  PutChange mine = put_change("a", "mine");
  mine.base = base.version->id;
  apply(std::move(mine));
  auto blind = put("a", "blind");
  EXPECT_FALSE(blind.diverged) << "it overtook nobody";
  EXPECT_TRUE(blind.entry.diverged);
  EXPECT_TRUE(keep->files().get(ws, "a").diverged);
  Conditions any;
  any.if_match_any = true;
  EXPECT_TRUE(put("a", "blind again", any).entry.diverged) << "any version is not the current one";
  PutChange merged = put_change("a", "merged");
  merged.base = keep->files().get(ws, "a").head;
  EXPECT_FALSE(apply(std::move(merged)).entry.diverged);
  EXPECT_FALSE(keep->files().get(ws, "a").diverged);
}

TEST_F(KeepTest, WritingTheSameBytesOverTheNamedVersionEndsADivergence) {
  auto base = put("a", "base");
  auto theirs = put("a", "theirs");
  auto diverge = [&](std::string_view bytes) {
    PutChange mine = put_change("a", bytes);
    mine.base = base.version->id;
    auto result = apply(std::move(mine));
    EXPECT_TRUE(keep->files().get(ws, "a").diverged);
    return result.version->id;
  };
  auto head = diverge("mine");
  EXPECT_TRUE(put("a", "mine").entry.diverged) << "who names nothing has not seen it";
  PutChange keeping = put_change("a", "mine");
  keeping.base = head;
  auto kept = apply(std::move(keeping));
  EXPECT_TRUE(kept.unchanged);
  EXPECT_EQ(kept.version->id, head);
  EXPECT_FALSE(kept.entry.diverged);
  EXPECT_FALSE(keep->files().get(ws, "a").diverged);
  Conditions match;
  match.if_match = {diverge("mine again")};
  put("a", "mine again", match);
  EXPECT_FALSE(keep->files().get(ws, "a").diverged);
}

TEST_F(KeepTest, ABaseMustBeAVersionOfWhatIsOrWasAtThePath) {
  auto first = put("a", "1");
  put("a", "2");
  auto other = put("other", "x");
  auto from = [&](const Id& base, std::string path, std::string_view bytes) {
    PutChange change = put_change(std::move(path), bytes);
    change.base = base;
    return apply(std::move(change));
  };
  Id made_up = *Id::from_hex("00000000000000000000000000000002");
  EXPECT_EQ(code_of([&] { from(made_up, "a", "3"); }), Code::bad_request);
  EXPECT_EQ(code_of([&] { from(made_up, "new", "3"); }), Code::bad_request);
  EXPECT_EQ(code_of([&] { from(other.version->id, "a", "3"); }), Code::bad_request);
  EXPECT_FALSE(keep->files().get(ws, "a").diverged);
  EXPECT_TRUE(from(first.version->id, "a", "3").diverged);
  keep->files().purge_version(ws, first.version->id);
  EXPECT_TRUE(from(first.version->id, "a", "4").diverged) << "a purged version was one all the same";
  auto moved = keep->files().get(ws, "a");
  apply(MoveChange{"a", "b", OnExisting::refuse, {}});
  EXPECT_TRUE(from(moved.head, "a", "5").created) << "it was here";
  auto again = put("a", "6");
  apply(TrashChange{"a", {}});
  EXPECT_TRUE(from(again.version->id, "a", "7").created) << "it was here, and is in the trash";
  keep->files().empty_trash(ws);
  EXPECT_TRUE(from(again.version->id, "a", "8").diverged) << "nobody knows any more where it was";
  EXPECT_EQ(code_of([&] { from(other.version->id, "a", "9"); }), Code::bad_request);
}

TEST_F(KeepTest, ANewTypeMakesAVersionAndANewTimeIsSet) {
  PutChange stated = put_change("a", "same");
  stated.mime = "text/x-one";
  stated.mtime_us = 1'000'000;
  auto first = apply(std::move(stated));
  EXPECT_TRUE(put("a", "same").unchanged) << "nothing was said about the type";
  EXPECT_EQ(keep->files().get(ws, "a").mime, "text/x-one");
  EXPECT_EQ(keep->files().get(ws, "a").mtime_us, 1'000'000);
  PutChange later = put_change("a", "same");
  later.mtime_us = 2'000'000;
  auto touched = apply(std::move(later));
  EXPECT_EQ(touched.version->id, first.version->id);
  EXPECT_EQ(keep->files().get(ws, "a").mtime_us, 2'000'000);
  PutChange other = put_change("a", "same");
  other.mime = "text/x-two";
  auto second = apply(std::move(other));
  EXPECT_EQ(second.version->number, 2);
  EXPECT_EQ(keep->files().get(ws, "a").mime, "text/x-two");
  EXPECT_EQ(keep->files().find_version(ws, first.version->id)->mime, "text/x-one");
}

TEST_F(KeepTest, ABatchIsAllOrNothing) {
  std::vector<Change> changes;
  changes.push_back(put_change("x/1", "1"));
  changes.push_back(put_change("x/2", "2"));
  changes.push_back(MoveChange{"missing", "y", OnExisting::refuse, {}});
  EXPECT_EQ(code_of([&] { keep->files().apply(ws, std::move(changes)); }), Code::not_found);
  EXPECT_EQ(paths(), std::vector<std::string>{});
  expect_clean();
}

TEST_F(KeepTest, OverTheQuotaFailsWholeWithTheFigures) {
  keep->workspaces().change(ws, std::nullopt, 100);
  put("a", std::string(60, 'a'));
  EXPECT_EQ(code_of([&] { put("b", std::string(41, 'b')); }), Code::quota_exceeded);
  put("b", std::string(40, 'b'));
  EXPECT_EQ(keep->workspaces().open(actor, "default").workspace().used_bytes, 100u);
  EXPECT_EQ(paths(), (std::vector<std::string>{"a", "b"}));
}

TEST_F(KeepTest, FoldersMoveWithEverythingInThemAndNothingElse) {
  put("a/b/one", "1");
  put("a/two", "2");
  put("a-c/three", "3");
  put("a0", "4");
  apply(MoveChange{"a", "z/y", OnExisting::refuse, {}});
  EXPECT_EQ(paths(), (std::vector<std::string>{"a-c/", "a0", "z/", "a-c/three", "z/y/", "z/y/b/", "z/y/two",
                                               "z/y/b/one"}));
  EXPECT_EQ(code_of([&] { apply(MoveChange{"z", "z/y/q", OnExisting::refuse, {}}); }), Code::bad_request);
  expect_clean();
}

TEST_F(KeepTest, AFolderWhoseFilesWouldBeOutOfReachIsNotMovedRestoredOrCopied) {
  std::string name(200, 'n'), deep = "d";
  for (int i = 0; i < 30; ++i) deep.append("/").append(name);
  put(deep + "/file", "x");
  std::string far = "far";
  for (int i = 0; i < 12; ++i) far.append("/").append(name);
  apply(MkdirChange{far, {}, {}, true});
  auto before = paths();
  auto names_the_path = [&] { return last_error->message().find(far + "/e" + deep.substr(1) + "/file"); };
  EXPECT_EQ(code_of([&] { apply(MoveChange{"d", far + "/e", OnExisting::refuse, {}}); }), Code::bad_request);
  EXPECT_NE(names_the_path(), std::string::npos);
  EXPECT_EQ(code_of([&] { apply(CopyChange{"d", {}, far + "/e", OnExisting::refuse, {}, {}}); }),
            Code::bad_request);
  EXPECT_EQ(paths(), before);
  auto folder = keep->files().get(ws, "d");
  apply(TrashChange{"d", {}});
  EXPECT_EQ(code_of([&] { keep->files().restore(ws, folder.id, OnExisting::refuse, far + "/e"); }),
            Code::bad_request);
  EXPECT_NE(names_the_path(), std::string::npos);
  keep->files().restore(ws, folder.id, OnExisting::refuse, "e");
  EXPECT_EQ(bytes_at("e" + deep.substr(1) + "/file"), "x");
}

TEST_F(KeepTest, AFolderThatWouldLieTooDeepIsNotMoved) {
  std::string deep = "d", far = "f";
  for (int i = 0; i < 600; ++i) deep.append("/d"), far.append("/f");
  apply(MkdirChange{deep, {}, {}, true});
  apply(MkdirChange{far, {}, {}, true});
  EXPECT_EQ(code_of([&] { apply(MoveChange{"d", far + "/d", OnExisting::refuse, {}}); }), Code::bad_request);
  expect_clean();
}

TEST_F(KeepTest, AFolderCopiedOntoItselfIsRenamed) {
  put("a/b", "x");
  EXPECT_EQ(apply(CopyChange{"a", {}, "a", OnExisting::rename, {}, {}}).entry.path, "a (2)");
  EXPECT_EQ(bytes_at("a (2)/b"), "x");
  EXPECT_EQ(code_of([&] { apply(CopyChange{"a", {}, "a", OnExisting::replace, {}, {}}); }), Code::conflict);
  EXPECT_EQ(code_of([&] { apply(CopyChange{"a", {}, "a/c", OnExisting::rename, {}, {}}); }),
            Code::bad_request);
}

TEST_F(KeepTest, ACopyHasTheModeThatItsOriginalHasNow) {
  put("a", "x");
  apply(SetModeChange{"a", 0600, 7'000'000, {}});
  auto copy = apply(CopyChange{"a", {}, "b", OnExisting::refuse, {}, {}});
  EXPECT_EQ(copy.entry.mode, 0600u);
  EXPECT_EQ(copy.entry.mtime_us, 7'000'000);
}

TEST_F(KeepTest, CopiesShareTheirBytesAndHaveTheirOwnHistory) {
  put("a/one", std::string(200'000, 'x'));
  auto used = keep->workspaces().open(actor, "default").workspace().used_bytes;
  apply(CopyChange{"a", std::nullopt, "b", OnExisting::refuse, {}, {}});
  EXPECT_EQ(keep->workspaces().open(actor, "default").workspace().used_bytes, used);
  put("b/one", "changed");
  EXPECT_EQ(bytes_at("a/one").size(), 200'000u);
  expect_clean();
}

TEST_F(KeepTest, WhatWasTrashedComesBackAndALostNameIsKept) {
  auto file = put("a/b/file", "x");
  apply(TrashChange{"a", {}});
  EXPECT_EQ(paths(), std::vector<std::string>{});
  auto trashed = keep->files().trash(ws, "", 10).items;
  ASSERT_EQ(trashed.size(), 1u);
  EXPECT_EQ(trashed[0].path, "a");
  EXPECT_EQ(code_of([&] { keep->files().get(ws, "a/b/file"); }), Code::not_found);
  EXPECT_EQ(bytes_of(*keep->files().find_version_anywhere(file.version->id)), "x");
  put("a", "in the way");
  EXPECT_EQ(code_of([&] { keep->files().restore(ws, trashed[0].id, OnExisting::refuse); }), Code::conflict);
  auto restored = keep->files().restore(ws, trashed[0].id, OnExisting::rename);
  EXPECT_EQ(restored.path, "a (2)");
  EXPECT_EQ(bytes_at("a (2)/b/file"), "x");
  EXPECT_EQ(keep->files().get(ws, "a (2)/b/file").id, file.entry.id);
  expect_clean();
}

TEST_F(KeepTest, PurgingFreesBytesAndLinksAnswerGone) {
  auto one = put("a", std::string(200'000, '1'));
  auto two = put("a", std::string(200'000, '2'));
  apply(TrashChange{"a", {}});
  auto result = keep->files().purge(ws, one.entry.id);
  EXPECT_EQ(result.versions, 2);
  EXPECT_EQ(result.broken_links.size(), 2u);
  EXPECT_EQ(result.freed_bytes, 400'000u);
  EXPECT_EQ(code_of([&] { keep->files().find_version_anywhere(two.version->id); }), Code::gone);
  EXPECT_EQ(keep->upkeep().collect().blobs, 2);
  EXPECT_EQ(keep->workspaces().open(actor, "default").workspace().used_bytes, 0u);
  expect_clean();
}

TEST_F(KeepTest, TheCurrentVersionCannotBePurgedAloneButAnOldOneCan) {
  auto one = put("a", "1");
  auto two = put("a", "2");
  EXPECT_EQ(code_of([&] { keep->files().purge_version(ws, two.version->id); }), Code::conflict);
  keep->files().purge_version(ws, one.version->id);
  EXPECT_EQ(keep->files().get(ws, "a").version_count, 1);
  EXPECT_EQ(put("a", "3").version->number, 3);
  EXPECT_EQ(keep->files().get(ws, "a").version_count, 2);
  EXPECT_EQ(keep->files().versions(ws, one.entry.id, "", 10).items.size(), 2u);
  expect_clean();
}

TEST_F(KeepTest, AnOldVersionIsRestoredAsANewOne) {
  auto one = put("a", "1");
  put("a", "2");
  auto restored = apply(RestoreVersionChange{one.version->id, {}});
  EXPECT_EQ(restored.version->number, 3);
  EXPECT_EQ(restored.version->source.kind, "restore");
  EXPECT_EQ(bytes_at("a"), "1");
}

TEST_F(KeepTest, AWholeWorkspaceComesBackAsOfATime) {
  put("keep", "k1");
  put("swap/a", "A");
  put("swap/b", "B");
  put("gone/x", "X");
  put("moved", "M");
  clock.advance_us(kSecondUs);
  TimeUs then = clock.now_us();
  put("keep", "k2");
  put("later", "L");
  apply(MoveChange{"swap/a", "swap/t", OnExisting::refuse, {}});
  apply(MoveChange{"swap/b", "swap/a", OnExisting::refuse, {}});
  apply(MoveChange{"swap/t", "swap/b", OnExisting::refuse, {}});
  apply(TrashChange{"gone", {}});
  apply(MoveChange{"moved", "elsewhere/m", OnExisting::refuse, {}});
  clock.advance_us(kSecondUs);
  auto before = paths();
  auto dry = keep->files().restore_as_of(ws, "", then, true);
  EXPECT_TRUE(dry.dry_run);
  EXPECT_EQ(paths(), before);
  auto done = keep->files().restore_as_of(ws, "", then, false);
  EXPECT_EQ(done.restored, dry.restored);
  EXPECT_EQ(paths(),
            (std::vector<std::string>{"gone/", "keep", "moved", "swap/", "gone/x", "swap/a", "swap/b"}));
  EXPECT_EQ(bytes_at("keep"), "k1");
  EXPECT_EQ(bytes_at("swap/a"), "A");
  EXPECT_EQ(bytes_at("swap/b"), "B");
  EXPECT_EQ(bytes_at("moved"), "M");
  auto again = keep->files().restore_as_of(ws, "", then, false);
  EXPECT_EQ(again.restored, 0);
  EXPECT_EQ(again.trashed, 0);
  expect_clean();
}

TEST_F(KeepTest, ListPagesAreCompleteAndSorted) {
  std::vector<Change> changes;
  for (int i = 0; i < 250; ++i)
    changes.push_back(put_change("f/" + std::to_string(1000 + i) + (i % 2 ? ".csv" : ".txt"), "x"));
  keep->files().apply(ws, std::move(changes));
  ListOptions options;
  options.folder = "f";
  options.limit = 100;
  options.glob = "*.csv";
  std::vector<std::string> seen;
  for (;;) {
    auto page = keep->files().list(ws, options);
    for (const auto& entry : page.items) seen.push_back(entry.path);
    if (!page.has_more) break;
    options.cursor = page.next_cursor;
  }
  EXPECT_EQ(seen.size(), 125u);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
}

TEST_F(KeepTest, APageOfAPatternEndsAfterItsComparisons) {
  std::vector<Change> changes;
  for (int i = 0; i < 100; ++i)
    changes.push_back(put_change((i < 50 ? "a/" : "b/") + std::to_string(100 + i), "x"));
  keep->files().apply(ws, std::move(changes));
  keep->context().limits.list_scan_max = 10;
  struct Walk {
    std::vector<std::string> found;
    size_t pages = 0, empty = 0;
  };
  auto walk = [&](const std::string& glob, size_t limit) {
    Walk out;
    ListOptions options{.folder = "", .recursive = true, .glob = glob, .cursor = "", .limit = limit};
    for (bool more = true; more; ++out.pages) {
      auto page = keep->files().list(ws, options);
      for (const auto& entry : page.items) out.found.push_back(entry.path);
      if (page.items.empty()) ++out.empty;
      EXPECT_EQ(page.has_more, !page.next_cursor.empty());
      options.cursor = page.next_cursor;
      more = page.has_more;
    }
    return out;
  };
  // 102 entries, of which two are folders.
  auto nothing = walk("nothing*", 1000);
  EXPECT_TRUE(nothing.found.empty());
  EXPECT_EQ(nothing.pages, 11u);
  for (size_t limit : {1u, 3u, 1000u}) {
    auto few = walk("1?7", limit);
    EXPECT_EQ(few.found, (std::vector<std::string>{"a/107", "a/117", "a/127", "a/137", "a/147", "b/157",
                                                   "b/167", "b/177", "b/187", "b/197"}))
        << limit;
    EXPECT_LE(few.pages, 21u) << limit;
  }
  EXPECT_EQ(walk("b/*", 1000).found.size(), 50u);
  EXPECT_GE(walk("b/*", 1000).empty, 5u) << "pages before the first match";
  EXPECT_EQ(walk("", 1000).pages, 1u) << "without a pattern, nothing is compared";
}

TEST_F(KeepTest, LongPatternsAndPathsEndAPageSooner) {
  std::vector<Change> changes;
  for (int i = 0; i < 40; ++i)
    changes.push_back(put_change(std::string(200, 'a') + std::to_string(100 + i), "x"));
  keep->files().apply(ws, std::move(changes));
  keep->context().limits.list_scan_max = 100;
  auto pages = [&](const std::string& glob) {
    ListOptions options{.folder = "", .recursive = false, .glob = glob, .cursor = ""};
    size_t count = 0;
    for (bool more = true; more; ++count) {
      auto page = keep->files().list(ws, options);
      EXPECT_TRUE(page.items.empty());
      options.cursor = page.next_cursor;
      more = page.has_more;
    }
    return count;
  };
  EXPECT_EQ(pages("b"), 1u);
  std::string slow;
  for (int i = 0; i < 100; ++i) slow += "*[a-b]";
  EXPECT_EQ(pages(slow + "x"), 40u) << "each entry counts like more than a hundred";
}

TEST_F(KeepTest, AFileIsFoundByTheOtherUnicodeSpelling) {
  put("caf\u00e9", "x");
  EXPECT_TRUE(keep->files().find(ws, "cafe\u0301").has_value());
  put("menu\u00e9/one", "x");
  put("menu\u00e9/two", "x");
  ListOptions options;
  options.folder = "menue\u0301";
  options.limit = 1;
  auto page = keep->files().list(ws, options);
  ASSERT_EQ(page.items.size(), 1u);
  EXPECT_EQ(page.items[0].path, "menu\u00e9/one");
  options.cursor = page.next_cursor;
  EXPECT_EQ(keep->files().list(ws, options).items[0].path, "menu\u00e9/two");
}

TEST_F(KeepTest, WhatIsLookedForInATrashedFolderNamesWhatCanBeRestored) {
  put("F/sub/a", "x");
  auto root = keep->files().get(ws, "F");
  apply(TrashChange{"F", {}});
  EXPECT_EQ(code_of([&] { keep->files().get(ws, "F/sub/a"); }), Code::not_found);
  EXPECT_EQ(last_error->advice(), Advice::restore_folder_from_trash);
  EXPECT_NE(last_error->hint().find(root.id.with_prefix(prefix::file)), std::string::npos);
  keep->files().restore(ws, root.id, OnExisting::refuse);
  EXPECT_EQ(bytes_at("F/sub/a"), "x");
}

TEST_F(KeepTest, AFileBelowAFileIsRefusedAndNothingIsHalfDone) {
  put("a", "x");
  EXPECT_EQ(code_of([&] { put("a/b/c", "y"); }), Code::conflict);
  EXPECT_EQ(paths(), std::vector<std::string>{"a"});
  put("d/e", "x");
  EXPECT_EQ(code_of([&] { put("d", "y"); }), Code::conflict);
}

TEST_F(KeepTest, TenThousandVersionsOfOneFileAreAllThere) {
  for (int round = 0; round < 10; ++round) {
    std::vector<Change> changes;
    for (int i = 0; i < 1000; ++i) changes.push_back(put_change("a", std::to_string(round * 1000 + i)));
    keep->files().apply(ws, std::move(changes));
  }
  auto entry = keep->files().get(ws, "a");
  EXPECT_EQ(entry.version_count, 10'000);
  std::string cursor;
  int64_t seen = 0;
  for (;;) {
    auto page = keep->files().versions(ws, entry.id, cursor, 1000);
    for (const auto& version : page.items) {
      EXPECT_EQ(version.number, 10'000 - seen);
      ++seen;
    }
    if (!page.has_more) break;
    cursor = page.next_cursor;
  }
  EXPECT_EQ(seen, 10'000);
}

}  // namespace
}  // namespace sk::workspace
