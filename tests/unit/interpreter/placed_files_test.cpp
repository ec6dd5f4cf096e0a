// Files that the server itself puts into a copy: a displayed figure, a long output. Their bytes come from the
// intake; what code did to them before the capture comes after them.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/interpreter/copy_fixture.h"
#include "workspace/locks.h"

namespace sk::interpreter {
namespace {

constexpr const char* kFigure = "outputs/1-1.png";

class PlacedFilesTest : public CopyTest {
 protected:
  PlacedFilesTest() { open("this boot"); }

  void open(const std::string& boot) {
    keeper.reset();
    here.boot_id = boot;
    keeper = std::make_unique<CopyKeeper>(here, session);
    keeper->open(as());
    keeper->mark_used();
  }
  void place(const std::string& bytes, const std::string& path = kFigure) {
    keeper->place(path, [&](const CopyKeeper::Pieces& take) { take(as_bytes(bytes)); });
  }
  Settled capture(CopyKeeper::Extent extent = CopyKeeper::Extent::touched,
                  const CopyKeeper::OpenFiles& open_files = {}) {
    return keeper->capture(extent, as(), [&] { return open_files; });
  }
  static bool is_nothing(const Settled& settled) {
    return settled.kept.empty() && settled.folders.empty() && settled.renamed.empty() &&
           settled.deleted.empty() && settled.not_kept.empty();
  }
  std::vector<std::string> texts_of_versions(const std::string& path) {
    std::vector<std::string> texts;
    for (const auto& version : keep.files().versions(ws, keep.files().get(ws, path).id, "", 100).items)
      texts.insert(texts.begin(),
                   workspace::ContentReader(keep.context(), version.sha256, 0, version.size).read_all());
    return texts;
  }

  // Waits until the file system's clock, which gives files their times, is past the file's last change.
  void await_next_tick(const std::string& path) {
    struct stat changed, now;
    ASSERT_EQ(::stat(on_disk(path).c_str(), &changed), 0);
    const std::string probe = on_disk(path) + ".tick";
    do {
      std::ofstream(probe) << "tick";
      ASSERT_EQ(::stat(probe.c_str(), &now), 0);
    } while (std::tie(now.st_mtim.tv_sec, now.st_mtim.tv_nsec) <=
             std::tie(changed.st_ctim.tv_sec, changed.st_ctim.tv_nsec));
    std::filesystem::remove(probe);
  }

