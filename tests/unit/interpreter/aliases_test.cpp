// Sessions by names, and files that are brought into them: real rows, no sandbox needed.
#include "interpreter/sessions/aliases.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/error.h"
#include "interpreter/copy/attachments.h"
#include "interpreter/refusing_interpreter.h"
#include "interpreter/sandboxed_interpreter.h"
#include "support/content_of.h"
#include "support/expect_error.h"
#include "support/first_principal.h"
#include "support/interpreter_options.h"
#include "support/keep_options.h"
#include "unit/temp_dir.h"
#include "workspace/content.h"

namespace sk::interpreter {
namespace {

class AliasesTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    metrics = new Metrics;
    root = new TempDir;
    std::filesystem::permissions(root->path(), std::filesystem::perms(0711));
    host = new sandbox::SandboxHost(test::host_options(root->path()), *metrics);
  }
  static void TearDownTestSuite() {
    delete host;
    delete root;
    delete metrics;
  }

  AliasesTest() { open(); }
  std::unique_ptr<workspace::Keep> open_keep() {
    return std::make_unique<workspace::Keep>(test::keep_options(folder), clock, *metrics);
  }
  void open() {
    if (!keep) keep = open_keep();
    actor = workspace::first_actor(*keep);
    ws = workspace::first_authority(*keep);
    auto wanted = test::interpreter_options(folder + "/copies");
    interpreter = std::make_unique<SandboxedInterpreter>(*keep, *host, wanted, *metrics);
  }
  void reopen() {
    interpreter.reset();
    keep.reset();
    open();
  }
  Aliases aliases() { return Aliases(*keep, *interpreter); }
  Id named(const workspace::Actor& who, const std::string& alias, const std::string& kind = "azure:") {
    NewSession wanted;
    wanted.name = "named";
    return aliases().find_or_create(keep->workspaces().open_default(who), kind, alias, wanted).id;
  }
  SessionInfo session() { return interpreter->create(ws, {}); }
  workspace::Version put(const std::string& path, const std::string& text) {
    workspace::PutChange change;
    change.path = path;
    change.content = content_of(keep->context(), text);
    return *keep->files().apply_one(ws, change).version;
  }
  std::string read(const std::string& path) {
    auto entry = keep->files().get(ws, path);
    return workspace::ContentReader(keep->context(), entry.sha256, 0, entry.size).read_all();
  }
  std::vector<Attached> attach(const SessionInfo& to, const std::vector<Attachment>& wanted) {
    return Attachments(*keep).attach(ws, to, wanted);
  }

  static inline Metrics* metrics;
  static inline TempDir* root;
  static inline sandbox::SandboxHost* host;
  SystemClock clock;
  TempDir dir;
  std::string folder = dir.file("data");
  std::unique_ptr<workspace::Keep> keep = open_keep();
  std::unique_ptr<Interpreter> interpreter;
  workspace::Actor actor = workspace::first_actor(*keep);
  workspace::Authority ws = workspace::first_authority(*keep);
};

TEST_F(AliasesTest, ANameStandsForOneSessionAlsoAfterARestart) {
  Id first = named(actor, "a");
  EXPECT_EQ(named(actor, "a"), first);
  EXPECT_NE(named(actor, "b"), first);
  EXPECT_NE(named(actor, "a", "azure:/other"), first);
  reopen();
  EXPECT_EQ(aliases().find(ws, "azure:", "a")->id, first);
  EXPECT_FALSE(aliases().find(ws, "azure:", "c"));
}

TEST_F(AliasesTest, TwoPrincipalsThatChooseTheSameNameShareNoSession) {
  auto stranger = keep->access().actor_of_subject("chat", "stranger");
  EXPECT_NE(named(stranger, "a"), named(actor, "a"));
  identity::NewKey one_workspace;
  one_workspace.only_workspace = keep->workspaces().create(actor, "scoped").id;
  auto scoped = workspace::actor_by_key(*keep, actor.principal(), one_workspace);
  EXPECT_NE(named(scoped, "a"), named(actor, "a"));
}

