#include "interpreter/run/live_session.h"

#include <thread>

#include "interpreter/run/session_loads.h"
#include "unit/interpreter/live_session_fixture.h"

namespace sk::interpreter {
namespace {

TEST_F(LiveSessionTest, AnAnswerNamesWhatTheCellWroteAndItIsKeptByThen) {
  put("s/input", "of others");
  play.on_execute = [&](const std::string&) {
    write("result", read("input") + ", read");
    play.print("hello");
    play.done();
  };
  auto done = run("code");
  EXPECT_EQ(done.outcome, Outcome::ok);
  EXPECT_EQ(done.outputs, Outputs{TextOutput({TextOutput::Stream::out, "hello"})});
  ASSERT_EQ(done.files.kept.size(), 1u);
  EXPECT_EQ(done.files.kept[0].path, "s/result");
  EXPECT_EQ(kept("s/result"), "of others, read");
  EXPECT_EQ(records.find_execution(session.id, done.id)->status, ExecutionStatus::done);
  EXPECT_TRUE(live->awake());
}

TEST_F(LiveSessionTest, ExecutionsRunOneAfterTheOther) {
  auto first = enqueue("first"), second = enqueue("second");
  settle();
  EXPECT_EQ(play.executed, std::vector<std::string>{"first"});
  EXPECT_EQ(live->queued(), 2u);
  EXPECT_EQ(live->unfinished().size(), 2u);
  play.done();
  wait(first);
  settle();
  EXPECT_EQ(play.executed.size(), 2u);
  play.done();
  EXPECT_EQ(wait(second).outcome, Outcome::ok);
  settle();
  EXPECT_FALSE(live->busy());
}

TEST_F(LiveSessionTest, AFigureIsAFileOfTheSessionAndTheOutputNamesIt) {
  play.on_execute = [&](const std::string&) {
    play.say([](auto& events) { events.on_display({{{{"image/png", "bytes", true}}, "{}"}, "", false}); });
    play.done();
  };
  auto done = run("plot()");
  ASSERT_EQ(done.outputs.size(), 1u);
  EXPECT_EQ(bundle_of(done.outputs[0])->file, "s/outputs/1-1.png");
  EXPECT_EQ(kept("s/outputs/1-1.png"), "bytes");
}

TEST_F(LiveSessionTest, AFigureIsOnRecordAndInTheManifestBeforeItsAnswer) {
  services.save_later = [](const SessionInfo&, const Execution&) {};  // as of a server that is killed now
  play.on_execute = [&](const std::string&) {
    write("table.csv", "1");
    play.say([](auto& events) { events.on_display({{{{"image/png", "bytes", true}}, "{}"}, "", false}); });
    play.done();
  };
  auto done = run("plot()");
  auto recorded = records.find_execution(session.id, done.id);
  ASSERT_TRUE(recorded);
  EXPECT_EQ(recorded->status, ExecutionStatus::done);
  std::map<std::string, Id> kept_versions;
  for (const auto& file : recorded->files.kept) kept_versions[file.path] = file.version;
  ASSERT_EQ(kept_versions.size(), 2u);
  EXPECT_EQ(bundle_of(recorded->outputs[0])->file, "s/outputs/1-1.png");
  Manifest manifest(keep.context(), session.key());
  manifest.load();
  ASSERT_NE(manifest.find("outputs/1-1.png"), nullptr);
  EXPECT_EQ(manifest.find("outputs/1-1.png")->version, kept_versions["s/outputs/1-1.png"]);
  EXPECT_EQ(read("outputs/1-1.png"), "bytes") << "code can open it";
  play.on_execute = [&](const std::string&) { play.done(); };
  EXPECT_TRUE(run("1").files.kept.empty()) << "it is told once";
}

TEST_F(LiveSessionTest, ManyFiguresOfARunningCellAreKeptBeforeItsEnd) {
  auto running = enqueue("movie()");
  settle();
  std::vector<std::string> told;
  running.feed->follow(0, [&](const ExecutionEvent& event) {
    if (auto* file = std::get_if<FileKept>(&event.event)) told.push_back(file->file.path);
  });
  auto show = [&] {
    play.say([](auto& events) {
      events.on_display({{{{"image/png", std::string(1'000'000, 'i'), true}}, "{}"}, "", false});
    });
    settle();
  };
  for (int i = 0; i < 33; ++i) show();
  EXPECT_TRUE(told.empty());
  show();
  EXPECT_EQ(told.size(), 34u);
  show();
  play.done();
  auto done = wait(running);
  EXPECT_EQ(done.files.kept.size(), 35u);
  ASSERT_EQ(done.outputs.size(), 35u);
  EXPECT_EQ(bundle_of(done.outputs[1])->file, "s/outputs/1-2.png");
  EXPECT_EQ(versions("s/outputs/1-2.png"), 1u);
}

TEST_F(LiveSessionTest, TheEndOfACellThatKeptFilesOnlyEarlierIsOnRecordBeforeItsAnswer) {
  services.save_later = [](const SessionInfo&, const Execution&) {};
  auto running = enqueue("long");
  settle();
  write("partial", "so far");
  pass(kSecondUs);
  play.done();
  auto done = wait(running);
  ASSERT_EQ(done.files.kept.size(), 1u);
  EXPECT_EQ(records.find_execution(session.id, done.id)->status, ExecutionStatus::done);
}

TEST_F(LiveSessionTest, AFigureThatCannotBePlacedIsNamed) {
  play.on_execute = [&](const std::string&) {
    play.say([](auto& events) { events.on_display({{{{"image/png", "bytes", true}}, "{}"}, "", false}); });
    play.done();
  };
  // Where files are written before they go into a copy.
  play.on_execute = [&, show = play.on_execute](const std::string& code) {
    std::filesystem::remove_all(context.directory + "/.aside");
    show(code);
  };
  auto done = run("plot()");
  ASSERT_EQ(done.files.not_kept.size(), 1u);
  EXPECT_EQ(done.files.not_kept[0].path, "s/outputs/1-1.png");
}

TEST_F(LiveSessionTest, ACellThatRunsTooLongIsInterrupted) {
  play.on_interrupt = [&] { play.done(sandbox::CellStatus::interrupted); };
  auto running = enqueue("while True: pass");
  settle();
  pass(59 * kSecondUs);
  EXPECT_EQ(play.interrupts, 0);
  pass(kSecondUs);
  EXPECT_EQ(wait(running).outcome, Outcome::timeout);
  EXPECT_TRUE(live->awake()) << "variables are still there";
}

TEST_F(LiveSessionTest, ACellThatIgnoresCancellationIsKilledAndItsFilesAreKept) {
  auto running = enqueue("stubborn");
  settle();
  write("before", "the kill");
  live->cancel(running.id);
  settle();
  EXPECT_EQ(play.interrupts, 1);
  pass(kInterruptGraceUs);
  auto done = wait(running);
  EXPECT_EQ(done.outcome, Outcome::interrupted);
  EXPECT_EQ(kept("s/before"), "the kill");
  settle();
  EXPECT_FALSE(live->awake());
  EXPECT_TRUE(play.is_gone);
  play.on_execute = [&](const std::string&) { play.done(); };
  EXPECT_TRUE(run("next").woke);
}

TEST_F(LiveSessionTest, AWaitingExecutionIsCancelledBeforeItBegins) {
  auto first = enqueue("first"), second = enqueue("second");
  live->cancel(second.id);
  EXPECT_EQ(wait(second).outcome, Outcome::interrupted);
  settle();
  play.done();
  wait(first);
  settle();
  EXPECT_EQ(play.executed, std::vector<std::string>{"first"});
}

TEST_F(LiveSessionTest, FilesAreKeptDuringALongRun) {
  auto running = enqueue("long");
  settle();
  write("partial", "so far");
  EXPECT_FALSE(find("s/partial"));
  std::vector<std::string> told;
  running.feed->follow(0, [&](const ExecutionEvent& event) {
    if (auto* file = std::get_if<FileKept>(&event.event)) told.push_back(file->file.path);
  });
  pass(kSecondUs);
  EXPECT_EQ(kept("s/partial"), "so far");
  EXPECT_EQ(told, std::vector<std::string>{"s/partial"});
  play.done();
  EXPECT_EQ(wait(running).files.kept.size(), 1u) << "the answer names it as well";
}

TEST_F(LiveSessionTest, ARunOfMoreThanAMomentIsOnRecordBeforeItEnds) {
  auto running = enqueue("long");
  settle();
  EXPECT_FALSE(records.find_execution(session.id, running.id));
  pass(kSecondUs / 10);
  ASSERT_TRUE(records.find_execution(session.id, running.id));
  EXPECT_EQ(records.find_execution(session.id, running.id)->status, ExecutionStatus::running);
  play.done();
  wait(running);
}

TEST_F(LiveSessionTest, CodeGetsTheResultsOfTheClientsTools) {
  NewExecution wanted;
  wanted.tools = "[]";
  play.on_execute = [&](const std::string&) { play.ask(7, "tools", {{"calls", {"a"}}}); };
  auto running = enqueue("tool()", wanted);
  settle();
  int64_t event = 0;
  running.feed->follow(0, [&](const ExecutionEvent& one) {
    if (std::holds_alternative<ToolsAsked>(one.event)) event = one.number;
  });
  EXPECT_FALSE(live->answer_tools(keep.context().ids.next(), event, "of another execution"));
  EXPECT_FALSE(live->answer_tools(running.id, event - 1, "of another event"));
  EXPECT_TRUE(live->answer_tools(running.id, event, Json::array({1})));
  EXPECT_FALSE(live->answer_tools(running.id, event, Json::array({2}))) << "a question has one answer";
  settle();
  EXPECT_EQ(play.answered, (std::vector{std::pair(uint64_t{7}, std::string("[1]"))}));
  play.done();
  wait(running);
}

TEST_F(LiveSessionTest, ToolsThatNobodyOfferedAreRefused) {
  play.on_execute = [&](const std::string&) {
    play.ask(7, "tools", {{"calls", {"a"}}});
    play.done();
  };
  run("tool()");
  EXPECT_EQ(play.answered, (std::vector{std::pair(uint64_t{7}, std::string("refused: conflict"))}));
}

TEST_F(LiveSessionTest, CodeGetsTheLinkOfAFileThatItHasJustWritten) {
  play.on_execute = [&](const std::string&) {
    write("chart.png", "pixels");
    play.ask(1, "link", {{"path", "chart.png"}});
    play.ask(2, "link", {{"path", "missing"}});
    play.ask(3, "versions", {{"path", 5}});
    play.ask(4, "no such method", {{"path", "chart.png"}});
    play.done();
  };
  auto done = run("link()");
  ASSERT_EQ(play.answered.size(), 4u);
  EXPECT_NE(play.answered[0].second.find("/chart.png"), std::string::npos);
  EXPECT_EQ(play.answered[1].second, "refused: not_found");
  EXPECT_EQ(play.answered[2].second, "refused: bad_request");
  EXPECT_EQ(play.answered[3].second, "refused: not_found");
  EXPECT_EQ(done.files.kept.size(), 1u);
}

TEST_F(LiveSessionTest, WhatProcessesWriteBetweenCellsIsKeptAndNamedByTheNextAnswer) {
  play.on_execute = [&](const std::string&) { play.done(); };
  run("start a process");
  settle();
  write("later", "from the background");
  play.print("late");
  pass(kSecondUs);
  EXPECT_EQ(kept("s/later"), "from the background");
  auto next = run("next");
  ASSERT_EQ(next.files.kept.size(), 1u);
  EXPECT_EQ(next.files.kept[0].path, "s/later");
  EXPECT_EQ(next.outputs, Outputs{TextOutput({TextOutput::Stream::out, "late"})});
}

TEST_F(LiveSessionTest, AWarningComesOnceBeforeASessionSleeps) {
  play.on_execute = [&](const std::string&) { play.done(); };
  run("x");
  settle();
  EXPECT_FALSE(live->must_warn(clock.now_us() + 539 * kSecondUs));
  EXPECT_TRUE(live->must_warn(clock.now_us() + 540 * kSecondUs));
  EXPECT_FALSE(live->must_warn(clock.now_us() + 541 * kSecondUs));
  clock.advance_us(541 * kSecondUs);
  run("used again");
  settle();
  EXPECT_TRUE(live->must_warn(clock.now_us() + 540 * kSecondUs));
}

TEST_F(LiveSessionTest, AServerThatStopsLeavesAcceptedWorkQueued) {
  NewExecution accepted;
  accepted.accepted = true;
  auto running = enqueue("runs"), waiting = enqueue("waits"), later = enqueue("accepted", accepted),
       behind = enqueue("behind");
  settle();
  services.closing = true;
  live->close_queue();
  EXPECT_EQ(wait(later).status, ExecutionStatus::queued);
  EXPECT_EQ(wait(behind).outcome, Outcome::interrupted);
  settle();
  play.done();
  EXPECT_EQ(wait(running).outcome, Outcome::ok) << "what runs goes on";
  settle();
  play.done();
  EXPECT_EQ(wait(waiting).outcome, Outcome::ok) << "and what somebody waits for";
  settle();
  EXPECT_FALSE(live->busy());
}

TEST_F(LiveSessionTest, ARetiredSessionEndsWhatRunsAndRefusesTheRest) {
  auto running = enqueue("runs"), waiting = enqueue("waits");
  settle();
  write("f", "written before the end");
  retire();
  EXPECT_EQ(wait(running).outcome, Outcome::interrupted);
  EXPECT_EQ(wait(waiting).outcome, Outcome::interrupted);
  EXPECT_EQ(wait(enqueue("too late")).outcome, Outcome::interrupted);
  EXPECT_EQ(kept("s/f"), "written before the end");
  EXPECT_FALSE(live->awake());
  settle();
  EXPECT_FALSE(live->busy());
  EXPECT_EQ(play.executed, std::vector<std::string>{"runs"});
}

TEST_F(LiveSessionTest, AnExecutionWhoseProcessesDoNotEndIsAnswered) {
  play.dies_of_kill = false;
  auto running = enqueue("waits for the disk");
  settle();
  write("f", "written before the end");
  retire();
  auto ended = wait(running);
  EXPECT_EQ(ended.outcome, Outcome::interrupted);
  EXPECT_FALSE(ended.message.empty());
  EXPECT_EQ(records.find_execution(session.id, running.id)->status, ExecutionStatus::done);
  EXPECT_EQ(kept("s/f"), "written before the end");
  EXPECT_FALSE(live->busy());
}

TEST_F(LiveSessionTest, ASandboxThatDoesNotStartIsTheExecutionsEnd) {
  auto start = services.start_kernel;
  services.start_kernel = [](const auto&, auto&) -> std::unique_ptr<KernelProcess> {
    throw Error(Code::unavailable, "no sandbox today");
  };
  auto failed = run("x");
  EXPECT_EQ(failed.outcome, Outcome::crash);
  EXPECT_NE(failed.message.find("no sandbox today"), std::string::npos);
  settle();
  EXPECT_FALSE(live->awake());
  EXPECT_FALSE(live->busy());
  services.start_kernel = start;
  play.on_execute = [&](const std::string&) { play.done(); };
  EXPECT_EQ(run("again").outcome, Outcome::ok);
}

TEST_F(LiveSessionTest, AKernelThatDiesBetweenCellsIsNoticedAndReplaced) {
  play.on_execute = [&](const std::string&) { play.done(); };
  run("x");
  settle();
  play.end({sandbox::End::oom, "", {}, {}});
  settle();
  EXPECT_FALSE(live->awake());
  auto next = run("y");
  EXPECT_EQ(next.outcome, Outcome::ok);
  EXPECT_TRUE(next.woke);
}

TEST_F(LiveSessionTest, OperatorsSeeWhatASessionDoes) {
  auto activity = [&] { return loads_of({live}, {}).at(0).activity; };
  auto first = enqueue("x"), second = enqueue("y");
  settle();
  EXPECT_EQ(activity(), SessionActivity::running);
  play.done();
  wait(first);
  settle();
  play.done();
  wait(second);
  settle();
  EXPECT_EQ(activity(), SessionActivity::idle);
  EXPECT_EQ(loads_of({}, {live}).at(0).activity, SessionActivity::ending);
  play.end({sandbox::End::killed, "", {}, {}});
  settle();
  EXPECT_EQ(activity(), SessionActivity::asleep) << "its processes are gone";
  live->reserve();
  EXPECT_EQ(activity(), SessionActivity::starting);
  live->unreserve();
}

// Work that a key started ends with the key.
class RevokedSessionTest : public LiveSessionTest {
 protected:
  RevokedSessionTest() { keep.revocations().start(); }
  ~RevokedSessionTest() override { keep.revocations().stop(); }

