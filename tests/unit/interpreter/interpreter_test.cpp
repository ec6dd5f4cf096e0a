// Sessions end to end below HTTP: real sandboxes, a real keep.
#include "support/content_of.h"
#include "unit/interpreter/fixture.h"

namespace sk::interpreter {
namespace {

TEST_F(InterpreterTest, ACellsValueIsItsResultAndVariablesStay) {
  auto session = create();
  auto first = run(session.id, "x = 20\nx + 1");
  EXPECT_EQ(first.outcome, Outcome::ok) << first.message << shown(first);
  EXPECT_EQ(shown(first)[0]["data"]["text/plain"], "21");
  EXPECT_FALSE(first.woke);
  auto second = run(session.id, "print(x * 2)");
  EXPECT_EQ(shown(second)[0]["text"], "40\n");
  EXPECT_EQ(interpreter->get(actor, session.id).status, SessionStatus::running);
}

TEST_F(InterpreterTest, WhatACellWritesIsAVersionBeforeItIsAnswered) {
  auto session = create("work");
  auto first = run(session.id, "open('/mnt/data/a.txt','w').write('one')");
  ASSERT_EQ(first.files.kept.size(), 1u) << shown(first) << first.message;
  EXPECT_EQ(first.files.kept[0].path, "work/a.txt");
  EXPECT_EQ(first.files.kept[0].change, KeptChange::created);
  EXPECT_EQ(read("work/a.txt"), "one");
  auto second = run(
      session.id, "open('a.txt','w').write('two')\nimport os\nos.makedirs('d/e')\nopen('d/e/f','w').close()");
  EXPECT_EQ(kept_names(second, "work"), (std::set<std::string>{"a.txt", "d/e/f"}));
  EXPECT_EQ(read("work/a.txt"), "two");
  auto versions = keep->files().versions(ws, first.files.kept[0].file, "", 10).items;
  EXPECT_EQ(versions.size(), 2u);
  EXPECT_EQ(versions[0].source.kind, "execution");
}

TEST_F(InterpreterTest, APlotIsShownAndKept) {
  auto session = create("plots");
  auto execution = run(
      session.id, "import matplotlib.pyplot as plt\nplt.plot([1,2,3])\nplt.savefig('chart.png')\nplt.show()");
  EXPECT_EQ(execution.outcome, Outcome::ok) << shown(execution);
  auto names = kept_names(execution, "plots");
  EXPECT_TRUE(names.contains("chart.png"));
  EXPECT_TRUE(names.contains("outputs/1-1.png"));
}

TEST_F(InterpreterTest, RenamesKeepTheFileAndDeletesGoToTheTrash) {
  auto session = create("w");
  auto made = run(session.id, "open('a','w').write('x'); open('b','w').write('y')");
  auto id = keep->files().get(ws, "w/a").id;
  auto changed = run(session.id, "import os; os.rename('a','c'); os.remove('b')");
  EXPECT_EQ(changed.files.renamed, (std::vector<std::pair<std::string, std::string>>{{"w/a", "w/c"}}));
  EXPECT_EQ(changed.files.deleted, std::vector<std::string>{"w/b"});
  EXPECT_EQ(keep->files().get(ws, "w/c").id, id);
  EXPECT_EQ(keep->files().trash(ws, "", 10).items.size(), 1u);
}

TEST_F(InterpreterTest, AnUploadToARunningSessionIsThereInItsNextCell) {
  auto session = create("w");
  run(session.id, "1");
  workspace::PutChange put;
  put.path = "w/in.txt";
  put.content = content_of(keep->context(), "from outside");
  keep->files().apply_one(keep->workspaces().open(actor, "default", workspace::Right::write), put);
  auto execution = run(session.id, "print(open('in.txt').read())");
  EXPECT_EQ(shown(execution)[0]["text"], "from outside\n") << shown(execution);
  EXPECT_TRUE(execution.files.kept.empty());
}

TEST_F(InterpreterTest, ATimeOutInterruptsAndKeepsStateAndFiles) {
  auto session = create("w");
  auto execution = run(session.id, "y = 5\nopen('before','w').write('x')\nwhile True: pass", "python", 1);
  EXPECT_EQ(execution.outcome, Outcome::timeout);
  EXPECT_EQ(kept_names(execution, "w"), std::set<std::string>{"before"});
  EXPECT_EQ(shown(run(session.id, "y"))[0]["data"]["text/plain"], "5");
}

TEST_F(InterpreterTest, AProgramThatDiesLeavesItsFilesAndTheNextCellWakesTheSession) {
  auto session = create("w");
  auto execution = run(session.id, "open('last','w').write('x')\nimport os\nos.kill(os.getpid(), 9)");
  EXPECT_EQ(execution.outcome, Outcome::crash) << execution.message;
  EXPECT_EQ(kept_names(execution, "w"), std::set<std::string>{"last"});
  auto next = run(session.id, "print(open('last').read())");
  EXPECT_TRUE(next.woke);
  EXPECT_EQ(shown(next)[0]["text"], "x\n");
}

TEST_F(InterpreterTest, TooMuchMemoryEndsAsOom) {
  NewSession wanted;
  wanted.folder = "w";
  wanted.memory_bytes = 256 << 20;
  auto session = interpreter->create(ws, wanted);
  auto execution = run(session.id, "open('f','w').write('x')\nb = bytearray(2_000_000_000)");
  EXPECT_EQ(execution.outcome, Outcome::oom) << execution.message << shown(execution);
  EXPECT_EQ(kept_names(execution, "w"), std::set<std::string>{"f"});
}

TEST_F(InterpreterTest, ASleepingSessionWakesWithItsFilesAndSaysSo) {
  auto session = create("w");
  run(session.id, "z = 1; open('f','w').write('kept')");
  interpreter->sleep(ws, session.id).get();
  EXPECT_EQ(interpreter->get(actor, session.id).status, SessionStatus::asleep);
  auto execution = run(session.id, "print(open('f').read(), 'z' in globals())");
  EXPECT_TRUE(execution.woke);
  EXPECT_EQ(shown(execution)[0]["text"], "kept False\n");
}

TEST_F(InterpreterTest, AServerThatStopsAndStartsAgainHasTheSessionAndItsHistory) {
  auto session = create("w");
  run(session.id, "open('f','w').write('1')");
  reopen();
  auto executions = interpreter->executions(ws, session.id, 0, 10).items;
  ASSERT_EQ(executions.size(), 1u);
  EXPECT_EQ(executions[0].outcome, Outcome::ok);
  EXPECT_EQ(shown(run(session.id, "open('f').read()"))[0]["data"]["text/plain"], "'1'");
}

TEST_F(InterpreterTest, LinksFifosAndOddNamesAreHandledAndNothingIsFollowed) {
  auto session = create("w");
  auto execution =
      run(session.id,
          "import os\nos.symlink('/etc/passwd','link')\nos.mkfifo('fifo')\nopen(b'bad\\xff','w').write('b')\n"
          "open('new\\nline','w').write('n')\nos.makedirs('build/.hidden')\nopen('build/.hidden/"
          "x','w').write('h')\n"
          "open('h1','w').write('hard'); os.link('h1','h2')\nos.chmod('h1', 0)");
  EXPECT_EQ(execution.outcome, Outcome::ok) << shown(execution);
  EXPECT_EQ(execution.files.kept.size(), 5u);
  std::set<UnkeptReason> reasons;
  for (const auto& item : execution.files.not_kept) reasons.insert(item.reason);
  EXPECT_EQ(reasons, (std::set{UnkeptReason::link, UnkeptReason::fifo}));
  EXPECT_EQ(read("w/h2"), "hard");
}

TEST_F(InterpreterTest, LongOutputIsCutAndKeptWhole) {
  auto session = create("w");
  auto execution = run(session.id, "print('x' * 3_000_000)");
  EXPECT_EQ(kept_names(execution, "w"), std::set<std::string>{"outputs/1-output.txt"});
  EXPECT_EQ(read("w/outputs/1-output.txt").size(), 3'000'001u);
}

TEST_F(InterpreterTest, BashSharesTheFolder) {
  auto session = create("w");
  auto execution = run(session.id, "echo hello > greeting; cat greeting", "bash");
  EXPECT_EQ(shown(execution)[0]["text"], "hello\n") << shown(execution);
  EXPECT_EQ(kept_names(execution, "w"), std::set<std::string>{"greeting"});
}

TEST_F(InterpreterTest, ASessionSeesWhatAnotherOneWroteInTheSameFolder) {
  auto one = create("shared"), two = create("shared");
  run(one.id, "open('f','w').write('base')");
  run(two.id, "open('f').read()");
  run(one.id, "open('f','w').write('from one')");
  auto late = run(two.id, "open('f').read()");
  EXPECT_EQ(shown(late)[0]["data"]["text/plain"], "'from one'");
}

TEST_F(InterpreterTest, ASessionWhoseTimeAwakeIsOverFallsAsleepAndWakesWithItsFiles) {
  NewSession wanted;
  wanted.awake_max_s = 1;
  auto session = interpreter->create(ws, wanted);
  run(session.id, "x = 1; _ = open('a.txt', 'w').write('a')");
  while (interpreter->get(actor, session.id).status == SessionStatus::running)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  auto again = run(session.id, "print('x' in globals(), open('a.txt').read())");
  EXPECT_TRUE(again.woke);
  EXPECT_EQ(shown(again)[0]["text"], "False a\n");
}

TEST_F(InterpreterTest, CodeCanKeepFetchAndLinkFilesOfTheWorkspace) {
  auto change = workspace::PutChange{};
  change.path = "data/prices.csv";
  change.content = content_of(keep->context(), "1,2");
  keep->files().apply_one(keep->workspaces().open_default(actor, workspace::Right::write), change);
  auto session = create("work");
  auto done = run(session.id,
                  "import sandkeep\n"
                  "print(sandkeep.fetch('/data/prices.csv'), open('prices.csv').read())\n"
                  "print(sandkeep.fetch('data/prices.csv', 'copy.csv'), open('copy.csv').read())\n"
                  "_ = open('a.txt', 'w').write('one')\n"
                  "print(sandkeep.keep('a.txt')['number'])\n"
                  "_ = open('a.txt', 'w').write('two')\n"
                  "print(sandkeep.link('a.txt'))\n"
                  "print(len(sandkeep.versions('a.txt')))\n"
                  "try:\n    sandkeep.fetch('nope')\n"
                  "except Exception as error:\n    print(error)");
  ASSERT_EQ(done.outcome, Outcome::ok) << shown(done);
  auto head = keep->files().get(ws, "work/a.txt").head.with_prefix(workspace::prefix::version);
  EXPECT_EQ(shown(done)[0]["text"], "/mnt/data/prices.csv 1,2\n/mnt/data/copy.csv 1,2\n1\n/k/" + head +
                                        "/a.txt\n2\nthere is nothing at 'nope'\n");
  EXPECT_EQ(read("work/prices.csv"), "1,2");
  EXPECT_EQ(read("work/copy.csv"), "1,2");
}

TEST_F(InterpreterTest, AListIsInTheOrderThatIsAskedForAndHasOneNameOnly) {
  std::vector<Id> ids;
  for (auto name : {"a", "b", "a"}) {
    NewSession wanted;
    wanted.name = name;
    ids.push_back(interpreter->create(ws, wanted).id);
  }
  auto listed = [&](SessionQuery query) {
    std::vector<Id> found;
    for (const auto& session : interpreter->list(actor, query)) found.push_back(session.id);
    return found;
  };
  SessionQuery query;
  EXPECT_EQ(listed(query), (std::vector{ids[2], ids[1], ids[0]}));
  query.name = "a";
  EXPECT_EQ(listed(query), (std::vector{ids[2], ids[0]}));
  query.order = workspace::Order::oldest_first;
  EXPECT_EQ(listed(query), (std::vector{ids[0], ids[2]}));
  query.after = ids[0];
  EXPECT_EQ(listed(query), std::vector{ids[2]});
  // A key that is bound to another workspace sees none of them, and its pages are not short for that.
  identity::NewKey one_workspace;
  one_workspace.only_workspace = keep->workspaces().create(actor, "scoped").id;
  auto bound = workspace::actor_by_key(*keep, actor.principal(), one_workspace);
  EXPECT_TRUE(interpreter->list(bound, SessionQuery{}).empty());
}

// Also code that an earlier execution left running: a later one with a wider scope does not widen it.
TEST_F(InterpreterTest, CodeFetchesNothingFromOutsideOfTheScopeOfItsExecution) {
  put("private/secret", "secret");
  put("shared/data", "data");
  auto limited = ws.limited_to("shared");
  auto session = interpreter->create(limited, {});
  NewExecution wanted;
  wanted.code =
      "import sandkeep\n"
      "for path in ('private/secret', 'shared/data'):\n"
      "    try:\n"
      "        print(open(sandkeep.fetch(path)).read())\n"
      "    except Exception as error:\n"
      "        print('refused')";
  EXPECT_EQ(shown(wait(interpreter->execute(limited, session.id, wanted).get()))[0]["text"],
            "refused\ndata\n");
  EXPECT_EQ(shown(wait(interpreter->execute(ws, session.id, wanted).get()))[0]["text"], "refused\ndata\n");
  interpreter->sleep(ws, session.id).get();
  EXPECT_EQ(shown(wait(interpreter->execute(ws, session.id, wanted).get()))[0]["text"], "secret\ndata\n");
}

TEST_F(InterpreterTest, SomeoneElsesSessionDoesNotExist) {
  auto session = create();
  auto other = keep->access().create_principal(actor, "other", "agent");
  identity::NewKey key;
  key.name = "k";
  auto stranger = keep->access().authenticate(keep->access().create_key(actor, other.id, key).secret);
  EXPECT_THROW(interpreter->get(stranger, session.id), Error);
  EXPECT_THROW(
      interpreter->execute(keep->workspaces().standing(stranger, session.workspace), session.id, {}).get(),
      Error);
}

// A chat app acts for all its users through one key, and every conversation is a session: the seventeenth
// must not be refused while sixteen lie idle.
TEST_F(InterpreterTest, OverTheLimitTheSessionThatWasIdleLongestFallsAsleep) {
  auto wanted = test::interpreter_options(folder + "/copies");
  wanted.sessions_per_principal_max = 2;
  interpreter.reset();
  interpreter = std::make_unique<SandboxedInterpreter>(*keep, *host, wanted, *metrics);
  auto first = create(), second = create(), third = create();
  run(first.id, "x = 1\nopen('kept.txt', 'w').write('kept')");
  run(second.id, "y = 2");
  EXPECT_EQ(run(third.id, "print('runs')").outcome, Outcome::ok);
  EXPECT_EQ(interpreter->get(actor, second.id).status, SessionStatus::running);
  EXPECT_EQ(run(second.id, "print(y)").outcome, Outcome::ok)
      << "the one that was used later kept its variables";
  interpreter->sleep(ws, third.id).get();
  auto woken = run(first.id, "print(open('kept.txt').read())");
  EXPECT_TRUE(woken.woke);
  EXPECT_EQ(woken.outcome, Outcome::ok);
}

}  // namespace
}  // namespace sk::interpreter
