// A working copy and its folder of the workspace, without a sandbox: the test itself writes what code would
// write.
#include "interpreter/copy/copy_keeper.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <semaphore>
#include <set>
#include <thread>

#include "interpreter/run/live_session.h"
#include "support/content_of.h"
#include "support/first_principal.h"
#include "support/keep_options.h"
#include "unit/temp_dir.h"

namespace sk::interpreter {
namespace {

namespace fs = std::filesystem;

class CopyKeeperTest : public testing::Test {
 protected:
  CopyKeeperTest() {
    session.id = keep.context().ids.next();
    session.workspace = ws.workspace_id();
    session.folder = "w";
    session.name = "test";
    session.owner = actor.principal();
    session.created_us = session.active_us = clock.now_us();
    records.insert(ws, session);
    keep.files().apply_one(ws, workspace::MkdirChange{"w", 0755, {}, true});
    open();
  }

  void open() {
    keeper = std::make_unique<CopyKeeper>(context, session);
    keeper->open(as());
    keeper->mark_used();
  }
  // As when the server is killed: nothing is captured, and the copy stays as it is.
  void open_after_kill(const std::string& boot_id) {
    keeper.reset();
    context.boot_id = boot_id;
    open();
  }
  CaptureAs as() { return capture_as(session, actor); }
  Settled capture(CopyKeeper::OpenFiles open_files = {}) {
    return keeper->capture(CopyKeeper::Extent::touched, as(), [=] { return open_files; });
  }
  void bring(CopyKeeper::OpenFiles open_files = {}) {
    keeper->bring_outside_changes(as(), [=] { return open_files; });
  }

