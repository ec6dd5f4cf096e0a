#include "interpreter/run/record_saver.h"

#include <future>
#include <thread>

#include "unit/interpreter/copy_fixture.h"

namespace sk::interpreter {
namespace {

class RecordSaverTest : public CopyTest {
 protected:
  Execution execution(int64_t number, ExecutionStatus status = ExecutionStatus::done) {
    Execution one;
    one.id = keep.context().ids.next();
    one.session = session.id;
    one.number = number;
    one.author = actor.principal();
    one.language = "python";
    one.code = "cell " + std::to_string(number);
    one.status = status;
    if (status == ExecutionStatus::done) one.outcome = Outcome::ok;
    one.created_us = clock.now_us();
    return one;
  }
  static std::vector<int64_t> numbers(const std::vector<Execution>& page) {
    std::vector<int64_t> found;
    for (const auto& one : page) found.push_back(one.number);
    return found;
  }
  // Runs `look` inside a transaction: the saver cannot write meanwhile.
  void while_nothing_is_written(const std::function<void()>& look) {
    std::promise<void> entered, leave;
    bool has_waited = false;  // the catalog of the tests runs a closure twice
    std::thread holder([&] {
      keep.context().db.write(session.key().scope(), [&](catalog::Tx&) {
        if (std::exchange(has_waited, true)) return;
        entered.set_value();
        leave.get_future().wait();
      });
    });
    entered.get_future().wait();
    look();
    leave.set_value();
    holder.join();
  }

  WorkerPool pool{1, 100};
  RecordSaver saver{records, pool};
};

TEST_F(RecordSaverTest, ReadsIncludeWhatIsNotWrittenYet) {
  auto first = execution(1), second = execution(2), third = execution(3);
  records.save(session, first);
  records.save(session, third);
  first.message = "newer";
  while_nothing_is_written([&] {
    saver.save(session, second);
    saver.save(session, first);
    EXPECT_FALSE(records.find_execution(session.id, second.id));
    EXPECT_EQ(numbers(saver.list_executions(session.id, 0, {10}).items), (std::vector<int64_t>{3, 2, 1}));
    EXPECT_EQ(numbers(saver.list_executions(session.id, 0, {2}).items), (std::vector<int64_t>{3, 2}));
    EXPECT_EQ(numbers(saver.list_executions(session.id, 3, {1}).items), (std::vector<int64_t>{2}));
    EXPECT_EQ(numbers(saver.executions_after(session.id, 0, 2)), (std::vector<int64_t>{1, 2}));
    EXPECT_EQ(numbers(saver.executions_after(session.id, 1, 2)), (std::vector<int64_t>{2, 3}));
    EXPECT_EQ(saver.find_execution(session.id, first.id)->message, "newer");
    EXPECT_EQ(saver.list_executions(session.id, 0, {10}).items[2].message, "newer");
    EXPECT_TRUE(saver.list_executions(keep.context().ids.next(), 0, {10}).items.empty()) << "another session";
  });
  saver.stop();
  EXPECT_EQ(records.find_execution(session.id, first.id)->message, "newer");
  EXPECT_EQ(numbers(saver.list_executions(session.id, 0, {10}).items), (std::vector<int64_t>{3, 2, 1}));
}

TEST_F(RecordSaverTest, AnUnwrittenRecordOfARunDoesNotHideItsEnd) {
  auto running = execution(1, ExecutionStatus::running);
  auto done = running;
  done.status = ExecutionStatus::done;
  done.outcome = Outcome::ok;
  records.save(session, done);
  while_nothing_is_written([&] {
    saver.save(session, running);
    EXPECT_EQ(saver.find_execution(session.id, done.id)->status, ExecutionStatus::done);
    EXPECT_EQ(saver.list_executions(session.id, 0, {1}).items[0].status, ExecutionStatus::done);
  });
}

TEST_F(RecordSaverTest, TheNewestStateIsWritten) {
  auto one = execution(1, ExecutionStatus::running);
  while_nothing_is_written([&] {
    saver.save(session, one);
    for (const char* message : {"a", "b", "c"}) {
      one.message = message;
      saver.save(session, one);
    }
  });
  saver.stop();
  EXPECT_EQ(records.find_execution(session.id, one.id)->message, "c");
}

TEST_F(RecordSaverTest, AfterRunsWhenTheSessionsRecordsAreWritten) {
  auto one = execution(1);
  bool at_once = false;
  saver.after(session.id, [&] { at_once = true; });
  EXPECT_TRUE(at_once);
  std::promise<bool> was_written;
  while_nothing_is_written([&] {
    saver.save(session, one);
    saver.after(session.id,
                [&] { was_written.set_value(records.find_execution(session.id, one.id).has_value()); });
    bool other = false;
    saver.after(keep.context().ids.next(), [&] { other = true; });
    EXPECT_TRUE(other) << "another session's records do not matter";
  });
  EXPECT_TRUE(was_written.get_future().get());
}

}  // namespace
}  // namespace sk::interpreter
