#include "interpreter/run/runner.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.h"
#include "unit/interpreter/played_kernel.h"
#include "unit/temp_dir.h"

namespace sk::interpreter {
namespace {

constexpr TimeUs kStartUs = 1'000 * kSecondUs;

class RunnerTest : public testing::Test {
 protected:
  RunnerTest() { runner.open(std::make_unique<PlayedKernel>(play, runner.events())); }
  void start(int64_t timeout_s = 60) {
    outputs.begin(feed, 1);
    runner.start({.id = "1", .code = "code", .timeout_s = timeout_s}, kStartUs);
  }
  std::optional<CellOutcome> read() {
    runner.on_ready([&](const sandbox::KernelRequest& request) { asked.push_back(request.method); });
    return runner.take_end();
  }
  // The end, which must have come.
  CellOutcome end() {
    auto found = read();
    EXPECT_TRUE(found);
    return found.value_or(CellOutcome{Outcome::crash, "no end came", {}});
  }
  void tick(int64_t after_us) { runner.tick(kStartUs + after_us); }

  TempDir directory;
  ExecutionFeed feed;
  SessionOutputs outputs{{1000, 10'000, directory.path()}};
  Play play;
  Runner runner{"a session", outputs};
  std::vector<std::string> asked;
};

TEST_F(RunnerTest, ACellEndsAsTheKernelSays) {
  for (auto [status, outcome] : {std::pair(sandbox::CellStatus::ok, Outcome::ok),
                                 std::pair(sandbox::CellStatus::error, Outcome::error),
                                 std::pair(sandbox::CellStatus::interrupted, Outcome::interrupted)}) {
    start();
    EXPECT_TRUE(runner.is_running());
    EXPECT_FALSE(read()) << "nothing was said yet";
    play.done(status, 3);
    auto ended = end();
    EXPECT_EQ(ended.outcome, outcome);
    EXPECT_EQ(ended.exit_code, 3);
    EXPECT_EQ(ended.message, "");
    EXPECT_FALSE(runner.is_running());
    EXPECT_FALSE(runner.has_ended());
    EXPECT_FALSE(read()) << "an end is told once";
  }
}

TEST_F(RunnerTest, OutputAndRequestsComeBeforeTheEnd) {
  start();
  play.print("shown");
  play.ask(7, "link", Json::object());
  play.done();
  EXPECT_EQ(end().outcome, Outcome::ok);
  EXPECT_EQ(asked, std::vector<std::string>{"link"});
  EXPECT_EQ(outputs.current()->outputs(), Outputs{TextOutput({TextOutput::Stream::out, "shown"})});
}

TEST_F(RunnerTest, ACellIsInterruptedAtItsTimeoutAndKeepsItsKernel) {
  start(10);
  tick(10 * kSecondUs - 1);
  EXPECT_EQ(play.interrupts, 0);
  tick(10 * kSecondUs);
  EXPECT_EQ(play.interrupts, 1);
  EXPECT_TRUE(runner.is_stopping());
  play.done(sandbox::CellStatus::interrupted);
  EXPECT_EQ(end().outcome, Outcome::timeout);
  EXPECT_TRUE(play.killed.empty());
  EXPECT_FALSE(runner.is_stopping());
}

TEST_F(RunnerTest, ACellThatIgnoresItsInterruptsIsKilledAfterTheGrace) {
  start();
  runner.cancel(kStartUs);
  EXPECT_EQ(play.interrupts, 1);
  for (int64_t after_us = 0; after_us < kInterruptGraceUs; after_us += kSecondUs / 10) tick(after_us);
  EXPECT_EQ(play.interrupts, 4) << "an interrupt is repeated every half second";
  EXPECT_TRUE(play.killed.empty());
  tick(kInterruptGraceUs);
  EXPECT_EQ(play.killed, std::vector<std::string>{"interrupted"});
  EXPECT_EQ(end().outcome, Outcome::interrupted);
  EXPECT_TRUE(runner.has_ended());
  EXPECT_TRUE(runner.was_killed());
}

TEST_F(RunnerTest, ATimeoutThatEndsInAKillIsStillATimeout) {
  start(10);
  tick(10 * kSecondUs);
  tick(10 * kSecondUs + kInterruptGraceUs);
  EXPECT_EQ(play.killed, std::vector<std::string>{"timeout"});
  EXPECT_EQ(end().outcome, Outcome::timeout);
}

TEST_F(RunnerTest, ACancelledCellIsNotCancelledAgain) {
  start();
  runner.cancel(kStartUs);
  runner.cancel(kStartUs + kSecondUs);
  EXPECT_EQ(play.interrupts, 1);
  tick(kInterruptGraceUs);
  EXPECT_EQ(play.killed.size(), 1u) << "a second cancellation must not lengthen the grace";
}

TEST_F(RunnerTest, NothingIsInterruptedWithoutACell) {
  runner.cancel(kStartUs);
  tick(1000 * kSecondUs);
  EXPECT_EQ(play.interrupts, 0);
  EXPECT_EQ(runner.due_us(), 0);
}

TEST_F(RunnerTest, WhatIsDueIsKnownBeforehand) {
  start(10);
  EXPECT_EQ(runner.due_us(), kStartUs + kSecondUs) << "the first look at processes";
  for (int64_t second = 1; second < 10; ++second) tick(second * kSecondUs);
  EXPECT_EQ(runner.due_us(), kStartUs + 10 * kSecondUs);
  tick(10 * kSecondUs);
  EXPECT_EQ(runner.due_us(), kStartUs + 10 * kSecondUs + kSecondUs / 2) << "the next interrupt";
  play.done();
  end();
  EXPECT_EQ(runner.due_us(), 0);
}

TEST_F(RunnerTest, AKernelThatEndsByItselfTellsItsExitCode) {
  start();
  play.end({sandbox::End::exited, "", 4, {}});
  auto ended = end();
  EXPECT_EQ(ended.outcome, Outcome::error);
  EXPECT_EQ(ended.exit_code, 4);
  EXPECT_TRUE(runner.has_ended());
  EXPECT_FALSE(runner.was_killed());
}

TEST_F(RunnerTest, TheCauseOfAKernelsEndIsTheOutcomeOfItsCell) {
  for (auto [cause, outcome] :
       {std::pair(sandbox::End::oom, Outcome::oom), std::pair(sandbox::End::crash, Outcome::crash),
        std::pair(sandbox::End::protocol, Outcome::crash)}) {
    start();
    play.end({cause, "why", {}, {}});
    auto ended = end();
    EXPECT_EQ(ended.outcome, outcome);
    EXPECT_EQ(ended.message, "why");
    EXPECT_TRUE(runner.was_killed());
    runner.close();
    EXPECT_TRUE(std::exchange(play.is_gone, false));
    play.has_ended = false;
    runner.open(std::make_unique<PlayedKernel>(play, runner.events()));
    EXPECT_FALSE(runner.was_killed());
  }
}

TEST_F(RunnerTest, AKernelMayEndWithoutACell) {
  play.end({sandbox::End::oom, "", {}, {}});
  EXPECT_FALSE(read());
  EXPECT_TRUE(runner.has_ended());
}

TEST_F(RunnerTest, TheFirstLimitThatIsPassedStays) {
  start();
  runner.end(Outcome::disk, "too many bytes");
  runner.end(Outcome::pids, "too many processes");
  auto ended = end();
  EXPECT_EQ(ended.outcome, Outcome::disk);
  EXPECT_NE(ended.message.find("too many bytes"), std::string::npos);
  EXPECT_EQ(play.killed, std::vector<std::string>{"disk"});
}

TEST_F(RunnerTest, AFewRefusedProcessesNameThemselvesInTheErrorOnly) {
  start();
  play.processes_refused = 5;
  play.done(sandbox::CellStatus::error);
  EXPECT_EQ(end().outcome, Outcome::pids);
  start();
  play.done(sandbox::CellStatus::error);
  EXPECT_EQ(end().outcome, Outcome::error) << "those of an earlier cell are not this one's";
  start();
  play.processes_refused = 6;
  play.done(sandbox::CellStatus::ok);
  EXPECT_EQ(end().outcome, Outcome::ok) << "code that coped with it did not fail";
  EXPECT_TRUE(play.killed.empty());
}

TEST_F(RunnerTest, ProcessesThatWereRefusedBetweenCellsAreNotThoseOfTheNext) {
  start();
  play.done();
  end();
  play.processes_refused = 5000;  // those of a fork bomb that the last cell left behind
  start();
  tick(kSecondUs);
  EXPECT_TRUE(play.killed.empty());
  play.done(sandbox::CellStatus::error);
  EXPECT_EQ(end().outcome, Outcome::error);
}

TEST_F(RunnerTest, ChecksOfAnEarlierCellAreNotThoseOfTheNext) {
  start();
  play.processes_refused = 1;
  tick(kSecondUs);
  tick(2 * kSecondUs);
  play.done();
  end();
  start();
  play.processes_refused = 2;
  tick(3 * kSecondUs);
  EXPECT_TRUE(play.killed.empty());
}

TEST_F(RunnerTest, ACellThatKeepsStartingProcessesIsEnded) {
  start();
  play.processes_refused = 199;
  tick(kSecondUs);
  EXPECT_TRUE(play.killed.empty());
  play.processes_refused = 200;
  tick(2 * kSecondUs);
  EXPECT_EQ(end().outcome, Outcome::pids);
}

TEST_F(RunnerTest, ACellWithoutRoomForAProcessIsEndedAtTheThirdLook) {
  start();
  play.processes_refused = 1;
  tick(kSecondUs);
  tick(2 * kSecondUs);
  EXPECT_TRUE(play.killed.empty());
  tick(3 * kSecondUs);
  EXPECT_EQ(play.killed, std::vector<std::string>{"pids"});
}

TEST_F(RunnerTest, TheMessageOfAStoppedCellNamesWhoStoppedIt) {
  start();
  runner.set_stopped_by(Runner::StoppedBy::session);
  EXPECT_TRUE(runner.kill_and_wait("interrupted", 0));
  EXPECT_EQ(end().message.rfind("the session was stopped", 0), 0u);
}

TEST_F(RunnerTest, ACellThatEndsWhenTheServerStopsSaysSoUnlessItWasDone) {
  runner.set_stopped_by(Runner::StoppedBy::server);
  start();
  runner.cancel(kStartUs);
  play.done(sandbox::CellStatus::interrupted);
  EXPECT_EQ(end().message.rfind("the server was stopped", 0), 0u);
  start();
  play.done();
  EXPECT_EQ(end().message, "");
}

TEST_F(RunnerTest, AnAnswerThatFailsEndsTheSandbox) {
  start();
  play.ask(1, "keep", Json::object());
  runner.on_ready([](const sandbox::KernelRequest&) { throw std::runtime_error("broken"); });
  EXPECT_EQ(play.killed, std::vector<std::string>{"broken"});
  EXPECT_EQ(end().outcome, Outcome::crash);
}

TEST_F(RunnerTest, OthersSeeSinceWhenACellRuns) {
  EXPECT_EQ(runner.running_since_us(), 0);
  start();
  EXPECT_EQ(runner.running_since_us(), kStartUs);
  play.done();
  EXPECT_EQ(end().outcome, Outcome::ok);
  EXPECT_EQ(runner.running_since_us(), 0);
  start();
  runner.close();
  EXPECT_EQ(runner.running_since_us(), 0) << "no cell runs without a kernel";
}

TEST_F(RunnerTest, TheSandboxIsMeasuredWhileItIsOpen) {
  EXPECT_EQ(runner.usage().processes, 0u) << "this kernel has no meter";
  runner.close();
  play.meter = std::make_shared<const sandbox::Meter>(sandbox::CgroupFiles(), nullptr, ::getpid(), 0);
  runner.open(std::make_unique<PlayedKernel>(play, runner.events()));
  EXPECT_GT(runner.usage().processes, 0u);
  EXPECT_GT(runner.usage().memory_bytes, 0u);
  runner.close();
  EXPECT_EQ(runner.usage().processes, 0u);
}

}  // namespace
}  // namespace sk::interpreter