  std::string on_disk(const std::string& name) { return keeper->copy().directory() + "/" + name; }
  void write(const std::string& name, const std::string& text) {
    fs::create_directories(fs::path(on_disk(name)).parent_path());
    std::ofstream(on_disk(name)) << text;
  }
  std::string text_of(const std::string& name) {
    std::ifstream file(on_disk(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  CopyKeeper::OpenFiles inode_of(const std::string& name) {
    struct stat found{};
    EXPECT_EQ(::stat(on_disk(name).c_str(), &found), 0);
    return {{found.st_dev, found.st_ino}};
  }

  // What a client does.
  void put(const std::string& path, const std::string& text) {
    workspace::PutChange change;
    change.path = path;
    change.content = content_of(keep.context(), text);
    keep.files().apply_one(ws, std::move(change));
  }
  void trash(const std::string& path) { keep.files().apply_one(ws, workspace::TrashChange{path, {}}); }
  bool is_kept(const std::string& path) { return keep.files().find(ws, path).has_value(); }
  size_t versions(const std::string& path) {
    return keep.files().versions(ws, keep.files().get(ws, path).id, "", 100).items.size();
  }
  std::string kept(const std::string& path) {
    auto entry = keep.files().get(ws, path);
    return workspace::ContentReader(keep.context(), entry.sha256, 0, entry.size).read_all();
  }

  TempDir dir;
  SystemClock clock;
  Metrics metrics;
  workspace::Keep keep{test::keep_options(dir.file("data")), clock, metrics};
  workspace::Actor actor = workspace::first_actor(keep);
  workspace::Authority ws = workspace::first_authority(keep);
  Records records{keep.context()};
  Watcher watcher{{.folders_per_copy_max = 8'192}};
  CopyContext context{keep,       records, watcher, dir.file("copies"), {::geteuid(), ::getegid()},
                      1ull << 30, "a-boot"};
  SessionInfo session;
  std::unique_ptr<CopyKeeper> keeper;
};

TEST_F(CopyKeeperTest, NoFileIsRefusedBecauseABatchIsTooLong) {
  keep.context().limits.batch_max = 3;
  for (int i = 0; i < 8; ++i) write("f" + std::to_string(i), "x");
  auto settled = capture();
  EXPECT_EQ(settled.kept.size(), 8u);
  EXPECT_TRUE(settled.not_kept.empty());
}

TEST_F(CopyKeeperTest, TheRecordOfAnExecutionIsWrittenWithItsVersions) {
  CaptureAs with_record = as();
  std::vector<std::string> recorded;
  with_record.also = [&](catalog::Tx&, const std::vector<KeptFile>& files) {
    recorded.clear();  // the transaction may run again
    for (const auto& file : files) recorded.push_back(file.path);
  };
  write("a", "1");
  keeper->capture(CopyKeeper::Extent::touched, with_record);
  EXPECT_EQ(recorded, std::vector<std::string>{"w/a"});
}

TEST_F(CopyKeeperTest, NothingThatAnEarlierOwnerCapturesIsKept) {
  write("a", "1");
  SessionInfo earlier = session;
  records.claim(session);
  EXPECT_THROW(keeper->capture(CopyKeeper::Extent::touched, capture_as(earlier, actor)), Error);
  EXPECT_FALSE(is_kept("w/a"));
  // The later one finds it in the copy.
  keeper.reset();
  open();
  EXPECT_EQ(kept("w/a"), "1");
}

TEST_F(CopyKeeperTest, ARenamedFileKeepsItsId) {
  write("a", "1");
  capture();
  Id id = keep.files().get(ws, "w/a").id;
  fs::rename(on_disk("a"), on_disk("b"));
  capture();
  EXPECT_FALSE(is_kept("w/a"));
  EXPECT_EQ(keep.files().get(ws, "w/b").id, id);
}

// A server that dies between two batches must not take a rename of the second one for done.
TEST_F(CopyKeeperTest, ARenameIsInTheManifestOnlyWithItsOwnBatch) {
  keep.context().limits.batch_max = 1;
  write("a", "1");
  write("b", "2");
  capture();
  fs::create_directory(on_disk("d"));
  fs::rename(on_disk("a"), on_disk("d/a"));
  fs::rename(on_disk("b"), on_disk("d/b"));
  CaptureAs dying = as();
  dying.also = [&](catalog::Tx&, const std::vector<KeptFile>&) {
    // Sees only what is committed: the first batch is.
    if (is_kept("w/d/a") || is_kept("w/d/b")) throw Error(Code::internal, "the server dies here");
  };
  EXPECT_THROW(keeper->capture(CopyKeeper::Extent::touched, dying), Error);
  EXPECT_NE(is_kept("w/d/a"), is_kept("w/d/b"));
  for (const auto& [path, row] : keeper->manifest().rows())
    EXPECT_TRUE(is_kept("w/" + path)) << path << " is in the manifest, and nothing is there";
  capture();
  EXPECT_EQ(kept("w/d/a"), "1");
  EXPECT_EQ(kept("w/d/b"), "2");
  EXPECT_FALSE(is_kept("w/a") || is_kept("w/b"));
}

TEST_F(CopyKeeperTest, AFileThatMovesIntoAFolderMadeInTheNameOfARenamedOneKeepsItsId) {
  write("b", "1");
  write("d/a", "2");
  capture();
  Id id = keep.files().get(ws, "w/b").id;
  fs::rename(on_disk("d"), on_disk("h"));
  fs::create_directory(on_disk("d"));
  fs::rename(on_disk("b"), on_disk("d/b"));
  capture();
  EXPECT_EQ(keep.files().get(ws, "w/d/b").id, id);
  EXPECT_EQ(kept("w/h/a"), "2");
}

TEST_F(CopyKeeperTest, AFileThatWasDeletedBeforeItsFolderWasRenamedIsGone) {
  write("d/a", "1");
  write("d/b", "2");
  capture();
  fs::remove(on_disk("d/a"));
  fs::rename(on_disk("d"), on_disk("e"));
  capture();
  EXPECT_FALSE(is_kept("w/d"));
  EXPECT_FALSE(is_kept("w/e/a"));
  EXPECT_EQ(kept("w/e/b"), "2");
}

TEST_F(CopyKeeperTest, TruncatingAFileByItsPathIsNoticed) {
  write("a", "12345");
  capture();
  fs::resize_file(on_disk("a"), 2);
  capture();
  EXPECT_EQ(kept("w/a"), "12");
}

TEST_F(CopyKeeperTest, AWriteNamesTheVersionThatItStartedFrom) {
  write("a", "first");
  capture();
  auto first = keep.files().get(ws, "w/a");
  write("a", "second");
  capture();
  auto second = keep.files().get(ws, "w/a");
  EXPECT_FALSE(second.diverged);
  EXPECT_EQ(keep.files().find_version_anywhere(second.head)->base, first.head);
}

TEST_F(CopyKeeperTest, AFileThatSomebodyElseWroteSinceIsNotDeleted) {
  write("a", "mine");
  capture();
  put("w/a", "theirs");
  fs::remove(on_disk("a"));
  capture();
  EXPECT_EQ(kept("w/a"), "theirs");
}

TEST_F(CopyKeeperTest, AFolderInWhichSomebodyElsePutSomethingDoesNotGoAsAWhole) {
  write("d/a", "mine");
  capture();
  put("w/d/b", "theirs");
  fs::remove_all(on_disk("d"));
  capture();
  EXPECT_FALSE(is_kept("w/d/a"));
  EXPECT_EQ(kept("w/d/b"), "theirs");
}

TEST_F(CopyKeeperTest, AFileThatSomebodyDeletedDoesNotComeBackWhenItIsComplete) {
  write("a", "1");
  capture(inode_of("a"));
  ASSERT_TRUE(is_kept("w/a"));
  trash("w/a");
  // Closed, without another byte.
  std::ofstream(on_disk("a"), std::ios::app).close();
  capture();
  EXPECT_FALSE(is_kept("w/a"));
}

TEST_F(CopyKeeperTest, AFileThatSomebodyDeletedDoesNotComeBackWhenTheSessionSleeps) {
  write("a", "1");
  capture();
  // Another mode is a change, but the bytes are those that somebody deleted.
  fs::permissions(on_disk("a"), fs::perms(0600));
  trash("w/a");
  keeper->close(as());
  EXPECT_FALSE(is_kept("w/a"));
}

TEST_F(CopyKeeperTest, ALocalChangeStaysWhenSomebodyElseWritesTheFile) {
  write("a", "first");
  capture();
  write("a", "mine, and longer");
  put("w/a", "theirs");
  bring();
  EXPECT_EQ(text_of("a"), "mine, and longer");
  capture();
  EXPECT_TRUE(keep.files().get(ws, "w/a").diverged);
}

TEST_F(CopyKeeperTest, ALocalChangeStaysWhenSomebodyElseDeletesTheFile) {
  write("a", "first");
  capture();
  write("a", "mine, and longer");
  trash("w/a");
  bring();
  EXPECT_EQ(text_of("a"), "mine, and longer");
}

TEST_F(CopyKeeperTest, ALocalChangeOfTheSameSizeIsToldByItsContent) {
  write("a", "one");
  capture();
  write("a", "two");
  trash("w/a");
  bring();
  EXPECT_EQ(text_of("a"), "two");
}

TEST_F(CopyKeeperTest, ADeletionFromOutsideThatMeetsAnOpenFileIsTriedAgain) {
  write("a", "1");
  capture();
  trash("w/a");
  bring(inode_of("a"));
  EXPECT_TRUE(fs::exists(on_disk("a")));
  bring();
  EXPECT_FALSE(fs::exists(on_disk("a")));
}

TEST_F(CopyKeeperTest, WhatCouldNotBeBroughtComesAlsoAfterASleep) {
  fs::create_symlink("nowhere", on_disk("a"));
  put("w/a", "theirs");
  bring();
  EXPECT_TRUE(fs::is_symlink(on_disk("a")));
  keeper->close(as());
  open();
  fs::remove(on_disk("a"));
  bring();
  EXPECT_EQ(text_of("a"), "theirs");
}

TEST_F(CopyKeeperTest, TheSessionsOwnFolderHasNoRow) {
  put("w/a", "1");
  // The copy of another boot is not believed, so that the whole folder is brought.
  open_after_kill("another-boot");
  EXPECT_EQ(text_of("a"), "1");
  EXPECT_EQ(keeper->manifest().find(""), nullptr);
  EXPECT_NE(keeper->manifest().find("a"), nullptr);
}

TEST_F(CopyKeeperTest, AFileThatSomebodyElseWroteSinceIsNotRenamed) {
  write("a", "mine");
  capture();
  put("w/a", "theirs");
  fs::rename(on_disk("a"), on_disk("b"));
  capture();
  EXPECT_EQ(kept("w/a"), "theirs");
  EXPECT_EQ(kept("w/b"), "mine");
}

TEST_F(CopyKeeperTest, AFileThatSomebodyDeletedDoesNotComeBackAfterAKill) {
  write("a", "1");
  capture();
  fs::permissions(on_disk("a"), fs::perms(0600));
  trash("w/a");
  open_after_kill(context.boot_id);
  EXPECT_FALSE(is_kept("w/a"));
}

TEST_F(CopyKeeperTest, WhatIsNotDueBetweenCellsIsCapturedLater) {
  write("a", "first");
  keeper->capture_between_cells(as(), {});
  EXPECT_EQ(kept("w/a"), "first");
  write("a", "second");
  keeper->capture_between_cells(as(), {});
  capture();
  EXPECT_EQ(kept("w/a"), "second");
}

TEST_F(CopyKeeperTest, ACopyIsEvictedOnlyWhenItHoldsNoOnlyCopy) {
  context.file_bytes_max = 10;
  open_after_kill(context.boot_id);
  write("a", "longer than ten bytes");
  EXPECT_EQ(capture().not_kept.size(), 1u);
  EXPECT_FALSE(keeper->close(as()).kept);
  EXPECT_FALSE(keeper->evict(as()));
  EXPECT_TRUE(keeper->exists());
  context.file_bytes_max = 100;
  EXPECT_TRUE(keeper->evict(as()));
  EXPECT_FALSE(keeper->exists());
}

TEST_F(CopyKeeperTest, WhatIsFoundAfterAPowerCutIsAVersionBesideTheHead) {
  write("a", "first");
  capture();
  write("a", "second");
  open_after_kill("another-boot");
  EXPECT_EQ(kept("w/a"), "first");
  EXPECT_EQ(versions("w/a"), 2u);
}

TEST_F(CopyKeeperTest, AnEmptyFileThatAPowerCutLeftIsNoVersion) {
  write("a", "first");
  capture();
  write("a", "");
  open_after_kill("another-boot");
  EXPECT_EQ(kept("w/a"), "first");
  EXPECT_EQ(versions("w/a"), 1u);
}

TEST_F(CopyKeeperTest, ACopyOfAnotherBootStaysUntilEverythingInItIsKept) {
  write("a", "longer than ten bytes");
  context.file_bytes_max = 10;
  open_after_kill("another-boot");
  EXPECT_FALSE(is_kept("w/a"));
  context.file_bytes_max = 100;
  open_after_kill("a-third-boot");
  EXPECT_EQ(kept("w/a"), "longer than ten bytes");
}

// The remains of an untrusted copy are searched again and again.
TEST_F(CopyKeeperTest, AFolderOfAFileThatCannotBeKeptDoesNotComeBackOnceItIsDeleted) {
  write("d/e/large", "longer than ten bytes");
  write("d/small", "1");
  fs::create_directories(on_disk("d/empty"));
  fs::permissions(on_disk("d"), fs::perms(0711));
  context.file_bytes_max = 10;
  open_after_kill("another-boot");
  EXPECT_EQ(kept("w/d/small"), "1");
  EXPECT_TRUE(is_kept("w/d/empty"));
  EXPECT_EQ(keep.files().get(ws, "w/d").mode, 0711u);
  fs::remove_all(on_disk("d"));
  capture();
  EXPECT_FALSE(is_kept("w/d"));
  keeper->retry(as(), {});
  EXPECT_FALSE(is_kept("w/d"));
  context.file_bytes_max = 100;
  open_after_kill("another-boot");
  EXPECT_EQ(kept("w/d/e/large"), "longer than ten bytes");
}

TEST_F(CopyKeeperTest, ADeletionIsNotTrustedAfterAPowerCut) {
  write("a", "1");
  write("b", "2");
  capture();
  fs::remove(on_disk("b"));
  open_after_kill("another-boot");
  EXPECT_EQ(kept("w/b"), "2");
  EXPECT_EQ(text_of("b"), "2");
}

TEST_F(CopyKeeperTest, ADeletionIsTrustedAfterAKill) {
  write("a", "1");
  write("b", "2");
  capture();
  fs::remove(on_disk("b"));
  open_after_kill(context.boot_id);
  EXPECT_TRUE(is_kept("w/a"));
  EXPECT_FALSE(is_kept("w/b"));
}

// More happens than the kernel's queue of events holds: a child stops this process meanwhile, or the watcher
// would empty the queue in time.
TEST_F(CopyKeeperTest, AFolderThatWasMadeWhileEventsWereLostIsWatched) {
  long events_max = 0;
  std::ifstream("/proc/sys/fs/inotify/max_queued_events") >> events_max;
  if (events_max <= 0 || events_max > 100'000) GTEST_SKIP() << "a queue of " << events_max << " events";
  const std::string flood = on_disk("flood"), made = on_disk("made");
  pid_t tested = ::getpid(), child = ::fork();
  if (child == 0) {  // only system calls: the other threads are not here
    ::kill(tested, SIGSTOP);
    for (long i = 0; i < events_max; ++i) {
      ::close(::open(flood.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
      ::unlink(flood.c_str());
    }
    ::mkdir(made.c_str(), 0755);
    ::kill(tested, SIGCONT);
    ::_exit(0);
  }
  ASSERT_GT(child, 0);
  ::waitpid(child, nullptr, 0);
  capture();
  ASSERT_TRUE(is_kept("w/made"));
  write("made/a", "1");
  capture();
  EXPECT_TRUE(is_kept("w/made/a"));
}

TEST(ManifestRows, ANewFileWithAnOldInodeNumberIsNotTheOldOne) {
  ManifestRow row;
  row.device = 1, row.inode = 2, row.birth_ns = 3, row.generation = 4;
  Node node;
  node.kind = NodeKind::file;
  node.device = 1, node.inode = 2, node.birth_ns = 3, node.generation = 4;
  EXPECT_TRUE(row.is_inode_of(node));
  node.generation = 5;
  EXPECT_FALSE(row.is_inode_of(node));
  node.generation = 0;  // a walk does not tell it
  EXPECT_TRUE(row.is_inode_of(node));
  node.birth_ns = 4;
  EXPECT_FALSE(row.is_inode_of(node));
  row.birth_ns = node.birth_ns = 0;
  EXPECT_FALSE(row.is_inode_of(node));
}

// Each rename lands between the events that a capture has read and the names that it looks at.
TEST_F(CopyKeeperTest, FilesThatAreRenamedBesideCapturesStayTheSameFiles) {
  constexpr int kFiles = 20;
  constexpr size_t kMissedMax = 6;
  for (int i = 0; i < kFiles; ++i) write("a" + std::to_string(i), std::to_string(i));
  capture();
  std::set<Id> before;
  for (int i = 0; i < kFiles; ++i) before.insert(keep.files().get(ws, "w/a" + std::to_string(i)).id);
  std::atomic<bool> stop{false};
  std::counting_semaphore<> renames(0);  // so many that the system's queue of events never overflows
  std::thread code([&] {
    for (int turn = 0; !stop; ++turn)
      for (int i = 0; i < kFiles; ++i) {
        renames.acquire();
        const char* names[] = {"a", "b", "c"};
        std::string number = std::to_string(i);
        fs::rename(on_disk(names[turn % 3] + number), on_disk(names[(turn + 1) % 3] + number));
      }
  });
  std::vector<std::string> deleted;
  for (int i = 0; i < 200; ++i) {
    renames.release(2 * kFiles);
    for (const auto& path : capture().deleted) deleted.push_back(path);
  }
  stop = true;
  renames.release(2 * kFiles);
  code.join();
  capture();
  // The system moves a name before it queues the event. A capture that falls in between takes the rename for
  // a deletion and a new file; 8,000 renames have room for very few of those.
  EXPECT_LE(deleted.size(), kMissedMax);
  std::set<Id> after;
  workspace::ListOptions options;
  options.folder = "w";
  for (const auto& entry : keep.files().list(ws, options).items) after.insert(entry.id);
  EXPECT_EQ(after.size(), before.size());
  size_t same = 0;
  for (const Id& id : after) same += before.count(id);
  EXPECT_GE(same + kMissedMax, before.size());
}

TEST_F(CopyKeeperTest, SomethingElseInTheWayOfAFolderDoesNotKeepTheSessionFromRunning) {
  write("x/f", "mine");
  capture();
  put("w/x/y/g", "theirs");
  fs::remove_all(on_disk("x"));
  write("x", "a file now");
  keep.files().apply_one(ws, workspace::TrashChange{"w/x/y/g", {}});
  EXPECT_NO_THROW(bring());
  capture();
  EXPECT_EQ(text_of("x"), "a file now");
}

TEST_F(CopyKeeperTest, AFileUnderALeaseIsNamedAndKeptOnceItIsReleased) {
  write("leased", "text");
  ::signal(SIGIO, SIG_IGN);  // the system tells the holder that somebody wants to open the file
  int fd = ::open(on_disk("leased").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::fcntl(fd, F_SETLEASE, F_WRLCK), 0);
  auto refused = capture();
  ASSERT_EQ(refused.not_kept.size(), 1u);
  EXPECT_EQ(refused.not_kept[0].path, "w/leased");
  EXPECT_TRUE(refused.not_kept[0].only_copy);
  ::close(fd);
  EXPECT_EQ(capture().kept.size(), 1u);
}

}  // namespace
}  // namespace sk::interpreter
