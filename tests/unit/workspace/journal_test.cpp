#include <fstream>

#include "keep_fixture.h"

namespace sk::workspace {
namespace {

class AuditTest : public KeepTest {
 protected:
  std::string export_file() {
    std::string text;
    keep->audit().export_to(ws, [&](std::string_view line) { text += line; });
    return text;
  }
  AuditVerdict verify(const std::string& text, const std::string& key = "") {
    std::ofstream(dir.file("audit.jsonl"), std::ios::binary) << text;
    return Audit::verify_file(dir.file("audit.jsonl"), key);
  }
};

TEST_F(AuditTest, AnExportVerifiesOfflineAlsoAgainstItsKey) {
  put("a", "1");
  put("a", "2");
  auto verdict = verify(export_file(), keep->audit().public_key_pem());
  EXPECT_TRUE(verdict.valid) << verdict.problem;
  EXPECT_EQ(verdict.entries, 3);
  EXPECT_FALSE(verify(export_file(), SigningKey::make().public_key().pem()).valid);
}

TEST_F(AuditTest, AnExportWithAnyByteChangedOrRemovedIsRejected) {
  put("a", "1");
  keep->audit().checkpoint();
  put("a", "2");
  std::string text = export_file();
  ASSERT_TRUE(verify(text).valid);
  for (size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_FALSE(verify(changed).valid) << "byte " << i;
  }
  for (size_t cut = 0; cut < text.size(); cut += 7)
    EXPECT_FALSE(verify(text.substr(0, cut)).valid) << "cut at " << cut;
  EXPECT_FALSE(verify(text + "\n").valid);
}

TEST_F(AuditTest, ATruncatedJournalShows) {
  put("a", "1");
  put("a", "2");
  keep->audit().checkpoint();
  keep->context().db.write(ws.scope(), [&](catalog::Tx& tx) {
    tx.exec("DELETE FROM journal WHERE workspace = $1 AND seq = 3", {ws.workspace_id()});
  });
  keep->context().db.write(ws.scope(), [&](catalog::Tx& tx) {
    tx.exec(
        "UPDATE journals SET seq = 2, checkpointed_seq = 2, hash = (SELECT hash FROM journal WHERE workspace "
        "= $1 AND seq = 2) WHERE workspace = $1",
        {ws.workspace_id()});
  });
  EXPECT_FALSE(verify(export_file()).valid);
}

TEST_F(AuditTest, ErasingPersonalPartsLeavesTheChainValid) {
  put("secret-name.txt", "1");
  keep->journal().erase_personal(actor, actor.principal());
  std::string text = export_file();
  EXPECT_EQ(text.find("secret-name"), std::string::npos);
  EXPECT_TRUE(verify(text).valid);
  expect_clean();
}

TEST_F(AuditTest, ErasedPersonalPartsHaveNoSaltLeft) {
  auto made = keep->access().create_principal(actor, "Erika Mustermann", "person");
  auto other = keep->access().authenticate(
      keep->access().create_key(actor, made.id, identity::NewKey{"erikas-laptop", false, {}, {}}).secret);
  auto own = keep->workspaces().open_default(other, Right::own);
  PutChange change = put_change("erikas-file", "1");
  keep->files().apply_one(own, std::move(change));
  put("mine", "2");
  EXPECT_GT(keep->journal().erase_personal(actor, made.id), 0);
  struct Left {
    int64_t with_personal = 0, with_salt = 0;
  };
  auto left = [&](catalog::Sql sql) {
    return *keep->context().db.read([&](catalog::Statements& statements) {
      return statements.one(sql, {made.id, "%" + made.id.with_prefix(prefix::principal) + "%"},
                            [](const catalog::Row& row) { return Left{row.integer(0), row.integer(1)}; });
    });
  };
  // By them and about them: without its salt, a commitment tells nothing even to who guesses the text.
  auto theirs = left(
      "SELECT count(personal), count(salt) FROM journal WHERE kind <> 'journal.erase' AND "
      "(actor = $1 OR facts LIKE $2)");
  EXPECT_EQ(theirs.with_personal, 0);
  EXPECT_EQ(theirs.with_salt, 0);
  auto others =
      left("SELECT count(personal), count(salt) FROM journal WHERE actor <> $1 AND NOT facts LIKE $2");
  EXPECT_GT(others.with_personal, 0);
  EXPECT_EQ(others.with_personal, others.with_salt);
  EXPECT_EQ(keep->journal().erase_personal(actor, made.id), 0);
  EXPECT_EQ(export_file().find("Erika"), std::string::npos);
  EXPECT_TRUE(verify(export_file()).valid);
  expect_clean();
}

TEST_F(AuditTest, AChangedRowIsFoundByVerify) {
  put("a", "1");
  keep->context().db.write(ws.scope(), [&](catalog::Tx& tx) {
    // As long as before, so that only the chain of hashes shows it.
    tx.exec("UPDATE journal SET facts = replace(facts, 'upload', 'import') WHERE workspace = $1 AND seq = 2",
            {ws.workspace_id()});
  });
  EXPECT_EQ(keep->upkeep().verify().problems.size(), 1u);
}

TEST_F(KeepTest, TheFeedGoesOnFromItsCursorAndFilters) {
  put("a/1", "x");
  put("b/2", "x");
  auto all = keep->journal().events(ws, 0, 100, {});
  EXPECT_EQ(all.cursor, keep->journal().head_seq(ws));
  EventFilter filter;
  filter.path_prefix = "a";
  auto some = keep->journal().events(ws, 0, 100, filter);
  ASSERT_EQ(some.items.size(), 2u);
  EXPECT_EQ(some.items[1].kind, "file.create");
  EXPECT_EQ(some.cursor, all.cursor);
  EXPECT_TRUE(keep->journal().events(ws, all.cursor, 100, {}).items.empty());
}

TEST_F(KeepTest, WaitersAreWokenOnceTheChangeIsDurable) {
  int woken = 0;
  int64_t seen = 0, before = keep->journal().head_seq(ws);
  auto subscription = keep->feed().subscribe(ws.workspace_id(), [&] {
    ++woken;
    seen = keep->journal().head_seq(ws);
  });
  put("a", "1");
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(seen, before + 1) << "whoever looks at once sees the change";
  subscription = {};
  put("a", "2");
  EXPECT_EQ(woken, 1);
}

TEST_F(KeepTest, AccessesAreCoalescedAndTheirSegmentsHashIsInTheJournal) {
  for (int i = 0; i < 100; ++i)
    keep->access_log().note({ws.workspace_id(), actor.principal(), "read", "a", "ok", "127.0.0.1"});
  keep->access_log().stop();
  std::vector<std::filesystem::path> files;
  for (const auto& file : std::filesystem::directory_iterator(dir.file("access")))
    files.push_back(file.path());
  ASSERT_EQ(files.size(), 1u);
  std::string text = read_file(files[0].string());
  EXPECT_NE(text.find("\"count\":100"), std::string::npos);
  EventFilter filter;
  filter.kinds = {"access_log.segment"};
  auto events = keep->journal().events(ReadableJournal::of_server(actor), 0, 100, filter).items;
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].facts["sha256"], sha256(text).hex());
}

