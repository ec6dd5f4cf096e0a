#include "interpreter/record_deletion.h"

#include "interpreter/records.h"
#include "interpreter/refusing_interpreter.h"
#include "support/expect_error.h"
#include "unit/interpreter/copy_fixture.h"
#include "workspace/usage.h"

namespace sk::interpreter {
namespace {

class RecordDeletionTest : public CopyTest {
 protected:
  Execution add(const SessionInfo& of, int64_t number, ExecutionStatus status = ExecutionStatus::done) {
    Execution execution;
    execution.id = keep.context().ids.next();
    execution.session = of.id;
    execution.author = actor.principal();
    execution.number = number;
    execution.language = "python";
    execution.code = std::string(1'000, 'x');
    execution.status = status;
    if (status == ExecutionStatus::done) execution.outcome = Outcome::ok;
    execution.created_us = execution.started_us = execution.ended_us = clock.now_us();
    execution.outputs.push_back(TextOutput{.text = std::string(10'000, 'y')});
    KeptFile file;
    file.path = "s/a.txt";
    execution.files.kept.push_back(file);
    records.save(of, execution);
    return execution;
  }
  workspace::WorkspaceUsage usage() { return keep.quotas().of_workspace(ws); }
  DeletedRecords remove(RecordFilter filter) { return delete_records(keep.context(), ws, filter); }
  RecordFilter all() { return {.ended_before_us = clock.now_us() + 1}; }
  void TearDown() override { EXPECT_EQ(keep.upkeep().verify().problems, std::vector<std::string>()); }
};

TEST_F(RecordDeletionTest, FinishedExecutionsGoWithAllTheyHoldAndTheRestStays) {
  auto before = usage().executions;
  auto first = add(session, 1), second = add(session, 2);
  auto running = add(session, 3, ExecutionStatus::running);
  auto done = remove(all());
  EXPECT_EQ(done.executions, 2u);
  EXPECT_EQ(done.sessions, 0u) << "the session is not deleted";
  EXPECT_FALSE(done.has_more);
  EXPECT_FALSE(records.find_execution(session.id, first.id));
  EXPECT_TRUE(records.kept_files(second.id, 0, 10).empty());
  EXPECT_TRUE(records.find_execution(session.id, running.id));
  EXPECT_TRUE(records.find(session.id));
  EXPECT_GT(done.bytes, 2 * 11'000);
  records.save(session, [&] {
    auto now = running;
    now.status = ExecutionStatus::done;
    return now;
  }());
  EXPECT_EQ(remove(all()).executions, 1u);
  EXPECT_EQ(usage().executions.bytes, before.bytes);
  EXPECT_EQ(usage().executions.count, before.count);
}

TEST_F(RecordDeletionTest, OnlyWhatEndedBeforeAndOnlyOfThatSession) {
  auto other = make_session();
  auto old = add(session, 1), old_of_other = add(other, 1);
  clock.advance_us(kSecondUs);
  auto limit_us = clock.now_us();
  auto young = add(session, 2);
  EXPECT_EQ(remove({.ended_before_us = limit_us, .session = session.id}).executions, 1u);
  EXPECT_FALSE(records.find_execution(session.id, old.id));
  EXPECT_TRUE(records.find_execution(other.id, old_of_other.id));
  EXPECT_TRUE(records.find_execution(session.id, young.id));
}

TEST_F(RecordDeletionTest, OfADeletedSessionNothingIsLeft) {
  add(session, 1);
  auto other = make_session();
  records.mark_deleted(ws, session, clock.now_us());
  records.mark_deleted(ws, other, clock.now_us());
  auto done = remove(all());
  EXPECT_EQ(done.executions, 1u);
  EXPECT_EQ(done.sessions, 2u) << "also one that never ran anything";
  EXPECT_FALSE(records.find(session.id));
  EXPECT_EQ(usage().executions.bytes, 0);
}

TEST_F(RecordDeletionTest, ManyGoInSeveralTransactions) {
  for (int64_t number = 1; number <= 450; ++number) add(session, number);
  EXPECT_EQ(remove(all()).executions, 450u);
  EXPECT_EQ(usage().executions.count, 0);
}

TEST_F(RecordDeletionTest, AnExecutionWithManyFilesGoesInSeveralTransactions) {
  auto many = add(session, 1);
  many.files.kept.resize(12'000, many.files.kept[0]);
  records.save(session, many);
  add(session, 2);
  auto before = usage().executions.bytes;
  auto done = remove(all());
  EXPECT_EQ(done.executions, 2u);
  EXPECT_EQ(usage().executions.bytes, before - done.bytes);
  EXPECT_EQ(usage().executions.count, 0);
  EXPECT_TRUE(records.kept_files(many.id, 0, 10).empty());
}

TEST_F(RecordDeletionTest, AnotherWorkspaceIsNotTouchedAndOnlyTheOwnerMayDelete) {
  add(session, 1);
  auto made = keep.workspaces().create(actor, "other");
  auto elsewhere =
      keep.workspaces().open(actor, made.id.with_prefix(workspace::prefix::workspace), workspace::Right::own);
  EXPECT_EQ(delete_records(keep.context(), elsewhere, all()).executions, 0u);
  EXPECT_EQ(delete_records(keep.context(), elsewhere,
                           {.ended_before_us = all().ended_before_us, .session = session.id})
                .executions,
            0u);
  auto limited = ws.limited_to("s");
  test::expect_error(Code::forbidden, [&] { delete_records(keep.context(), limited, all()); });
  EXPECT_EQ(usage().executions.count, 1);
}

TEST_F(RecordDeletionTest, ThePurgeOfAWorkspaceDeletesTheRowsOfAllItsSessionsInSteps) {
  auto many = add(session, 1);
  many.files.kept.resize(50, many.files.kept[0]);
  records.save(session, many);
  add(session, 2, ExecutionStatus::queued);
  auto other = make_session();
  EXPECT_EQ(undeleted_sessions(keep.context(), ws.workspace_id()), (std::vector<Id>{session.id, other.id}));
  for (const auto& one : {session, other}) records.mark_deleted(ws, one, clock.now_us());
  auto purge_some = [&] {
    return keep.context().db.write(
        ws.scope(), [&](catalog::Tx& tx) { return purge_session_rows(tx, ws.workspace_id(), 20); });
  };
  EXPECT_EQ(purge_some(), 20u);
  EXPECT_TRUE(records.find_execution(session.id, many.id)) << "a step leaves the rest";
  EXPECT_EQ(keep.upkeep().verify().problems, std::vector<std::string>());
  while (purge_some() > 0) {
  }
  EXPECT_FALSE(records.find(session.id));
  EXPECT_FALSE(records.find(other.id));
  EXPECT_EQ(usage().executions.bytes, 0);
  EXPECT_EQ(usage().executions.count, 0);
}

TEST_F(RecordDeletionTest, WhereNoCodeRunsTheSessionsOfAWorkspaceCanStillBeDeleted) {
  RefusingInterpreter refusing(keep, "code is off");
  const std::string copies = keep.directory() + "/copies/" + session.id.hex();
  for (const char* kind : {"", ".suspect"}) {
    std::filesystem::create_directories(copies + kind + "/some/folder");
    std::ofstream(copies + kind + "/some/folder/file") << "text";
  }
  auto limited = ws.limited_to("s");
  test::expect_error(Code::forbidden, [&] { refusing.remove_all(limited).get(); });
  refusing.remove_all(ws).get();
  EXPECT_FALSE(std::filesystem::exists(copies));
  EXPECT_FALSE(std::filesystem::exists(copies + ".suspect"));
  EXPECT_TRUE(records.find(session.id)->deleted_us);
  EXPECT_TRUE(undeleted_sessions(keep.context(), ws.workspace_id()).empty());
}

}  // namespace
}  // namespace sk::interpreter
