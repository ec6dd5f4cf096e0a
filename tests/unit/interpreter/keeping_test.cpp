// What a session writes, and what others write meanwhile, is all kept: nothing is replaced without a trace.
#include <fstream>

#include "interpreter/copy/working_copy.h"
#include "unit/interpreter/fixture.h"

namespace sk::interpreter {
namespace {

class KeepingTest : public InterpreterTest {
 protected:
  // Starts a cell that runs `code` once go_on() was called, and waits until it has begun.
  RunningExecution begin(const SessionInfo& session, const std::string& code) {
    NewExecution wanted;
    wanted.code =
        "import os, time\nopen('begun','w').close()\nwhile not os.path.exists('go'): time.sleep(.01)\n" +
        code;
    auto running = interpreter->execute(ws, session.id, wanted).get();
    while (!std::filesystem::exists(copy_of(session) + "/begun"))
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return running;
  }
  void go_on(const SessionInfo& session) { std::ofstream(copy_of(session) + "/go").close(); }
  std::vector<workspace::Version> versions(const std::string& path) {
    return keep->files().versions(ws, keep->files().get(ws, path).id, "", 100).items;
  }
  static std::set<std::string> reasons(const Execution& execution) {
    std::set<std::string> found;
    for (const auto& item : execution.files.not_kept)
      found.insert(item.path + " " + std::string(name_of(item.reason)));
    return found;
  }
  std::string copy_of(const SessionInfo& session) { return folder + "/copies/" + session.id.hex(); }
};

TEST_F(KeepingTest, ASessionWithFilesThatCouldNotBeKeptIsNotDeletedUnlessThatIsWanted) {
  auto session = create("w");
  set_quota(1 << 20);
  auto execution =
      run(session.id, "import os\nopen('big','wb').write(os.urandom(3_000_000)); os.symlink('big', 'link')");
  EXPECT_EQ(reasons(execution), (std::set<std::string>{"w/big quota", "w/link link"}));
  try {
    interpreter->remove(ws, session.id).get();
    FAIL() << "the only copy would be lost";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::conflict);
    EXPECT_NE(error.message().find("w/big (quota)"), std::string::npos) << error.message();
    EXPECT_EQ(error.message().find("link"), std::string::npos);
  }
  EXPECT_EQ(std::filesystem::file_size(copy_of(session) + "/big"), 3'000'000u);
  // Still so after a restart.
  reopen();
  EXPECT_THROW(interpreter->remove(ws, session.id).get(), Error);
  // With more room, the deletion itself keeps it; the link alone is no reason to refuse.
  set_quota(100 << 20);
  interpreter->remove(ws, session.id).get();
  EXPECT_EQ(keep->files().get(ws, "w/big").size, 3'000'000u);
  EXPECT_FALSE(std::filesystem::exists(copy_of(session)));
}

TEST_F(KeepingTest, ASessionCanBeDeletedWithWhatCouldNotBeKept) {
  auto session = create("w");
  set_quota(1 << 20);
  run(session.id, "import os\nopen('big','wb').write(os.urandom(3_000_000))");
  interpreter->remove(ws, session.id, Interpreter::OnUnkept::discard).get();
  EXPECT_EQ(interpreter->get(actor, session.id).status, SessionStatus::deleted);
  EXPECT_FALSE(std::filesystem::exists(copy_of(session)));
}

TEST_F(KeepingTest, WhatWasRefusedIsKeptByTheNextCellOnceThereIsRoom) {
  auto session = create("w");
  set_quota(1 << 20);
  run(session.id, "import os\nopen('big','wb').write(os.urandom(3_000_000))");
  EXPECT_EQ(reasons(run(session.id, "1")), std::set<std::string>{"w/big quota"});
  set_quota(100 << 20);
  auto execution = run(session.id, "1");
  EXPECT_EQ(kept_names(execution, "w"), std::set<std::string>{"big"});
  EXPECT_TRUE(run(session.id, "1").files.not_kept.empty());
}

TEST_F(KeepingTest, WhatMetAFullDiskIsAppliedOnceThereIsRoom) {
  auto session = create("w");
  run(session.id, "open('gone','w').write('1')");
  auto set_pages_max = [&](catalog::Sql sql) {
    keep->context().db.write(catalog::Scope::shared(), [&](catalog::Tx& tx) {
      tx.query(sql, {}, [](const catalog::Row&) { return true; });
    });
  };
  set_pages_max("PRAGMA max_page_count = 1");
  auto execution =
      run(session.id, "import os\nos.remove('gone'); open('new','wb').write(os.urandom(100_000))");
  EXPECT_TRUE(kept_names(execution, "w").empty());
  EXPECT_TRUE(reasons(execution).contains("w/new disk_full"));
  set_pages_max("PRAGMA max_page_count = 1000000");
  EXPECT_TRUE(exists("w/gone"));
  // Nothing is touched by this cell: a deletion has no file that could be tried again.
  run(session.id, "1");
  EXPECT_FALSE(exists("w/gone"));
  EXPECT_TRUE(exists("w/new"));
}

TEST_F(KeepingTest, WhatACaptureMadeIsInTheManifestAtOnce) {
  auto session = create("w");
  auto rows = [&] {
    std::set<std::string> paths;
    keep->context().db.read([&](catalog::Statements& statements) {
      statements.query("SELECT path FROM manifests WHERE session = $1 AND kind = 0", {session.id},
                       [&](const catalog::Row& row) { return paths.insert(std::string(row.str(0))).second; });
    });
    return paths;
  };
  run(session.id, "open('a','w').write('a'); open('b','w').write('b')");
  EXPECT_EQ(rows(), (std::set<std::string>{"a", "b"}));
  run(session.id, "import os\nos.remove('a'); os.rename('b', 'c')");
  EXPECT_EQ(rows(), std::set<std::string>{"c"});
}

TEST_F(KeepingTest, TheOldBytesOfACopyNeverReplaceWhatSomebodyWroteSince) {
  auto session = create("w");
  run(session.id, "open('r','w').write('from the session')");
  put("w/r", "from outside");
  // As after a crash that lost the manifest: the copy has the old bytes, and no row says where they are from.
  interpreter.reset();
  keep->context().db.write(session.key().scope(), [&](catalog::Tx& tx) {
    tx.exec("DELETE FROM manifests WHERE session = $1", {session.id});
    tx.exec("UPDATE sessions SET dirty = 1 WHERE id = $1", {session.id});
  });
  keep.reset();
  open();
  EXPECT_EQ(read("w/r"), "from outside");
  EXPECT_EQ(versions("w/r").size(), 2u);
  EXPECT_EQ(shown(run(session.id, "print(open('r').read())"))[0]["text"], "from outside\n");
}

TEST_F(KeepingTest, TwoClientsThatCreateTheSameFileDiverge) {
  auto session = create("w");
  run(session.id, "1");
  auto running = begin(session, "open('new','w').write('session')");
  put("w/new", "outside");
  go_on(session);
  auto execution = wait(running);
  ASSERT_EQ(execution.outcome, Outcome::ok) << shown(execution);
  bool diverged = false;
  for (const auto& file : execution.files.kept)
    if (file.path == "w/new") diverged = file.diverged;
  EXPECT_TRUE(diverged);
  EXPECT_EQ(versions("w/new").size(), 2u);
  EXPECT_TRUE(keep->files().get(ws, "w/new").diverged);
}

TEST_F(KeepingTest, AModeThatSomebodyElseSetStaysUnlessCodeSetsAnother) {
  auto session = create("w");
  run(session.id, "for name in 'ab': open(name,'w').write('1')");
  auto running = begin(session, "open('a','a').write('2'); open('b','a').write('2'); os.chmod('b', 0o640)");
  for (const char* path : {"w/a", "w/b"})
    keep->files().apply_one(ws, workspace::SetModeChange{path, 0700, {}, {}});
  go_on(session);
  ASSERT_EQ(wait(running).outcome, Outcome::ok);
  EXPECT_EQ(read("w/a"), "12");
  EXPECT_EQ(keep->files().get(ws, "w/a").mode, 0700u);
  EXPECT_EQ(keep->files().get(ws, "w/b").mode, 0640u);
}

TEST_F(KeepingTest, APictureNeverReplacesAFileThatHasItsName) {
  const std::string show = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()";
  auto session = create("w");
  auto execution = run(
      session.id, "import os\nos.makedirs('outputs'); open('outputs/1-1.png','w').write('MINE')\n" + show);
  EXPECT_EQ(read("w/outputs/1-1.png"), "MINE");
  EXPECT_TRUE(kept_names(execution, "w").contains("outputs/1-1-2.png"));
  std::string told;
  for (const auto& output : shown(execution)) told = output.value("file", told);
  EXPECT_EQ(told, "w/outputs/1-1-2.png");
  // Another session of the same folder, whose copy does not have the first one's picture yet.
  auto one = create("shared"), two = create("shared");
  auto first = run(one.id, show);
  auto second = run(two.id, show);
  EXPECT_TRUE(kept_names(first, "shared").contains("outputs/1-1.png"));
  EXPECT_TRUE(kept_names(second, "shared").contains("outputs/1-1-2.png"));
  EXPECT_EQ(versions("shared/outputs/1-1.png").size(), 1u);
}

TEST_F(KeepingTest, FetchKeepsWhatItReplaces) {
  put("data/x", "fetched");
  auto session = create("w");
  auto execution = run(session.id,
                       "import sandkeep\nopen('x','w').write('mine, not kept yet')\n"
                       "sandkeep.fetch('data/x'); print(open('x').read())");
  ASSERT_EQ(execution.outcome, Outcome::ok) << shown(execution);
  auto all = versions("w/x");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].size, std::string("mine, not kept yet").size());
  EXPECT_EQ(read("w/x"), "fetched");
  EXPECT_FALSE(keep->files().get(ws, "w/x").diverged);
}