  // Another key of the same principal.
  workspace::Authority by_new_key() {
    return keep.workspaces().open_default(workspace::actor_by_key(keep, actor.principal()),
                                          workspace::Right::write);
  }
  void revoke(const workspace::Authority& authority) {
    keep.access().revoke_key(actor, authority.actor().key());
  }
};

TEST_F(RevokedSessionTest, ARevokedKeyEndsItsExecutionsAndWhatTheyClosedIsKept) {
  auto guest = by_new_key();
  auto running = enqueue_as(guest, "running"), queued = enqueue_as(guest, "queued");
  settle();
  write("closed", "before");
  revoke(guest);
  auto ended = wait(running), never = wait(queued);
  EXPECT_EQ(ended.outcome, Outcome::revoked);
  EXPECT_EQ(never.outcome, Outcome::revoked);
  EXPECT_EQ(never.started_us, 0);
  EXPECT_EQ(kept("s/closed"), "before");
  settle();
  EXPECT_EQ(play.executed, std::vector<std::string>{"running"});
  EXPECT_EQ(play.interrupts, 0) << "code gets no time to write more";
  EXPECT_FALSE(live->awake());
  EXPECT_FALSE(live->busy());
  EXPECT_EQ(records.find_execution(session.id, ended.id)->outcome, Outcome::revoked);
  EXPECT_EQ(records.find_execution(session.id, never.id)->outcome, Outcome::revoked);
}

TEST_F(RevokedSessionTest, TheExecutionsOfAnotherKeyGoOnInASessionThatWakesForThem) {
  auto guest = by_new_key();
  auto running = enqueue_as(guest, "running"), mine = enqueue("mine");
  settle();
  revoke(guest);
  EXPECT_EQ(wait(running).outcome, Outcome::revoked);
  settle();
  ASSERT_EQ(play.executed.back(), "mine");
  play.done();
  auto done = wait(mine);
  EXPECT_EQ(done.outcome, Outcome::ok);
  EXPECT_TRUE(done.woke);
}

TEST_F(RevokedSessionTest, ProcessesOfARevokedKeyEndAfterTheRunningCellOfAnother) {
  auto guest = by_new_key();
  play.on_execute = [&](const std::string&) { play.done(); };
  EXPECT_EQ(wait(enqueue_as(guest, "starts a process")).outcome, Outcome::ok);
  play.on_execute = [](const std::string&) {};
  auto mine = enqueue("mine");
  auto theirs = enqueue_as(guest, "theirs");
  settle();
  revoke(guest);
  EXPECT_EQ(wait(theirs).outcome, Outcome::revoked);
  settle();
  EXPECT_TRUE(live->awake()) << "another key's cell runs";
  play.done();
  EXPECT_EQ(wait(mine).outcome, Outcome::ok);
  settle();
  EXPECT_FALSE(live->awake());
}

TEST_F(RevokedSessionTest, AnIdleSessionOfARevokedKeyGoesToSleep) {
  auto guest = by_new_key();
  play.on_execute = [&](const std::string&) { play.done(); };
  EXPECT_EQ(wait(enqueue_as(guest, "starts a process")).outcome, Outcome::ok);
  revoke(guest);
  for (int looks = 0; looks < 6'000 && live->awake(); ++looks)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  settle();
  EXPECT_FALSE(live->awake());
  EXPECT_EQ(play.killed.size(), 1u);
}

TEST_F(RevokedSessionTest, WhatCodeAsksForIsAskedWithTheRightOfItsKey) {
  keep.revocations().stop();  // before anybody is told
  auto guest = by_new_key();
  put("s/input", "of others");
  auto running = enqueue_as(guest, "running");
  settle();
  play.ask(1, "keep", {{"path", "input"}});
  settle();
  revoke(guest);
  play.ask(2, "keep", {{"path", "input"}});
  settle();
  ASSERT_EQ(play.answered.size(), 2u);
  EXPECT_FALSE(play.answered[0].second.starts_with("refused"));
  EXPECT_EQ(play.answered[1].second, "refused: unauthorized");
}

TEST_F(RevokedSessionTest, AnExecutionDoesNotStartAfterItsKeyWasRevokedEvenIfNobodyWasToldYet) {
  keep.revocations().stop();
  auto guest = by_new_key();
  auto mine = enqueue("mine");
  auto theirs = enqueue_as(guest, "theirs");
  settle();
  revoke(guest);
  play.done();
  EXPECT_EQ(wait(mine).outcome, Outcome::ok);
  EXPECT_EQ(wait(theirs).outcome, Outcome::revoked);
  EXPECT_EQ(play.executed, std::vector<std::string>{"mine"});
  EXPECT_THROW(live->admit(guest), Error) << "the one that is known has ended";
}

}  // namespace
}  // namespace sk::interpreter
