// A session from its start to its end, as the owner of one sees it.
#include <signal.h>

#include "sandbox/meter.h"
#include "support/expect_error.h"
#include "unit/sandbox/harness.h"

namespace sk::sandbox {
namespace {

using namespace testing;

TEST(Session, RunsACellAndShowsItsLastExpression) {
  TestSession session;
  Cell cell = session.run("1 + 1");
  ASSERT_TRUE(cell.ok());
  EXPECT_EQ(cell.result(), "2");
}

TEST(Session, WritesAPlotIntoTheFolderThatItWasGiven) {
  TestSession session;
  Cell cell = session.run(
      "import matplotlib.pyplot as plt\n"
      "plt.plot([1, 2, 3])\n"
      "plt.savefig('/mnt/data/plot.png')\n"
      "plt.close()");
  ASSERT_TRUE(cell.ok()) << cell.errors << (cell.raised.empty() ? "" : cell.raised[0].traceback);
  std::string bytes = read_file(session.folder() + "/plot.png");
  EXPECT_EQ(bytes.substr(0, 8), "\x89PNG\r\n\x1a\n");
  struct stat info{};
  ASSERT_EQ(::stat((session.folder() + "/plot.png").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, host().file_owner().uid);
}

TEST(Session, SaysWithWhichCodeItsMainProcessExited) {
  TestSession session;
  Cell cell = session.run("import os\nprint('bye', flush=True)\nos._exit(3)");
  ASSERT_TRUE(cell.ended);
  EXPECT_EQ(cell.output, "bye\n") << "what was printed before the end is delivered";
  EXPECT_EQ(cell.ended->end, End::exited);
  EXPECT_EQ(cell.ended->exit_code, 3);
}

TEST(Session, SaysOfWhichSignalItsMainProcessDied) {
  TestSession session;
  Cell cell = session.run("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)");
  ASSERT_TRUE(cell.ended);
  EXPECT_EQ(cell.ended->end, End::crash);
  EXPECT_EQ(cell.ended->signal, SIGSEGV);
}

TEST(Session, EndsAsOutOfMemoryOverItsMemoryLimit) {
  TestSession session({.memory_bytes = 200 << 20});
  Cell cell = session.run("blocks = []\nwhile True: blocks.append(bytearray(1 << 20))");
  if (cell.done) {
    // Where a resource limit stands in for the control group, Python may notice first.
    ASSERT_FALSE(host().report().limits_are_exact);
    EXPECT_EQ(cell.raised.at(0).name, "MemoryError");
    return;
  }
  ASSERT_TRUE(cell.ended);
  EXPECT_EQ(cell.ended->end, End::oom) << cell.ended->reason;
}

TEST(Session, CountsFilesInTmpAndSharedMemoryAsMemory) {
  TestSession session({.memory_bytes = 200 << 20, .tmp_bytes = 4ull << 30});
  Cell cell = session.run(
      "import mmap\n"
      "with open('/tmp/fill', 'wb') as file:\n"
      "    for i in range(1000): file.write(bytes(1 << 20))");
  ASSERT_TRUE(cell.ended) << cell.errors;
  EXPECT_EQ(cell.ended->end, End::oom) << cell.ended->reason;
}

TEST(Session, FailsWritesBeyondTheSizeOfTmp) {
  TestSession session({.tmp_bytes = 8 << 20});
  Cell cell = session.run("open('/tmp/fill', 'wb').write(bytes(9 << 20))");
  ASSERT_EQ(cell.raised.size(), 1u);
  EXPECT_EQ(cell.raised[0].name, "OSError");
  EXPECT_TRUE(session.run("1").ok());
}

TEST(Session, FailsWritesBeyondTheSizeOfAFile) {
  TestSession session({.file_bytes_max = 1 << 20});
  Cell cell = session.run(
      "import os\n"
      "def attempt(what):\n"
      "    try: what(); return 'worked'\n"
      "    except OSError as error: return os.strerror(error.errno)\n"
      "with open('big', 'wb', buffering=0) as f:\n"
      "    print(attempt(lambda: os.ftruncate(f.fileno(), 2 << 20)))\n"
      "    print(attempt(lambda: os.pwrite(f.fileno(), b'x', 1 << 20)))\n"
      "    print(attempt(lambda: os.posix_fallocate(f.fileno(), 0, 2 << 20)))\n"
      "    import ctypes; libc = ctypes.CDLL(None, use_errno=True)\n"
      "    print(libc.fallocate(f.fileno(), 1, ctypes.c_long(0), ctypes.c_long(2 << 20)), "
      "os.strerror(ctypes.get_errno()))");
  EXPECT_EQ(cell.output, "File too large\nFile too large\nFile too large\n-1 Operation not supported\n");
}

TEST(Session, LimitsProcessesAndGoesOn) {
  TestSession session({.processes_max = 20});
  Cell cell = session.run(
      "import os, time\n"
      "children = []\n"
      "try:\n"
      "    while True:\n"
      "        pid = os.fork()\n"
      "        if pid == 0: time.sleep(100); os._exit(0)\n"
      "        children.append(pid)\n"
      "except OSError as error: print(type(error).__name__, len(children) < 20)\n"
      "for pid in children: os.kill(pid, 9); os.waitpid(pid, 0)");
  EXPECT_EQ(cell.output, "BlockingIOError True\n");
  if (host().report().limits_are_exact) {
    EXPECT_GT(session.session().usage().processes_refused, 0u);
  }
  EXPECT_EQ(session.run("!echo fine").output, "fine\n");
}

TEST(Session, LimitsOpenFiles) {
  TestSession session({.open_files_max = 300});
  Cell cell = session.run("files = [open('/dev/null') for i in range(400)]");
  ASSERT_EQ(cell.raised.size(), 1u);
  EXPECT_EQ(cell.raised[0].name, "OSError");
  EXPECT_EQ(session.run("1 + 1").result(), "2");
}

TEST(Session, EndsEveryProcessWhenItIsKilled) {
  TestSession session;
  session.run(
      "import subprocess\nfor i in range(5): subprocess.Popen(['sleep', '1000'], start_new_session=True)");
  auto processes = session.session().processes();
  EXPECT_EQ(processes.size(), 6u);
  session.session().kill(End::killed, "timeout");
  Cell cell = session.wait_ended();
  ASSERT_TRUE(cell.ended);
  EXPECT_EQ(cell.ended->end, End::killed);
  EXPECT_EQ(cell.ended->reason, "timeout");
  for (pid_t pid : processes) EXPECT_NE(::kill(pid, 0), 0) << pid;
}

TEST(Session, CannotBeOutlivedByADaemon) {
  TestSession session;
  session.run(
      "import os, time, signal\n"
      "parent = os.fork()\n"
      "if parent == 0:\n"
      "    os.setsid()\n"
      "    for number in range(1, 32):\n"
      "        if number not in (9, 19): signal.signal(number, signal.SIG_IGN)\n"
      "    if os.fork() == 0:\n"
      "        while True: time.sleep(1)\n"
      "    os._exit(0)\n"
      "os.waitpid(parent, 0)");
  auto processes = session.session().processes();
  EXPECT_EQ(processes.size(), 2u);
  session.run("import os; os._exit(0)");
  for (pid_t pid : processes) EXPECT_NE(::kill(pid, 0), 0) << pid;
}

TEST(Session, KeepsTheFirstCauseOfItsEnd) {
  TestSession session;
  session.start("while True: pass");
  session.session().kill(End::killed, "first");
  session.session().kill(End::killed, "second");
  EXPECT_EQ(session.wait_ended().ended->reason, "first");
}

TEST(Session, StandsStillWhileItIsFrozen) {
  TestSession session;
  session.start("i = 0\nwhile True:\n    i += 1\n    if i % 1000 == 0: print(i, flush=True)");
  ASSERT_TRUE(session.wait([&] { return !session.events().cell.output.empty(); }));
  session.session().freeze();
  while (session.wait(
      [&, size = session.events().cell.output.size()] { return session.events().cell.output.size() > size; },
      300)) {
  }
  session.session().thaw();
  size_t size = session.events().cell.output.size();
  EXPECT_TRUE(session.wait([&] { return session.events().cell.output.size() > size; }));
}

TEST(Session, DiesAlsoWhenItIsFrozen) {
  TestSession session;
  session.run("x = 1");
  session.session().freeze();
  session.session().kill(End::killed, "frozen");
  EXPECT_TRUE(session.wait_ended().ended);
}

TEST(Session, NamesFilesThatAreOpenForWritingOrMapped) {
  TestSession session;
  session.run(
      "import mmap, subprocess\n"
      "open('read', 'w').write('x'); reader = open('read')\n"
      "open('closed', 'w').write('x')\n"
      "writer = open('written', 'w')\n"
      "with open('mapped', 'w+b') as f: f.truncate(4096); m = mmap.mmap(f.fileno(), 4096)\n"
      "p = subprocess.Popen('exec sleep 1000 > by_child', shell=True)");
  auto inode = [&](const char* name) {
    struct stat info{};
    EXPECT_EQ(::stat((session.folder() + "/" + name).c_str(), &info), 0) << name;
    return OpenFile{info.st_dev, info.st_ino};
  };
  session.wait([&] { return std::filesystem::exists(session.folder() + "/by_child"); }, 5000);
  auto open = session.session().files_open_for_writing();
  auto has = [&](const char* name) { return std::binary_search(open.begin(), open.end(), inode(name)); };
  EXPECT_TRUE(has("written"));
  EXPECT_TRUE(has("mapped"));
  EXPECT_TRUE(has("by_child"));
  EXPECT_FALSE(has("read"));
  EXPECT_FALSE(has("closed"));
}

TEST(Session, ReportsWhatItUses) {
  if (!host().report().limits_are_exact) GTEST_SKIP() << "no control groups for this user";
  TestSession session;
  session.run("x = bytearray(50 << 20)\nfor i in range(1000000): pass");
  Usage usage = session.session().usage();
  EXPECT_GT(usage.memory_bytes, 50u << 20);
  EXPECT_GE(usage.memory_peak_bytes, usage.memory_bytes);
  EXPECT_GT(usage.cpu_us, 1000u);
  EXPECT_EQ(usage.processes, 1u);
}

TEST(Session, CountsTheCallsThatItsFilterRefuses) {
  auto& total = metrics().counter("sandkeep_sandbox_refused_calls_total", "");
  auto before = total.value();
  {
    TestSession session;
    auto meter = session.session().meter();
    EXPECT_EQ(meter->read().calls_refused, 0u);
    session.run("import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)");
    EXPECT_EQ(session.run("[(libc.unshare(0x10000000), ctypes.get_errno()) for _ in range(3)]").result(),
              "[(-1, 1), (-1, 1), (-1, 1)]");
    EXPECT_EQ(meter->read().calls_refused, 3u);
    // In another process, too, and after the last that is counted.
    session.run(
        "if os.fork() == 0:\n  for _ in range(20000): libc.unshare(0x10000000)\n  os._exit(0)\nos.wait()");
    EXPECT_EQ(meter->read().calls_refused, static_cast<uint64_t>(SK_REFUSALS_COUNTED_MAX));
    EXPECT_EQ(session.run("libc.unshare(0x10000000)").result(), "-1");
  }
  auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
  while (total.value() < before + SK_REFUSALS_COUNTED_MAX && std::chrono::steady_clock::now() < deadline)
    std::this_thread::yield();
  EXPECT_EQ(total.value(), before + SK_REFUSALS_COUNTED_MAX);
}

TEST(Session, CannotUseSpeculationThatTheProcessorCanTurnOff) {
  TestSession session;
  // PR_GET_SPECULATION_CTRL of both kinds. Bit 0: a process can choose; bit 3: off for good.
  session.run(
      "import ctypes\nlibc = ctypes.CDLL(None)\nfound = [libc.prctl(52, kind, 0, 0, 0) for kind in (0, 1)]");
  EXPECT_EQ(session.run("[hex(each) for each in found if each > 0 and each & 1 and not each & 8]").result(),
            "[]");
}

TEST(Session, SeesFurtherFoldersReadOnly) {
  TempFolder shared;
  std::filesystem::permissions(shared.path(), std::filesystem::perms(0755));
  write_file_durably(shared / "note.txt", "hello", 0644);
  SessionSpec spec;
  spec.binds = {{shared.path(), "shared"}};
  TestSession session(spec, host());
  EXPECT_EQ(session.run("open('/mnt/shared/note.txt').read()").result(), "'hello'");
  for (const char* attempt : {"open('/mnt/shared/new', 'w')", "open('/mnt/shared/note.txt', 'a')",
                              "import os; os.mkdir('/mnt/x')", "os.remove('/mnt/shared/note.txt')"})
    EXPECT_EQ(session.run(attempt).done->status, CellStatus::error) << attempt;
  EXPECT_EQ(read_file(shared / "note.txt"), "hello");
  EXPECT_FALSE(std::filesystem::exists(shared / "new"));
}

TEST(Session, RefusesFoldersThatItCannotMount) {
  auto start = [](SessionSpec spec) { TestSession session(spec, host()); };
  SessionSpec spec;
  spec.binds = {{"/usr", "../etc"}};
  test::expect_error(Code::bad_request, [&] { start(spec); });
  spec.binds = {{"/usr", "data"}};
  test::expect_error(Code::bad_request, [&] { start(spec); });
  spec.binds = {{"usr", "usr"}};
  test::expect_error(Code::bad_request, [&] { start(spec); });
  spec.binds = std::vector<ReadOnlyBind>(100, {"/usr", "usr"});
  test::expect_error(Code::bad_request, [&] { start(spec); });
  SessionSpec missing;
  missing.data_dir = "/no/such/folder";
  test::expect_error(Code::internal, [&] { (void)host().start(missing); });
  SessionSpec runtime;
  runtime.data_dir = "/tmp";
  runtime.runtime = "no such";
  test::expect_error(Code::not_found, [&] { (void)host().start(runtime); });
  EXPECT_TRUE(TestSession().run("1").ok()) << "a refused session leaves the host as it was";
}

TEST(Session, CannotFollowALinkThatTakesTheFoldersPlace) {
  TempFolder place;
  std::filesystem::create_symlink("/etc", place / "data");
  SessionSpec spec;
  spec.data_dir = place / "data";
  test::expect_error(Code::internal, [&] { (void)host().start(spec); });
}

}  // namespace
}  // namespace sk::sandbox