TEST_F(AliasesTest, ADeletedSessionsNameIsFreeAgain) {
  Id first = named(actor, "a");
  named(actor, "b");
  interpreter->remove(ws, first).get();
  EXPECT_FALSE(aliases().find(ws, "azure:", "a"));
  EXPECT_EQ(aliases().list(ws, "azure:", 0, 10).size(), 1u);
  EXPECT_NE(named(actor, "a"), first);
  auto all = aliases().list(ws, "azure:", 0, 10);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].alias, "a");
  EXPECT_EQ(aliases().list(ws, "azure:", 1, 10)[0].alias, "b");
}

TEST_F(AliasesTest, ConcurrentRequestsGetTheSameSession) {
  std::vector<std::thread> threads;
  std::vector<Id> ids(8);
  for (auto& id : ids) threads.emplace_back([&] { id = named(actor, "race"); });
  for (auto& thread : threads) thread.join();
  for (const auto& id : ids) EXPECT_EQ(id, ids[0]);
  // The others are removed in the background.
  while (interpreter->list(actor, SessionQuery{}).size() > 1) std::this_thread::yield();
  EXPECT_EQ(interpreter->list(actor, SessionQuery{}).size(), 1u);
}

TEST_F(AliasesTest, AnAttachmentIsPutThereOnceAndNeverUndoesWhatCodeDid) {
  auto to = session();
  auto raw = put("data.csv", "raw");
  EXPECT_EQ(attach(to, {{raw.id, "data.csv"}})[0].path, to.folder + "/data.csv");
  put(to.folder + "/data.csv", "cleaned");
  attach(to, {{raw.id, "data.csv"}});
  EXPECT_EQ(read(to.folder + "/data.csv"), "cleaned");
  auto same_bytes = put("again.csv", "raw");
  attach(to, {{same_bytes.id, "data.csv"}});
  EXPECT_EQ(read(to.folder + "/data.csv"), "cleaned") << "the same bytes under a new id are no news";
  auto newer = put("newer.csv", "newer");
  attach(to, {{newer.id, "data.csv"}});
  EXPECT_EQ(read(to.folder + "/data.csv"), "newer");
}

TEST_F(AliasesTest, TwoFilesOfOneNameAreBothThereUnderStableNames) {
  auto to = session();
  auto one = put("1.csv", "one"), two = put("2.csv", "two");
  auto first = attach(to, {{one.id, "d.csv"}, {two.id, "d.csv"}});
  EXPECT_EQ(read(first[0].path), "one");
  EXPECT_EQ(read(first[1].path), "two");
  EXPECT_NE(first[0].path, first[1].path);
  auto again = attach(to, {{two.id, "d.csv"}, {one.id, "d.csv"}});
  EXPECT_EQ(again[0].path, first[1].path);
  EXPECT_EQ(again[1].path, first[0].path);
}

TEST_F(AliasesTest, WhatCannotBeAttachedIsToldAndWhatIsThereAlreadyStays) {
  auto to = session();
  auto own = put(to.folder + "/own.txt", "own");
  EXPECT_EQ(attach(to, {{own.id, "elsewhere.txt"}})[0].path, to.folder + "/own.txt");
  keep->files().apply_one(ws, workspace::TrashChange{.path = to.folder + "/own.txt", .conditions = {}});
  auto deleted = attach(to, {{own.id, "own.txt"}})[0];
  EXPECT_TRUE(deleted.path.empty() && deleted.problem.empty()) << "what code deleted stays deleted";
  auto missing = attach(to, {{Id{}, "no.txt"}})[0];
  EXPECT_TRUE(missing.path.empty());
  EXPECT_NE(missing.problem.text().find("no.txt"), std::string::npos);
  auto stranger = keep->access().actor_of_subject("chat", "stranger");
  auto home = keep->workspaces().open_default(stranger, workspace::Right::write);
  auto theirs = interpreter->create(home, {});
  EXPECT_FALSE(Attachments(*keep).attach(home, theirs, {{own.id, "x"}})[0].problem.empty());
  EXPECT_THROW(attach(to, {{own.id, "../x"}}), Error);
}

