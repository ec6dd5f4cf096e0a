// Records of executions, without a sandbox.
#include "interpreter/records.h"

#include <gtest/gtest.h>

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
    records = std::make_unique<Records>(keep->ground());
    session = new_session(actor);
    records->insert(authority(actor), session);
    execution.id = keep->ground().ids.next();
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
    made.id = keep->ground().ids.next();
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
  records->save(execution);
  records->save(done());
  records->save(execution);
  EXPECT_EQ(found().status, ExecutionStatus::done);
  EXPECT_EQ(found().outcome, Outcome::ok);
}

TEST_F(RecordsTest, WhatARunningExecutionKeptStaysWhenItIsSavedAgain) {
  KeptFile file;
  file.path = "s/a";
  file.change = KeptChange::created;
  keep->ground().db.write([&](catalog::Tx& tx) { records->save(tx, execution, {file}); });
  records->save(execution);
  ASSERT_EQ(found().files.kept.size(), 1u);
  EXPECT_EQ(found().files.kept[0].path, "s/a");
}

TEST_F(RecordsTest, AnAcceptedExecutionStaysQueuedWithItsTimeLimitWhenTheServerDies) {
  execution.status = ExecutionStatus::queued;
  NewExecution wanted;
  wanted.timeout_s = 7;
  records->save_accepted(authority(actor), execution, wanted);
  records->end_interrupted_executions(clock.now_us());
  auto left = records->accepted();
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0].execution.id, execution.id);
  EXPECT_EQ(left[0].wanted.timeout_s, 7);
  EXPECT_EQ(left[0].path_scope, "");
}

TEST_F(RecordsTest, AnAcceptedExecutionIsRunWithTheScopeThatItWasAcceptedFor) {
  execution.status = ExecutionStatus::queued;
  records->save_accepted(authority(actor).limited_to("s"), execution, {});
  ASSERT_EQ(records->accepted().size(), 1u);
  EXPECT_EQ(records->accepted()[0].path_scope, "s");
}

TEST_F(RecordsTest, AnExecutionThatHadBegunEndsWhenTheServerDies) {
  records->save(execution);
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
  test::expect_error(Code::unauthorized, [&] { records->save_accepted(under_way, execution, {}); });
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

}  // namespace
}  // namespace sk::interpreter
