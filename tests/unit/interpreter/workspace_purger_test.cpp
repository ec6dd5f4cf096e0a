// The purge of a workspace in which code runs.
#include "interpreter/workspace_purger.h"

#include "unit/interpreter/fixture.h"

namespace sk::interpreter {
namespace {

class WorkspacePurgerTest : public InterpreterTest {
 protected:
  // A workspace with a session that is awake and holds a file which no quota takes.
  SessionInfo make_team() {
    keep->workspaces().create(actor, "team", 1'000'000);
    ws = keep->workspaces().open(actor, "team", workspace::Right::own);
    auto session = create("w");
    auto ran = run(session.id, "open('small', 'w').write('x'); open('big', 'w').write('x' * 3_000_000)");
    EXPECT_EQ(ran.files.not_kept.size(), 1u);
    return session;
  }
  void trash_team() { keep->workspaces().trash(ws); }
  workspace::Workspace begin() { return keep->workspaces().begin_purge(actor, "team"); }
  void expect_gone(const SessionInfo& session) {
    EXPECT_FALSE(Records(keep->context()).find(session.id));
    EXPECT_FALSE(std::filesystem::exists(folder + "/copies/" + session.id.hex()));
    EXPECT_TRUE(workspace::begun_workspace_purges(keep->context()).empty());
    EXPECT_EQ(keep->upkeep().verify().problems, std::vector<std::string>());
    auto usage = keep->quotas().of_principal(actor, actor.principal(), 16);
    EXPECT_EQ(usage.workspaces, 1u);
    EXPECT_EQ(usage.sessions_kept, 0u);
    EXPECT_EQ(usage.executions.bytes, 0);
  }
};

TEST_F(WorkspacePurgerTest, EndsTheSessionsAndThenDeletesEverything) {
  auto session = make_team();
  EXPECT_EQ(interpreter->count_awake(actor.principal()), 1u);
  trash_team();
  Background background;
  WorkspacePurger purger(*keep, *interpreter, background);
  auto result = purger.purge([&] { return begin(); }).get();
  background.stop();
  EXPECT_EQ(result.files, 2);
  expect_gone(session);
  EXPECT_EQ(interpreter->count_awake(actor.principal()), 0u);
}

TEST_F(WorkspacePurgerTest, GoesOnAfterARestart) {
  auto session = make_team();
  trash_team();
  begin();
  reopen();
  Background background;
  WorkspacePurger purger(*keep, *interpreter, background);
  purger.finish_begun();
  while (!workspace::begun_workspace_purges(keep->context()).empty()) std::this_thread::yield();
  background.stop();
  expect_gone(session);
}

TEST_F(WorkspacePurgerTest, AWorkspaceThatIsNotInTheTrashKeepsItsSessions) {
  auto session = make_team();
  Background background;
  WorkspacePurger purger(*keep, *interpreter, background);
  EXPECT_THROW(purger.purge([&] { return begin(); }).get(), Error);
  EXPECT_EQ(interpreter->get(actor, session.id).status, SessionStatus::running);
}

}  // namespace
}  // namespace sk::interpreter