TEST_F(AliasesTest, AFileOfAnotherSessionIsBroughtAlsoOutOfTheTrashAndNotOnceItsOwnerTookItBack) {
  auto from = session(), to = session();
  auto trashed = put(from.folder + "/trashed.txt", "in the trash");
  auto deleted = put(from.folder + "/deleted.txt", "taken back");
  keep->files().apply_one(ws, workspace::TrashChange{.path = from.folder + "/trashed.txt", .conditions = {}});
  keep->retractions().retract(actor, deleted.id);
  interpreter->remove(ws, from.id).get();
  auto brought = attach(to, {{trashed.id, "a.txt"}, {deleted.id, "b.txt"}});
  EXPECT_EQ(brought[0].problem, "");
  EXPECT_EQ(read(brought[0].path), "in the trash");
  EXPECT_TRUE(brought[1].path.empty());
  EXPECT_NE(brought[1].problem.text().find("b.txt"), std::string::npos);
}

TEST_F(AliasesTest, WhereNoCodeRunsSessionsAreFoundAndTheRestIsRefusedWithTheReason) {
  Id named_one = named(actor, "a");
  auto other = session();
  interpreter->remove(ws, other.id).get();
  RefusingInterpreter refusing(*keep, "no sandbox here");
  SessionDirectory book(*keep, refusing);
  EXPECT_EQ(book.find(actor, named_one)->status, SessionStatus::asleep);
  EXPECT_EQ(book.find(actor, other.id)->status, SessionStatus::deleted);
  EXPECT_EQ(book.list(actor, {}).size(), 1u);
  EXPECT_EQ(Aliases(*keep, refusing).find(ws, "azure:", "a")->id, named_one);
  EXPECT_EQ(Aliases(*keep, refusing).list(ws, "azure:", 0, 10).size(), 1u);
  EXPECT_FALSE(refusing.runs_code());
  EXPECT_FALSE(refusing.find_running(ws, named_one, other.id));
  EXPECT_EQ(test::expect_error(Code::unavailable, [&] { refusing.execute(ws, named_one, {}).get(); }),
            "no sandbox here");
  test::expect_error(Code::unavailable, [&] { refusing.require_code(); });
  test::expect_error(Code::unavailable,
                     [&] { Aliases(*keep, refusing).find_or_create(ws, "azure:", "b", {}); });
  auto stranger = keep->access().actor_of_subject("chat", "stranger");
  EXPECT_FALSE(book.find(stranger, named_one));
  EXPECT_TRUE(book.list(stranger, {}).empty());
  identity::NewKey one_workspace;
  one_workspace.only_workspace = keep->workspaces().create(actor, "scoped").id;
  auto scoped = workspace::actor_by_key(*keep, actor.principal(), one_workspace);
  EXPECT_FALSE(book.find(scoped, named_one)) << "a key for another workspace";
  auto their_authority = book.authority_over(stranger, named_one);
  EXPECT_EQ(their_authority.right(), workspace::Right::none);
  test::expect_error(Code::not_found, [&] { refusing.find_running(their_authority, named_one, other.id); });
  test::expect_error(Code::not_found, [&] { refusing.find_execution(their_authority, named_one, other.id); });
  test::expect_error(Code::not_found, [&] { book.unkept(their_authority, named_one, "", 10); });
  test::expect_error(Code::not_found, [&] { book.dismiss_unkept(their_authority, named_one, {}); });
  EXPECT_EQ(book.authority_over(actor, named_one).right(), workspace::Right::own);
  EXPECT_TRUE(book.unkept(book.authority_over(actor, named_one), named_one, "", 10).items.empty());
}

