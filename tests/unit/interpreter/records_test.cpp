// Records of executions, without a sandbox.
#include "interpreter/records.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/metrics.h"
#include "support/expect_error.h"
#include "support/first_principal.h"
#include "support/keep_options.h"
#include "unit/temp_dir.h"
#include "workspace/keep.h"

namespace sk::interpreter {
namespace {

class RecordsTest : public testing::Test {
 protected:
  RecordsTest() {
    keep = std::make_unique<workspace::Keep>(test::keep_options(directory.path()), clock, metrics);
    actor = workspace::first_actor(*keep);
    records = std::make_unique<Records>(keep->context());
    session = new_session(actor);
    records->insert(authority(actor), session);
    execution.id = keep->context().ids.next();
    execution.session = session.id;
    execution.author = actor.principal();
    execution.number = 1;
    execution.language = "python";
    execution.status = ExecutionStatus::running;
  }
  workspace::Authority authority(const workspace::Actor& who) {
    return keep->workspaces().open_default(who, workspace::Right::write);
  }
  SessionInfo new_session(const workspace::Actor& owner) {
    SessionInfo made;
    made.id = keep->context().ids.next();
    made.workspace = keep->workspaces().open_default(owner).workspace_id();
    made.owner = owner.principal();
    made.folder = "s";
    return made;
  }
  Execution done() {
    Execution now = execution;
    now.status = ExecutionStatus::done;
    now.outcome = Outcome::ok;
    return now;
  }
  Execution found() { return *records->find_execution(session.id, execution.id); }