  CopyContext here = context;
  std::unique_ptr<CopyKeeper> keeper;
};

TEST_F(PlacedFilesTest, AFigureIsKeptOnceAndCodeCanOpenIt) {
  place("bytes");
  EXPECT_EQ(read(kFigure), "bytes");
  auto settled = capture();
  ASSERT_EQ(settled.kept.size(), 1u);
  EXPECT_EQ(settled.kept[0].path, "s/outputs/1-1.png");
  EXPECT_EQ(settled.kept[0].change, KeptChange::created);
  EXPECT_TRUE(settled.kept[0].complete);
  EXPECT_EQ(settled.folders, std::vector<std::string>{"s/outputs"});
  EXPECT_EQ(kept("s/outputs/1-1.png"), "bytes");
  EXPECT_EQ(keep.files().get(ws, "s/outputs/1-1.png").mode, 0644u);
  EXPECT_TRUE(is_nothing(capture()));
  EXPECT_TRUE(is_nothing(capture(CopyKeeper::Extent::all)));
  EXPECT_EQ(versions("s/outputs/1-1.png"), 1u);
}

TEST_F(PlacedFilesTest, TheBytesComeFromTheIntakeAndNotFromTheDisk) {
  place("bytes");
  // The system lets nobody else open a file under a lease.
  ::signal(SIGIO, SIG_IGN);
  int fd = ::open(on_disk(kFigure).c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::fcntl(fd, F_SETLEASE, F_WRLCK), 0);
  auto settled = capture();
  ::close(fd);
  EXPECT_TRUE(settled.not_kept.empty());
  EXPECT_EQ(kept("s/outputs/1-1.png"), "bytes");
}

TEST_F(PlacedFilesTest, AFigureIsInTheTransactionOfTheRecordAndOfTheOtherFiles) {
  write("table.csv", "1,2");
  place("bytes");
  std::vector<std::vector<std::string>> transactions;
  CaptureAs with_record = as();
  with_record.also = [&](catalog::Tx&, const std::vector<KeptFile>& files) {
    auto& paths = transactions.emplace_back();
    for (const auto& file : files) paths.push_back(file.path);
  };
  keeper->capture(CopyKeeper::Extent::touched, with_record);
  // In tests each transaction is tried before it runs.
  ASSERT_FALSE(transactions.empty());
  for (const auto& paths : transactions)
    EXPECT_EQ(paths, (std::vector<std::string>{"s/outputs/1-1.png", "s/table.csv"}));
}

TEST_F(PlacedFilesTest, WhatCodeWroteOverAFigureIsASecondVersion) {
  place("figure");
  {
    std::ofstream(on_disk(kFigure)) << "code's";  // as many bytes
  }
  auto settled = capture();
  ASSERT_EQ(settled.kept.size(), 1u) << "an answer names a path once";
  EXPECT_EQ(texts_of_versions("s/outputs/1-1.png"), (std::vector<std::string>{"figure", "code's"}));
  EXPECT_FALSE(keep.files().get(ws, "s/outputs/1-1.png").diverged);
  EXPECT_EQ(read(kFigure), "code's");
  EXPECT_TRUE(is_nothing(capture(CopyKeeper::Extent::all)));
}

TEST_F(PlacedFilesTest, WhatCodeWroteOverAFigureDivergesFromWhatAClientPutThere) {
  place("figure");
  put("s/outputs/1-1.png", "the client's");
  {
    std::ofstream(on_disk(kFigure), std::ios::app) << " and more";
  }
  auto settled = capture();
  ASSERT_EQ(settled.kept.size(), 1u);
  EXPECT_TRUE(settled.kept[0].diverged);
  EXPECT_TRUE(keep.files().get(ws, "s/outputs/1-1.png").diverged);
  EXPECT_EQ(texts_of_versions("s/outputs/1-1.png"),
            (std::vector<std::string>{"the client's", "figure", "figure and more"}));
}

TEST_F(PlacedFilesTest, AFigureThatCodeReplacedByAnotherFileIsTheFirstVersion) {
  place("figure");
  write("other", "another file");
  std::filesystem::rename(on_disk("other"), on_disk(kFigure));
  capture();
  EXPECT_EQ(texts_of_versions("s/outputs/1-1.png"), (std::vector<std::string>{"figure", "another file"}));
}

TEST_F(PlacedFilesTest, AFigureThatCodeRemovedIsInTheTrash) {
  place("figure");
  std::filesystem::remove(on_disk(kFigure));
  auto settled = capture();
  EXPECT_EQ(settled.deleted, std::vector<std::string>{"s/outputs/1-1.png"});
  EXPECT_FALSE(find("s/outputs/1-1.png"));
  auto trashed = keep.files().trash(ws, "", 10).items;
  ASSERT_EQ(trashed.size(), 1u);
  EXPECT_EQ(trashed[0].size, std::string("figure").size());
  EXPECT_TRUE(is_nothing(capture(CopyKeeper::Extent::all)));
}

TEST_F(PlacedFilesTest, AFigureThatCodeRenamedIsTheSameFile) {
  place("figure");
  std::filesystem::rename(on_disk(kFigure), on_disk("mine.png"));
  auto settled = capture();
  EXPECT_EQ(settled.renamed,
            (std::vector<std::pair<std::string, std::string>>{{"s/outputs/1-1.png", "s/mine.png"}}));
  EXPECT_EQ(kept("s/mine.png"), "figure");
  EXPECT_FALSE(find("s/outputs/1-1.png"));
}

TEST_F(PlacedFilesTest, WhatAClientPutsInThePlaceOfAFigureThatCodeTookAwayStays) {
  for (bool renamed : {true, false}) {
    place("figure");
    if (renamed)
      std::filesystem::rename(on_disk(kFigure), on_disk("mine.png"));
    else
      std::filesystem::remove(on_disk(kFigure));
    put("s/outputs/1-1.png", "the client's");
    auto settled = capture();
    EXPECT_TRUE(settled.renamed.empty());
    EXPECT_EQ(settled.deleted, std::vector<std::string>{"s/outputs/1-1 (2).png"})
        << "the figure is in the trash";
    EXPECT_EQ(texts_of_versions("s/outputs/1-1.png"), std::vector<std::string>{"the client's"});
    EXPECT_EQ(kept("s/mine.png"), "figure");
    keeper->bring_outside_changes(as(), [] { return CopyKeeper::OpenFiles{}; });
    EXPECT_EQ(read(kFigure), "the client's");
    EXPECT_TRUE(is_nothing(capture(CopyKeeper::Extent::all)));
    trash("s/outputs/1-1.png");
    keeper->bring_outside_changes(as(), [] { return CopyKeeper::OpenFiles{}; });
  }
}

TEST_F(PlacedFilesTest, AFileMadeAnewWithItsOldBytesIsKeptThoughAClientDeletedTheOldOne) {
  write("a.txt", "bytes");
  capture();
  trash("s/a.txt");
  write("b.txt", "bytes");
  std::filesystem::rename(on_disk("b.txt"), on_disk("a.txt"));
  capture();
  EXPECT_EQ(kept("s/a.txt"), "bytes");
  keeper->bring_outside_changes(as(), [] { return CopyKeeper::OpenFiles{}; });
  EXPECT_EQ(read("a.txt"), "bytes");
}

TEST_F(PlacedFilesTest, AFileWrittenAgainWithItsBytesIsKeptThoughAClientDeletedIt) {
  for (bool brought_first : {false, true}) {
    write("a.txt", "bytes");
    capture();
    trash("s/a.txt");
    await_next_tick("a.txt");
    write("a.txt", "bytes");
    if (brought_first) keeper->bring_outside_changes(as(), [] { return CopyKeeper::OpenFiles{}; });
    auto settled = capture();
    ASSERT_EQ(settled.kept.size(), 1u);
    EXPECT_EQ(kept("s/a.txt"), "bytes");
    keeper->bring_outside_changes(as(), [] { return CopyKeeper::OpenFiles{}; });
    EXPECT_EQ(read("a.txt"), "bytes");
    std::filesystem::remove(on_disk("a.txt"));
    capture();
  }
}

TEST_F(PlacedFilesTest, AFileThatAClientDeletedStaysDeletedIfCodeOnlySetsItsTime) {
  write("a.txt", "bytes");
  capture();
  trash("s/a.txt");
  await_next_tick("a.txt");
  const timespec times[2] = {{1'500'000'000, 0}, {1'500'000'000, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, on_disk("a.txt").c_str(), times, 0), 0);
  capture();
  EXPECT_FALSE(find("s/a.txt"));
  keeper->bring_outside_changes(as(), [] { return CopyKeeper::OpenFiles{}; });
  EXPECT_FALSE(std::filesystem::exists(on_disk("a.txt")));
}

TEST_F(PlacedFilesTest, AFigureThatCodeLinkedIsKeptUnderBothNames) {
  place("figure");
  ASSERT_EQ(::link(on_disk(kFigure).c_str(), on_disk("second.png").c_str()), 0);
  capture();
  EXPECT_EQ(kept("s/outputs/1-1.png"), "figure");
  EXPECT_EQ(kept("s/second.png"), "figure");
  EXPECT_EQ(versions("s/outputs/1-1.png"), 1u);
}

TEST_F(PlacedFilesTest, AFigureThatCodeHoldsOpenIsCompleteAndLookedAtAgain) {
  place("figure");
  struct stat found{};
  ASSERT_EQ(::stat(on_disk(kFigure).c_str(), &found), 0);
  auto settled = capture(CopyKeeper::Extent::touched, {{found.st_dev, found.st_ino}});
  ASSERT_EQ(settled.kept.size(), 1u);
  EXPECT_TRUE(settled.kept[0].complete);
  {
    std::ofstream(on_disk(kFigure)) << "code's";
  }
  capture();
  EXPECT_EQ(texts_of_versions("s/outputs/1-1.png"), (std::vector<std::string>{"figure", "code's"}));
}

TEST_F(PlacedFilesTest, OpenFilesAreAskedForOnlyWhenCodeTouchedSomething) {
  write("outputs/earlier", "x");
  capture();
  capture();  // the first one opened the file itself
  int asked = 0;
  auto count = [&] {
    ++asked;
    return CopyKeeper::OpenFiles{};
  };
  place("figure");
  EXPECT_EQ(keeper->capture(CopyKeeper::Extent::touched, as(), count).kept.size(), 1u);
  EXPECT_EQ(asked, 0);
  place("figure", "outputs/1-2.png");
  EXPECT_EQ(read("outputs/1-2.png"), "figure") << "opened now";
  keeper->capture(CopyKeeper::Extent::touched, as(), count);
  EXPECT_EQ(asked, 1);
}

TEST_F(PlacedFilesTest, AFolderInThePlaceOfAFigureIsKeptAndTheFigureIsInTheTrash) {
  place("figure");
  std::filesystem::remove(on_disk(kFigure));
  write(std::string(kFigure) + "/inside", "x");
  capture();
  EXPECT_EQ(kept("s/outputs/1-1.png/inside"), "x");
  EXPECT_EQ(keep.files().trash(ws, "", 10).items.size(), 1u);
}

TEST_F(PlacedFilesTest, AFigureIsNeverPlacedOverAFile) {
  write(kFigure, "mine");
  EXPECT_THROW(place("figure"), Error);
  EXPECT_EQ(read(kFigure), "mine");
  capture();
  EXPECT_EQ(texts_of_versions("s/outputs/1-1.png"), std::vector<std::string>{"mine"});
}

TEST_F(PlacedFilesTest, AKillBeforeTheCaptureLeavesOneFile) {
  place("figure");
  open("this boot");
  EXPECT_EQ(texts_of_versions("s/outputs/1-1.png"), std::vector<std::string>{"figure"});
  EXPECT_TRUE(is_nothing(capture(CopyKeeper::Extent::all)));
}

TEST_F(PlacedFilesTest, AKillAfterTheCaptureLeavesNoSecondVersion) {
  place("figure");
  auto version = capture().kept.at(0).version;
  open("this boot");
  EXPECT_TRUE(is_nothing(capture(CopyKeeper::Extent::all)));
  EXPECT_EQ(find("s/outputs/1-1.png")->head, version);
  EXPECT_EQ(versions("s/outputs/1-1.png"), 1u);
}

TEST_F(PlacedFilesTest, AFailedTransactionLeavesTheFigureForTheNextCapture) {
  place("figure");
  CaptureAs failing = as();
  failing.also = [](catalog::Tx&, const std::vector<KeptFile>&) {
    throw Error(Code::internal, "the record cannot be written");
  };
  EXPECT_THROW(keeper->capture(CopyKeeper::Extent::touched, failing), Error);
  EXPECT_FALSE(find("s/outputs/1-1.png"));
  auto settled = capture();
  ASSERT_EQ(settled.kept.size(), 1u);
  EXPECT_EQ(kept("s/outputs/1-1.png"), "figure");
}

TEST_F(PlacedFilesTest, AFigureThatTheQuotaRefusedIsTheOnlyCopyAndTriedAgain) {
  keep.workspaces().change(ws, {}, 3);
  place("figure");
  auto refused = capture();
  ASSERT_EQ(refused.not_kept.size(), 1u);
  EXPECT_EQ(refused.not_kept[0].reason, UnkeptReason::quota);
  EXPECT_TRUE(refused.not_kept[0].only_copy);
  keep.workspaces().change(ws, {}, 1000);
  EXPECT_EQ(capture().kept.size(), 1u);
  EXPECT_EQ(kept("s/outputs/1-1.png"), "figure");
}

TEST_F(PlacedFilesTest, AFigureThatTheStoreRefusesIsNamed) {
  place(std::string(context.file_bytes_max + 1, 'x'), "outputs/large.png");
  auto refused = capture();
  ASSERT_EQ(refused.not_kept.size(), 1u);
  EXPECT_EQ(refused.not_kept[0].path, "s/outputs/large.png");
  EXPECT_EQ(refused.not_kept[0].reason, UnkeptReason::too_large);
  keep.context().limits.disk_reserve_bytes = UINT64_MAX / 2;
  place("figure");
  refused = capture();
  ASSERT_EQ(refused.not_kept.size(), 1u);
  EXPECT_EQ(refused.not_kept[0].reason, UnkeptReason::disk_full);
  keep.context().limits.disk_reserve_bytes = 0;
  capture();
  EXPECT_EQ(kept("s/outputs/1-1.png"), "figure");
}

TEST_F(PlacedFilesTest, AFigureBelowALockIsKeptAside) {
  workspace::LockWanted wanted;
  wanted.path = "s";
  keep.locks().acquire(ws, wanted);
  place("figure");
  auto settled = capture();
  ASSERT_EQ(settled.kept.size(), 1u);
  EXPECT_TRUE(settled.kept[0].locked);
}

TEST_F(PlacedFilesTest, ALargeFigureIsStoredInAFile) {
  std::string bytes(500'000, 'x');
  place(bytes);
  EXPECT_EQ(capture().kept.size(), 1u);
  EXPECT_EQ(kept("s/outputs/1-1.png"), bytes);
}

}  // namespace
}  // namespace sk::interpreter