TEST_F(KeepTest, AccessesThatCouldNotBeWrittenAreWrittenLater) {
  const std::string folder = dir.file("access");
  const AccessRecord record{ws.workspace_id(), actor.principal(), "read", "a", "ok", "127.0.0.1"};
  std::filesystem::rename(folder, folder + "-away");
  keep->access_log().note(record);
  EXPECT_ANY_THROW(keep->access_log().flush());
  keep->access_log().note(record);
  EXPECT_ANY_THROW(keep->access_log().flush());
  std::filesystem::rename(folder + "-away", folder);
  keep->access_log().note(record);
  keep->access_log().stop();
  std::string text;
  for (const auto& file : std::filesystem::directory_iterator(folder))
    text += read_file(file.path().string());
  EXPECT_NE(text.find("\"count\":3"), std::string::npos) << text;
}

std::string text_of_folder(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& file : std::filesystem::directory_iterator(folder)) files.push_back(file.path());
  std::ranges::sort(files);
  std::string text;
  for (const auto& file : files) text += read_file(file.string());
  return text;
}

TEST_F(KeepTest, TheAccessLogHasABoundedSizeAndForgetsTheOldestFirst) {
  const std::string folder = dir.file("bounded");
  constexpr uint64_t kBytesMax = 16 << 10;
  AccessLog log(keep->context(), folder, {.retention_days = 0, .bytes_max = kBytesMax});
  for (int i = 0; i < 200; ++i) {
    log.note(
        {ws.workspace_id(), actor.principal(), "read", "target-" + std::to_string(i), "ok", "192.0.2.1"});
    log.flush();
    EXPECT_LE(text_of_folder(folder).size(), kBytesMax + 1024) << i;
  }
  log.stop();
  auto text = text_of_folder(folder);
  EXPECT_EQ(text.find("target-0\""), std::string::npos);
  EXPECT_NE(text.find("target-199\""), std::string::npos);
  EXPECT_NE(text.find("target-180\""), std::string::npos) << "only as much as has to";
}