TEST_F(KeepingTest, KeepAndLinkSayWhenTheyCouldNot) {
  auto session = create("w");
  run(session.id, "open('f','w').write('old')");
  put("data/x", "x");
  set_quota(1 << 20);
  auto execution = run(session.id,
                       "import os, sandkeep\nopen('f','wb').write(os.urandom(3_000_000))\n"
                       "for call in (sandkeep.keep, sandkeep.link, lambda p: sandkeep.fetch('data/x', p)):\n"
                       "    try: print(call('f'))\n"
                       "    except sandkeep.Error as error: print(error.code)");
  EXPECT_EQ(shown(execution)[0]["text"], "quota\nquota\nquota\n") << shown(execution);
  EXPECT_EQ(std::filesystem::file_size(copy_of(session) + "/f"), 3'000'000u);
}

TEST_F(KeepingTest, AFileCanBecomeAFolderAndAFolderAFileInOneCell) {
  auto session = create("w");
  run(session.id, "import os\nopen('x','w').write('x'); os.makedirs('d/e'); open('d/e/f','w').write('f')");
  auto execution =
      run(session.id,
          "import os, shutil\nos.remove('x'); os.mkdir('x'); open('x/y','w').write('important')\n"
          "shutil.rmtree('d'); open('d','w').write('a file now')");
  EXPECT_TRUE(execution.files.not_kept.empty()) << *reasons(execution).begin();
  EXPECT_EQ(read("w/x/y"), "important");
  EXPECT_EQ(read("w/d"), "a file now");
  EXPECT_EQ(keep->files().trash(ws, "", 10).items.size(), 2u);
}