  TempDir directory;
  SystemClock clock;
  Metrics metrics;
  std::unique_ptr<workspace::Keep> keep;
  workspace::Actor actor;
  std::unique_ptr<Records> records;
  SessionInfo session;
  Execution execution;
};

TEST_F(RecordsTest, AFinishedExecutionStaysFinishedWhenAnEarlierSaveComesLate) {
  records->save(session, execution);
  records->save(session, done());
  records->save(session, execution);
  EXPECT_EQ(found().status, ExecutionStatus::done);
  EXPECT_EQ(found().outcome, Outcome::ok);
}

TEST_F(RecordsTest, OutputsOfEverySizeAreReadBack) {
  auto shows = [](size_t bytes) {
    return Outputs{TextOutput{TextOutput::Stream::out, std::string(bytes, 'x')}};
  };
  for (size_t bytes : {10, 100'000, 200'000, 10}) {
    execution.outputs = shows(bytes);
    records->save(session, execution);
    EXPECT_EQ(found().outputs, execution.outputs) << bytes;
  }
  Execution last = done();
  last.outputs = shows(100'000);
  records->save(session, last);
  records->save(session, execution);
  EXPECT_EQ(found().outputs, last.outputs) << "an earlier save that comes late";
}

TEST_F(RecordsTest, SentencesKnowTheirPathsWhenTheyAreReadBack) {
  for (size_t words : {10, 10'000}) {  // in the row of the execution, and in one of their own
    Execution last = done();
    Sentence sentence = std::string(words, 'x') + " " + quoted_path("s/a") + " and " + quoted_path("s/b");
    last.outputs = {NoteOutput{sentence}, NoteOutput{"no path"}};
    last.files.not_kept = {{"s/a", UnkeptReason::locked, sentence, false}};
    records->save(session, last);
    EXPECT_EQ(found().outputs, last.outputs) << words;
    ASSERT_EQ(found().files.not_kept.size(), 1u);
    EXPECT_EQ(found().files.not_kept[0].message, sentence);
  }
}

TEST_F(RecordsTest, LongOutputsAreNotWrittenAgainWithTheLastFacts) {
  Execution last = done();
  last.outputs = {TextOutput{TextOutput::Stream::out, std::string(100'000, 'x')}};
  records->save(session, last);
  auto log_bytes = [&] { return std::filesystem::file_size(directory.file("catalog.db-wal")); };
  auto before = log_bytes();
  last.timings["keep_us"] = 1;
  records->save(session, last);
  EXPECT_LT(log_bytes() - before, 50'000u);
  EXPECT_EQ(found().timings["keep_us"], 1);
}

TEST_F(RecordsTest, WhatARunningExecutionKeptStaysWhenItIsSavedAgain) {
  KeptFile file;
  file.path = "s/a";
  file.change = KeptChange::created;
  keep->context().db.write(session.key().scope(),
                           [&](catalog::Tx& tx) { records->save(tx, session, execution, {file}); });
  records->save(session, execution);
  ASSERT_EQ(found().files.kept.size(), 1u);
  EXPECT_EQ(found().files.kept[0].path, "s/a");
}

TEST_F(RecordsTest, AnAcceptedExecutionStaysQueuedWithItsTimeLimitWhenTheServerDies) {
  execution.status = ExecutionStatus::queued;
  NewExecution wanted;
  wanted.timeout_s = 7;
  records->save_accepted(authority(actor), session, execution, wanted);
  records->end_interrupted_executions(clock.now_us());
  auto left = records->accepted();
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0].execution.id, execution.id);
  EXPECT_EQ(left[0].wanted.timeout_s, 7);
  EXPECT_EQ(left[0].path_scope, "");
  EXPECT_EQ(left[0].key, actor.key());
}

TEST_F(RecordsTest, AnAcceptedExecutionIsRunWithTheScopeThatItWasAcceptedFor) {
  execution.status = ExecutionStatus::queued;
  records->save_accepted(authority(actor).limited_to("s"), session, execution, {});
  ASSERT_EQ(records->accepted().size(), 1u);
  EXPECT_EQ(records->accepted()[0].path_scope, "s");
}

TEST_F(RecordsTest, AnExecutionThatHadBegunEndsWhenTheServerDies) {
  records->save(session, execution);
  records->end_interrupted_executions(clock.now_us());
  EXPECT_EQ(found().status, ExecutionStatus::done);
  EXPECT_EQ(found().outcome, Outcome::crash);
}

// The key was valid when the request arrived, and is revoked before its transaction.
TEST_F(RecordsTest, ARevokedKeyRecordsNoSessionAndNoExecution) {
  auto lent = workspace::actor_by_key(*keep, actor.principal());
  auto under_way = authority(lent);
  auto other = new_session(lent);
  keep->access().revoke_key(actor, lent.key());
  auto seq = keep->journal().head_seq(authority(actor));
  test::expect_error(Code::unauthorized, [&] { records->insert(under_way, other); });
  test::expect_error(Code::unauthorized, [&] { records->save_accepted(under_way, session, execution, {}); });
  test::expect_error(Code::unauthorized, [&] { records->mark_deleted(under_way, session, 1); });
  test::expect_error(Code::unauthorized, [&] { records->forget_unkept(under_way, session, {}); });
  EXPECT_FALSE(records->find(session.id)->deleted_us);
  EXPECT_FALSE(records->find(other.id));
  EXPECT_TRUE(records->accepted().empty());
  EXPECT_EQ(keep->journal().head_seq(authority(actor)), seq);
}

TEST_F(RecordsTest, ASessionIsOfAnAuthorityInItsWorkspaceThatCoversItsFolder) {
  auto mine = authority(actor);
  EXPECT_TRUE(is_of(session, mine));
  EXPECT_TRUE(is_of(session, mine.limited_to("s")));
  EXPECT_FALSE(is_of(session, mine.limited_to("other")));
  auto other = keep->workspaces().create(actor, "other");
  EXPECT_FALSE(is_of(session, keep->workspaces().standing(actor, other.id)));
  auto robot = keep->access().create_principal(actor, "robot", "agent");
  keep->workspaces().set_member(workspace::first_authority(*keep), robot.id, workspace::Right::write);
  auto member = workspace::actor_by_key(*keep, robot.id);
  EXPECT_FALSE(is_of(session, keep->workspaces().standing(member, session.workspace)));
}

TEST_F(RecordsTest, WritesOfAnEarlierOwnerAreRefused) {
  SessionInfo earlier = session;
  records->claim(earlier);
  SessionInfo later = earlier;
  records->claim(later);
  EXPECT_GT(later.epoch, earlier.epoch);
  EXPECT_EQ(records->find(session.id)->epoch, later.epoch);
  auto refused = [&](const std::function<void()>& write) {
    try {
      write();
    } catch (const Error& error) {
      return error.code() == Code::conflict;
    }
    return false;
  };
  EXPECT_TRUE(refused([&] { records->save(earlier, execution); }));
  EXPECT_TRUE(refused([&] { records->save_accepted(authority(actor), earlier, execution, {}); }));
  EXPECT_TRUE(refused([&] { records->save_copy_state(earlier, {}); }));
  EXPECT_TRUE(refused([&] { records->forget_copy(earlier); }));
  EXPECT_TRUE(refused([&] { records->save_activity(earlier, 1, 1); }));
  EXPECT_TRUE(refused([&] { records->save_refused(earlier, {}); }));
  EXPECT_TRUE(refused([&] { records->forget_aside(earlier, "a"); }));
  EXPECT_TRUE(refused([&] { records->mark_told(earlier); }));
  EXPECT_TRUE(refused([&] { records->tell(earlier, "session.sleep", 1); }));
  EXPECT_TRUE(refused([&] { records->mark_deleted(authority(actor), earlier, 1); }));
  EXPECT_FALSE(records->find_execution(session.id, execution.id));
  EXPECT_FALSE(records->find(session.id)->deleted_us);
  records->save(later, execution);
  EXPECT_TRUE(records->find_execution(session.id, execution.id));
}

TEST_F(RecordsTest, ADeletedSessionCannotBeClaimed) {
  records->mark_deleted(authority(actor), session, 1);
  EXPECT_THROW(records->claim(session), Error);
}

TEST_F(RecordsTest, AStartEndsOnlyTheWorkOfItsOwnNode) {
  workspace::KeepContext context_elsewhere = keep->context();
  context_elsewhere.node = keep->context().ids.next();
  Records elsewhere(context_elsewhere);
  records->save(session, execution);
  Execution queued = execution;
  queued.id = keep->context().ids.next();
  queued.number = 2;
  queued.status = ExecutionStatus::queued;
  records->save_accepted(authority(actor), session, queued, {});
  records->save_copy_state(session, {.dirty = true, .identity = "x", .synced_seq = 0, .boot = "b"});

  elsewhere.end_interrupted_executions(clock.now_us());
  elsewhere.mark_copies_synced();
  EXPECT_EQ(found().status, ExecutionStatus::running);
  EXPECT_EQ(records->copy_state(session.id).boot, "b");
  EXPECT_TRUE(elsewhere.accepted().empty());
  EXPECT_TRUE(elsewhere.dirty_sessions().empty());
  EXPECT_EQ(records->accepted().size(), 1u);
  EXPECT_EQ(records->dirty_sessions().size(), 1u);

  records->end_interrupted_executions(clock.now_us());
  records->mark_copies_synced();
  EXPECT_EQ(found().outcome, Outcome::crash);
  EXPECT_EQ(records->copy_state(session.id).boot, "");

  // A claim makes its caller the owner.
  elsewhere.claim(session);
  EXPECT_EQ(elsewhere.dirty_sessions().size(), 1u);
  EXPECT_TRUE(records->dirty_sessions().empty());
}

TEST_F(RecordsTest, RowsOfBeforeThereWereNodesAreTheirs) {
  records->save(session, execution);
  keep->context().db.write(session.key().scope(), [](catalog::Tx& tx) {
    tx.exec("UPDATE sessions SET node = NULL", {});
    tx.exec("UPDATE executions SET node = NULL", {});
  });
  EXPECT_EQ(records->dirty_sessions().size(), 1u);
  records->end_interrupted_executions(clock.now_us());
  EXPECT_EQ(found().outcome, Outcome::crash);
}

}  // namespace
}  // namespace sk::interpreter