TEST_F(KeepTest, StrangersDoNotFillTheAccessLog) {
  const std::string folder = dir.file("strangers");
  AccessLog log(keep->context(), folder, {.retention_days = 0, .bytes_max = 1 << 30});
  for (int i = 0; i < 5000; ++i)
    log.note({Id{}, Id{}, "denied", "GET /" + std::to_string(i), "unauthorized", "192.0.2.1"});
  log.note({ws.workspace_id(), actor.principal(), "read", "mine", "ok", "192.0.2.2"});
  log.stop();
  auto text = text_of_folder(folder);
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 200);
  EXPECT_NE(text.find("\"mine\""), std::string::npos);
  int64_t counted = 0;
  for (auto line : split(text, '\n'))
    if (!line.empty()) counted += parse_json(line)["count"].get<int64_t>();
  EXPECT_EQ(counted, 5001) << "nothing is left out of the count";
}

static_assert(!std::is_constructible_v<ReadableJournal, Id> &&
                  !std::is_default_constructible_v<ReadableJournal>,
              "a journal is read by an authority, not by an id");

TEST_F(KeepTest, AJournalIsReadByWhoMayReadTheWorkspace) {
  auto principal = keep->access().create_principal(actor, "robot", "agent");
  auto robot = actor_by_key(*keep, principal.id);
  auto theirs = keep->workspaces().open_default(robot);
  EXPECT_GT(keep->journal().events(theirs, 0, 100, {}).items.size(), 0u);
  // An administrator sees that the workspace exists, but not what happens there.
  auto looked = keep->workspaces().look_at(actor, theirs.workspace_id().with_prefix(prefix::workspace));
  EXPECT_EQ(code_of([&] { keep->journal().events(looked, 0, 100, {}); }), Code::not_found);
  EXPECT_EQ(code_of([&] { keep->journal().head_seq(looked); }), Code::not_found);
  EXPECT_EQ(code_of([&] { keep->audit().export_to(looked, [](std::string_view) {}); }), Code::not_found);
}

TEST_F(KeepTest, TheServersJournalIsForAdministratorsWithAnUnboundKey) {
  auto principal = keep->access().create_principal(actor, "robot", "agent");
  auto robot = actor_by_key(*keep, principal.id);
  EXPECT_EQ(code_of([&] { ReadableJournal::of_server(robot); }), Code::forbidden);
  identity::NewKey bound;
  bound.only_workspace = ws.workspace_id();
  EXPECT_EQ(code_of([&] { ReadableJournal::of_server(actor_by_key(*keep, actor.principal(), bound)); }),
            Code::forbidden);
  EXPECT_GT(keep->journal().events(ReadableJournal::of_server(actor), 0, 100, {}).items.size(), 0u);
}

}  // namespace
}  // namespace sk::workspace