TEST_F(KeepingTest, AFileThatBecameAFolderOutsideBecomesOneInTheSession) {
  put("w/d", "a file");
  put("w/e/f", "in a folder");
  auto session = create("w");
  run(session.id, "open('d').read()");
  trash("w/d");
  put("w/d/x", "below");
  trash("w/e");
  put("w/e", "a file now");
  auto execution = run(session.id, "print(open('d/x').read(), open('e').read())");
  ASSERT_EQ(execution.outcome, Outcome::ok) << execution.message << shown(execution);
  EXPECT_EQ(shown(execution)[0]["text"], "below a file now\n");
}

TEST_F(KeepingTest, AnEntryThatBlocksTheWorkspaceIsReportedAndTheSessionContinues) {
  auto session = create("w");
  run(session.id, "import os\nos.symlink('/tmp', 'data')");
  put("w/data/x.csv", "1,2");
  put("w/other", "comes all the same");
  auto execution = run(session.id, "print(open('other').read())");
  ASSERT_EQ(execution.outcome, Outcome::ok) << execution.message << shown(execution);
  EXPECT_NE(shown(execution).dump().find("w/data/x.csv"), std::string::npos) << shown(execution);
  EXPECT_NE(shown(execution).dump().find("comes all the same"), std::string::npos);
  run(session.id, "os.remove('data')");
  EXPECT_EQ(shown(run(session.id, "print(open('data/x.csv').read())"))[0]["text"], "1,2\n");
}