// Each call finds the sessions of its authority: by owner, workspace and scope.
TEST_F(AliasesTest, EveryCallAboutASessionNeedsAnAuthorityOverIt) {
  auto mine = session();
  auto robot = keep->access().create_principal(actor, "robot", "agent");
  keep->workspaces().set_member(ws, robot.id, workspace::Right::write);
  auto other = keep->workspaces().create(actor, "other");
  const std::map<std::string, workspace::Authority> authorities = {
      {"a member", keep->workspaces().standing(workspace::actor_by_key(*keep, robot.id), mine.workspace)},
      {"another workspace of the owner", keep->workspaces().standing(actor, other.id)},
      {"another folder", ws.limited_to("elsewhere")},
      {"the server", workspace::system_authority(mine.workspace, actor, "a test of what the server may do")},
  };
  SessionDirectory book(*keep, *interpreter);
  for (const auto& [whose, authority] : authorities) {
    SCOPED_TRACE(whose);
    auto& by = authority;
    const Id run = keep->context().ids.next();
    for (const auto& call : std::vector<std::function<void()>>{
             [&] { interpreter->execute(by, mine.id, {}).get(); },
             [&] { interpreter->cancel(by, mine.id, run); },
             [&] { interpreter->find_running(by, mine.id, run); },
             [&] { interpreter->find_execution(by, mine.id, run); },
             [&] { interpreter->answer_tools(by, mine.id, run, 1, Json::array()); },
             [&] { interpreter->executions(by, mine.id, 0, 10); },
             [&] { interpreter->export_history(by, mine.id, ExportFormat::script); },
             [&] { interpreter->kept_files(by, mine.id, run, 0, 10); },
             [&] { interpreter->retry_unkept(by, mine.id).get(); },
             [&] { interpreter->sleep(by, mine.id).get(); }, [&] { interpreter->remove(by, mine.id).get(); },
             [&] { book.unkept(by, mine.id, "", 10); }, [&] { book.dismiss_unkept(by, mine.id, {}); }})
      test::expect_error(Code::not_found, call);
  }
  EXPECT_EQ(book.get(actor, mine.id).status, SessionStatus::asleep);
  EXPECT_TRUE(interpreter->executions(ws, mine.id, 0, 10).items.empty());
}

TEST_F(AliasesTest, ALimitedAuthorityHasItsSessionsWithinItsFolder) {
  auto limited = ws.limited_to("shared");
  EXPECT_TRUE(interpreter->create(limited, {}).folder.starts_with("shared/sessions/"));
  NewSession wanted;
  wanted.folder = "private";
  test::expect_error(Code::forbidden, [&] { interpreter->create(limited, wanted); });
  wanted.folder = "shared";
  EXPECT_EQ(interpreter->create(limited, wanted).folder, "shared");
  put("private/secret", "x");
  keep->workspaces().create(actor, "other");
  auto code_of = [&](AddedFile file) {
    wanted.files = {std::move(file)};
    try {
      interpreter->create(limited, wanted);
    } catch (const Error& error) {
      return error.code();
    }
    return Code::internal;
  };
  EXPECT_EQ(code_of({.workspace = "", .path = "private/secret", .version = {}, .as = ""}), Code::not_found);
  EXPECT_EQ(code_of({.workspace = "other", .path = "x", .version = {}, .as = ""}), Code::not_found);
}

// A member who was removed still has its session, but no code runs in a workspace that it may not enter.
TEST_F(AliasesTest, AFormerMemberCanOnlyLookAtItsSessionAndDeleteIt) {
  auto robot = keep->access().create_principal(actor, "robot", "agent");
  keep->workspaces().set_member(ws, robot.id, workspace::Right::write);
  auto member = workspace::actor_by_key(*keep, robot.id);
  SessionDirectory book(*keep, *interpreter);
  auto theirs = interpreter->create(keep->workspaces().standing(member, ws.workspace_id()), {});
  keep->workspaces().set_member(ws, robot.id, std::nullopt);
  auto authority = book.authority_over(member, theirs.id);
  EXPECT_EQ(authority.right(), workspace::Right::none);
  test::expect_error(Code::not_found, [&] { interpreter->execute(authority, theirs.id, {}).get(); });
  test::expect_error(Code::not_found, [&] { interpreter->create(authority, {}); });
  EXPECT_TRUE(interpreter->executions(authority, theirs.id, 0, 10).items.empty());
  interpreter->remove(authority, theirs.id).get();
  EXPECT_EQ(book.get(member, theirs.id).status, SessionStatus::deleted);
}

}  // namespace
}  // namespace sk::interpreter