TEST_F(KeepingTest, AFileWhereSomebodyElseMadeAFolderMeanwhileIsToldAndKeptOnceThereIsRoomForIt) {
  auto session = create("w");
  run(session.id, "1");
  auto running = begin(session, "open('r','w').write('mine')");
  put("w/r/x", "theirs");
  go_on(session);
  EXPECT_EQ(reasons(wait(running)), std::set<std::string>{"w/r conflict"});
  EXPECT_EQ(run(session.id, "print(open('r').read())").outcome, Outcome::ok);
  trash("w/r");
  EXPECT_EQ(kept_names(run(session.id, "1"), "w"), std::set<std::string>{"r"});
  EXPECT_EQ(read("w/r"), "mine");
}

TEST_F(KeepingTest, AFileThatIsMerelyOpenGetsNoNewVersions) {
  auto session = create("w");
  run(session.id, "f = open('log','w'); f.write('x'); f.flush()");
  for (int i = 0; i < 3; ++i) run(session.id, "1");
  EXPECT_EQ(versions("w/log").size(), 1u);
  run(session.id, "f.close()");
  auto whole = versions("w/log");
  EXPECT_TRUE(whole[0].complete);
  run(session.id, "f = open('log','a')");
  EXPECT_EQ(versions("w/log").size(), whole.size()) << "opened, not written";
}

TEST_F(KeepingTest, WhatIsWrittenThroughOneHardLinkShowsUnderTheOther) {
  auto session = create("w");
  run(session.id, "import os\nopen('one','w').write('old'); os.link('one','two')");
  run(session.id, "open('one','r+').write('new')");
  EXPECT_EQ(read("w/one"), "new");
  EXPECT_EQ(read("w/two"), "new");
}

TEST_F(KeepingTest, AFolderThatIsMovedOutOfAnotherWhichGoesLeavesNothingBehind) {
  auto session = create("w");
  run(session.id,
      "import os\nos.makedirs('a/sub'); open('a/sub/f','w').write('f'); open('a/g','w').write('g')");
  auto id = keep->files().get(ws, "w/a/sub/f").id;
  run(session.id, "import shutil\nos.rename('a/sub','sub'); shutil.rmtree('a')");
  EXPECT_FALSE(exists("w/a"));
  EXPECT_EQ(keep->files().get(ws, "w/sub/f").id, id);
}

TEST_F(KeepingTest, ADeletionThatIsNotAppliedIsTold) {
  auto session = create("w");
  run(session.id, "open('f','w').write('f')");
  auto running = begin(session, "os.remove('f')");
  put("w/f", "somebody else's");
  go_on(session);
  EXPECT_EQ(reasons(wait(running)), std::set<std::string>{"w/f conflict"});
  EXPECT_EQ(read("w/f"), "somebody else's");
}

TEST_F(KeepingTest, OddCellsFailAndTheSessionGoesOn) {
  auto session = create("w");
  run(session.id, "kept = 1");
  auto failed = [&](const std::string& code, const std::string& language = "python") {
    auto execution = run(session.id, code, language);
    EXPECT_EQ(execution.outcome, Outcome::error) << code << execution.message << shown(execution);
    bool told = false;
    for (const auto& output : shown(execution)) told = told || output["type"] == "error";
    EXPECT_TRUE(told) << code << shown(execution);
  };
  failed(std::string("print('a\0b')", 12));
  failed(
      "class Odd(BaseException): pass\n"
      "def callback(*args): raise Odd('from a callback')\n"
      "get_ipython().events.register('post_run_cell', callback)");
  run(session.id, "get_ipython().events.unregister('post_run_cell', callback)");
  run(session.id, "import os\nos.mkdir('gone'); os.chdir('gone'); os.rmdir('/mnt/data/gone')");
  auto bash = run(session.id, "pwd", "bash");
  EXPECT_EQ(bash.outcome, Outcome::ok) << bash.message << shown(bash);
  EXPECT_EQ(shown(bash)[0]["text"], "/mnt/data\n");
  auto odd = run(session.id,
                 "from IPython.display import publish_display_data\n"
                 "publish_display_data({'image/png': '!!!notbase64'})");
  EXPECT_EQ(odd.outcome, Outcome::ok) << odd.message;
  EXPECT_EQ(shown(odd)[0]["data"]["text/plain"], "!!!notbase64");
  auto number = run(session.id, "publish_display_data({'image/png': 123})");
  EXPECT_EQ(shown(number)[0]["data"], (Json{{"text/plain", "123"}}));
  EXPECT_TRUE(number.files.kept.empty()) << "a number is not a picture";
  EXPECT_EQ(shown(run(session.id, "print(kept)"))[0]["text"], "1\n");
}

// A server that is not root is bound by the modes that code gives its folders.
class Unprivileged {
 public:
  Unprivileged() {
    if (before_ == 0) {
      EXPECT_EQ(::seteuid(65534), 0);
    }
  }
  ~Unprivileged() { EXPECT_EQ(::seteuid(before_), 0); }

 private:
  const uid_t before_ = ::geteuid();
};

TEST(WorkingCopyModes, FoldersWhoseModeForbidsLookingInAreSeenAllTheSame) {
  TempDir parent;
  std::filesystem::permissions(parent.path(), std::filesystem::perms(0777));
  Unprivileged nobody;
  WorkingCopy copy(parent.path() + "/copy", Owner{::geteuid(), ::getegid()});
  auto fill = [](int fd) { write_all(fd, as_bytes("precious"), "a test"); };
  copy.write_file("d/e/f", fill, {});
  copy.make_folder("d/e", 0600);
  copy.make_folder("d", 0);
  std::set<std::string> seen;
  auto closed = copy.walk("", [&](const std::string& path, const Node&) { return seen.insert(path).second; });
  EXPECT_EQ(seen, (std::set<std::string>{"d", "d/e", "d/e/f"}));
  EXPECT_TRUE(closed.empty());
  EXPECT_TRUE(copy.look("d/e/f"));
  EXPECT_TRUE(copy.open_file("d/e/f"));
  EXPECT_EQ(copy.look("d")->mode, 0u);
  EXPECT_EQ(copy.look("d/e")->mode, 0600u);
  copy.remove_all();
  EXPECT_FALSE(std::filesystem::exists(copy.directory()));
}

TEST(WorkingCopyModes, WhatCannotBeSeenIsNamedAndIsNotGone) {
  if (::geteuid() != 0) GTEST_SKIP() << "a folder that the server may not open must be somebody else's";
  TempDir parent;
  std::filesystem::permissions(parent.path(), std::filesystem::perms(0777));
  WorkingCopy copy(parent.path() + "/copy", Owner{65534, 65534});
  std::filesystem::create_directory(copy.directory() + "/closed");  // of root
  std::ofstream(copy.directory() + "/closed/f").close();
  std::filesystem::permissions(copy.directory() + "/closed", std::filesystem::perms(0700));
  Unprivileged nobody;
  EXPECT_EQ(copy.walk("", [](const std::string&, const Node&) { return true; }),
            std::vector<std::string>{"closed"});
  int error = 0;
  EXPECT_FALSE(copy.look("closed/f", &error));
  EXPECT_EQ(error, EACCES);
}

}  // namespace
}  // namespace sk::interpreter
