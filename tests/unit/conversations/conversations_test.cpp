#include "conversations/conversations.h"

#include "unit/workspace/keep_fixture.h"

namespace sk::conversations {
namespace {

using identity::NewKey;
using workspace::MoveChange;
using workspace::OnExisting;
using workspace::PutChange;
using workspace::Right;
using workspace::TrashChange;

class ConversationsTest : public workspace::KeepTest {
 protected:
  static constexpr std::string_view kLink = "Here: [the report](sandbox:/mnt/data/report.csv).";

  Conversations conversations() { return {keep->context(), keep->files(), keep->workspaces()}; }

  // Sessions of these tests are folders: "session" means sessions/one.
  std::optional<SessionFolder> find_place(const std::string& container) {
    if (container == "session") return SessionFolder{ws.workspace_id(), "sessions/one"};
    if (container == "other") return SessionFolder{ws.workspace_id(), "sessions/two"};
    return std::nullopt;
  }

  NewMessage text_message(std::string name, std::string_view text, std::string container = "session") {
    NewMessage wanted;
    wanted.conversation = "chat";
    wanted.name = std::move(name);
    wanted.role = "assistant";
    wanted.transcript = read_plain_text(std::string(text));
    wanted.container = std::move(container);
    return wanted;
  }
  Message store(NewMessage wanted) {
    clock.advance_us(kSecondUs);
    return conversations().put(ws, std::move(wanted),
                               [this](const std::string& name) { return find_place(name); });
  }
  Message stored(std::string_view name) { return *conversations().find_message(ws, "chat", name); }
  std::string shown_bytes(const Message& message, size_t number = 0) {
    auto viewed = conversations().view(actor, message).at(number);
    return viewed.version ? bytes_of(*viewed.version) : "not here";
  }
};

TEST_F(ConversationsTest, AMessageShowsTheVersionThatWasThereWhenItWasMade) {
  put("sessions/one/report.csv", "first");
  auto message = store(text_message("m1", kLink));
  ASSERT_EQ(message.files.size(), 1u);
  EXPECT_EQ(message.files[0].state, ShownState::kept);
  put("sessions/one/report.csv", "second");
  EXPECT_EQ(shown_bytes(stored("m1")), "first");
  EXPECT_EQ(shown_bytes(store(text_message("m2", kLink))), "second");
}

TEST_F(ConversationsTest, TheMappingSurvivesOverwriteRenameTrashAndRestart) {
  put("sessions/one/report.csv", "as shown");
  store(text_message("m", kLink));
  put("sessions/one/report.csv", "later");
  apply(MoveChange{"sessions/one/report.csv", "sessions/one/renamed.csv", OnExisting::refuse, {}});
  put("sessions/one/report.csv", "another file of the same name");
  apply(TrashChange{"sessions/one/renamed.csv", {}});
  reopen();
  EXPECT_EQ(shown_bytes(stored("m")), "as shown");
}

TEST_F(ConversationsTest, AMessageOfThePastIsMatchedAsOfItsTime) {
  put("sessions/one/report.csv", "first");
  TimeUs first_us = clock.now_us();
  put("sessions/one/report.csv", "second");
  apply(MoveChange{"sessions/one/report.csv", "moved.csv", OnExisting::refuse, {}});
  TimeUs moved_us = clock.now_us();
  put("sessions/one/report.csv", "third, another file");
  auto at = [&](std::string name, TimeUs time_us) {
    auto wanted = text_message(std::move(name), kLink);
    wanted.time_us = time_us;
    return store(std::move(wanted));
  };
  EXPECT_EQ(shown_bytes(at("a", first_us + 1)), "first");
  EXPECT_EQ(at("before", first_us - 60 * kSecondUs).files[0].state, ShownState::missing);
  EXPECT_EQ(at("between", moved_us + 1).files[0].state, ShownState::missing);
  EXPECT_EQ(shown_bytes(at("c", clock.now_us())), "third, another file");
}

TEST_F(ConversationsTest, AWholeSecondMeansItsEnd) {
  clock.advance_us(kSecondUs - clock.now_us() % kSecondUs);
  TimeUs second_us = clock.now_us();
  clock.advance_us(-kSecondUs + 300'000);
  put("sessions/one/report.csv", "in the middle of the second");
  auto wanted = text_message("m", kLink);
  wanted.time_us = second_us;
  EXPECT_EQ(store(std::move(wanted)).files[0].state, ShownState::kept);
}

TEST_F(ConversationsTest, ALinkToNothingIsFlaggedAndNeverInvented) {
  put("sessions/two/report.csv", "of another session");
  put("report.csv", "in the root");
  auto message = store(text_message("m", kLink));
  EXPECT_EQ(message.files[0].state, ShownState::missing);
  EXPECT_FALSE(message.files[0].version);
  auto climbing = store(text_message("n", "[x](sandbox:/mnt/data/../../report.csv)"));
  EXPECT_EQ(climbing.files[0].state, ShownState::missing);
}

TEST_F(ConversationsTest, AnAddressEndsWhereTheFileNameEnds) {
  put("sessions/one/report.csv", "x");
  int number = 0;
  for (std::string_view behind : {"…", "—then", "\u00a0and", "'s", ":12", "\\\nnext", ""}) {
    auto text = "see sandbox:/mnt/data/report.csv" + std::string(behind);
    auto name = "m" + std::to_string(++number);
    for (int time = 0; time < 2; ++time) {
      auto message = store(text_message(name, text));
      ASSERT_EQ(message.files.size(), 1u) << text;
      EXPECT_EQ(message.files[0].state, ShownState::kept) << text;
      EXPECT_EQ(message.files[0].name, "report.csv") << text;
      EXPECT_EQ(message.files[0].link->address, "sandbox:/mnt/data/report.csv") << text;
      EXPECT_EQ(message.files[0].link->outer_end, 4 + message.files[0].link->address.size()) << text;
    }
  }
  put("sessions/one/report.csv…", "the longer name");
  EXPECT_EQ(shown_bytes(store(text_message("longer", "sandbox:/mnt/data/report.csv…"))), "the longer name");
}

TEST_F(ConversationsTest, AFileIsListedUnderItsOwnName) {
  put("sessions/one/report.csv", "x");
  auto message = store(text_message("m", "[x](sandbox:/mnt/data/report.csv?download=1#top)"));
  EXPECT_EQ(message.files[0].state, ShownState::kept);
  EXPECT_EQ(message.files[0].name, "report.csv");
}

TEST_F(ConversationsTest, WithoutASessionALinkCannotBeResolved) {
  auto message = store(text_message("m", kLink, ""));
  EXPECT_EQ(message.files[0].state, ShownState::not_captured);
  EXPECT_EQ(message.files[0].why, WhyNot::cannot_tell);
}

TEST_F(ConversationsTest, TheConversationRemembersItsSession) {
  put("sessions/one/report.csv", "x");
  store(text_message("m1", "hello"));
  EXPECT_EQ(store(text_message("m2", kLink, "")).files[0].state, ShownState::kept);
}

TEST_F(ConversationsTest, OwnIdsPinTheVersionWhateverTheDialectWritesThemAs) {
  auto first = *put("sessions/one/report.csv", "first").version;
  put("sessions/one/report.csv", "second");
  for (std::string_view prefix : {"cfile_", "file-"}) {
    auto wanted = text_message("m" + std::string(prefix), "Done.");
    Mention mention;
    mention.kind = Mention::Kind::citation;
    mention.container = "cntr_elsewhere";
    mention.file_id = first.id.with_prefix(prefix);
    wanted.transcript.mentions.push_back(mention);
    EXPECT_EQ(shown_bytes(store(std::move(wanted))), "first");
  }
}

TEST_F(ConversationsTest, NobodySeesAVersionOfAWorkspaceThatIsNotTheirs) {
  auto other = keep->access().create_principal(actor, "somebody", "person");
  NewKey wanted_key;
  wanted_key.name = "theirs";
  auto key = keep->access().create_key(actor, other.id, wanted_key);
  auto stranger = keep->access().authenticate(key.secret);
  auto theirs = keep->workspaces().open_default(stranger, Right::own);
  PutChange change = put_change("secret.txt", "secret");
  auto secret = *keep->files().apply_one(theirs, std::move(change)).version;
  auto wanted = text_message("m", "Done.");
  Mention mention;
  mention.file_id = secret.id.with_prefix("cfile_");
  wanted.transcript.mentions.push_back(mention);
  auto message = store(std::move(wanted));
  EXPECT_EQ(message.files[0].state, ShownState::not_captured);
  EXPECT_FALSE(conversations().view(actor, message)[0].version);
  EXPECT_EQ(code_of([&] {
              auto named = text_message("n", "Done.");
              named.files = {secret.id.with_prefix("v_")};
              store(std::move(named));
            }),
            Code::not_found);
}

TEST_F(ConversationsTest, StoringAMessageAgainKeepsWhatWasKept) {
  put("sessions/one/report.csv", "first");
  auto first = store(text_message("m", kLink));
  apply(TrashChange{"sessions/one/report.csv", {}});
  auto again = store(text_message("m", std::string(kLink) + " And more."));
  EXPECT_EQ(again.files[0].version, first.files[0].version);
  EXPECT_EQ(again.id, first.id);
  EXPECT_EQ(stored("m").text, std::string(kLink) + " And more.");
}

TEST_F(ConversationsTest, ImagesInsideBecomeFilesOfTheConversation) {
  auto wanted = text_message("m", "![p](data:image/png;base64,iVBORw0KGgo=)");
  auto message = store(std::move(wanted));
  ASSERT_EQ(message.files.size(), 1u);
  EXPECT_EQ(shown_bytes(message), "\x89PNG\r\n\x1a\n");
  EXPECT_EQ(bytes_at("conversations/chat/m-image-1.png"), "\x89PNG\r\n\x1a\n");
  EXPECT_EQ(keep->files().get(ws, "conversations/chat/m-image-1.png").version_count, 1);
  store(text_message("m", "![p](data:image/png;base64,iVBORw0KGgo=)"));
  EXPECT_EQ(keep->files().get(ws, "conversations/chat/m-image-1.png").version_count, 1);
}

TEST_F(ConversationsTest, ImagesInsideDoNotCountAsText) {
  auto image = to_base64(as_bytes(std::string(4 << 20, 'x')));
  auto message = store(text_message("m", "![p](data:image/png;base64," + image + ")"));
  EXPECT_EQ(message.files.at(0).state, ShownState::kept);
}

TEST_F(ConversationsTest, APurgedFileIsToldAsGone) {
  put("sessions/one/report.csv", "x");
  store(text_message("m", kLink));
  auto entry = keep->files().get(ws, "sessions/one/report.csv");
  apply(TrashChange{"sessions/one/report.csv", {}});
  keep->files().purge(ws, entry.id);
  auto viewed = conversations().view(actor, stored("m"));
  EXPECT_FALSE(viewed[0].version);
  EXPECT_EQ(viewed[0].shown.why, WhyNot::gone);
}

TEST_F(ConversationsTest, ConversationsThatShowAFileAreFound) {
  auto file = put("sessions/one/report.csv", "first");
  store(text_message("m1", kLink));
  auto second = put("sessions/one/report.csv", "second");
  auto other = text_message("m1", kLink);
  other.conversation = "second chat";
  store(std::move(other));
  auto unrelated = text_message("m1", "nothing");
  unrelated.conversation = "third chat";
  store(std::move(unrelated));
  auto names = [&](const ConversationFilter& filter) {
    std::vector<std::string> out;
    for (const auto& one : conversations().list(ws, filter, "", 10).items) out.push_back(one.name);
    return out;
  };
  EXPECT_EQ(names({file.entry.id, {}}), (std::vector<std::string>{"second chat", "chat"}));
  EXPECT_EQ(names({{}, second.version->id}), (std::vector<std::string>{"second chat"}));
  EXPECT_EQ(names({}).size(), 3u);
}

TEST_F(ConversationsTest, DeletingAConversationLeavesItsFiles) {
  put("sessions/one/report.csv", "x");
  auto message = store(text_message("m", kLink));
  auto version = message.files[0].version;
  auto is_shown = [&] {
    return keep->context().db.read(
        [&](catalog::Statements& statements) { return Conversations::is_shown(statements, version); });
  };
  EXPECT_TRUE(is_shown());
  conversations().remove(ws, "chat");
  EXPECT_FALSE(is_shown());
  EXPECT_FALSE(conversations().find(ws, "chat"));
  EXPECT_EQ(bytes_at("sessions/one/report.csv"), "x");
  EXPECT_EQ(code_of([&] { conversations().remove(ws, "chat"); }), Code::not_found);
}

TEST_F(ConversationsTest, WhatIsFetchedIsSettledOnceAndAReStartEndsTheRest) {
  auto wanted = text_message("m", "[a](sandbox:/mnt/data/a) [b](sandbox:/mnt/data/b)", "cntr_elsewhere");
  wanted.has_source = true;
  auto message = store(std::move(wanted));
  EXPECT_EQ(message.files[0].state, ShownState::pending);
  auto version = *put("conversations/chat/a", "fetched").version;
  Captured captured{ShownState::kept, WhyNot::none, "", version};
  EXPECT_TRUE(conversations().settle(ws, message, 0, captured));
  EXPECT_FALSE(conversations().settle(ws, message, 0, captured));
  reopen();
  conversations().give_up_pending();
  EXPECT_EQ(shown_bytes(stored("m"), 0), "fetched");
  EXPECT_EQ(stored("m").files[1].state, ShownState::not_captured);
  EXPECT_EQ(stored("m").files[1].why, WhyNot::cannot_tell);
}

TEST_F(ConversationsTest, WhatWasKeptOnceIsShownWhenItsContainerIsDead) {
  auto cited = [&](std::string name, bool has_source) {
    auto wanted = text_message(std::move(name), "Done.", "");
    Mention mention;
    mention.kind = Mention::Kind::citation;
    mention.container = "cntr_elsewhere";
    mention.file_id = "cfile_elsewhere";
    wanted.transcript.mentions.push_back(mention);
    wanted.has_source = has_source;
    return store(std::move(wanted));
  };
  auto first = cited("m1", true);
  auto version = *put("conversations/chat/a", "fetched").version;
  conversations().settle(ws, first, 0, {ShownState::kept, WhyNot::none, "", version});
  EXPECT_EQ(shown_bytes(cited("without source", false)), "fetched");
  auto later = cited("m2", true);
  EXPECT_EQ(later.files[0].state, ShownState::pending) << "it may have changed, so it is fetched again";
  conversations().settle(ws, later, 0, {ShownState::not_captured, WhyNot::gone, "the container is gone", {}});
  EXPECT_EQ(shown_bytes(stored("m2")), "fetched");
  EXPECT_EQ(stored("m2").files[0].name, "a") << "the citation told no name";
}

// Every file of Azure's sessions is meant so.
TEST_F(ConversationsTest, WhatWasKeptOnceForALinkWithoutAnIdIsShownWhenItsContainerIsDead) {
  auto linked = [&](std::string name, bool has_source, std::string_view path = "report.csv") {
    auto wanted =
        text_message(std::move(name), "[r](sandbox:/mnt/data/" + std::string(path) + ")", "elsewhere");
    wanted.has_source = has_source;
    return store(std::move(wanted));
  };
  auto first = linked("m1", true);
  auto version = *put("conversations/chat/report.csv", "fetched").version;
  conversations().settle(ws, first, 0, {ShownState::kept, WhyNot::none, "", version});
  EXPECT_EQ(shown_bytes(linked("without source", false)), "fetched");
  auto later = linked("m2", true);
  EXPECT_EQ(later.files[0].state, ShownState::pending) << "it may have changed, so it is fetched again";
  conversations().settle(ws, later, 0, {ShownState::not_captured, WhyNot::gone, "the session is gone", {}});
  EXPECT_EQ(shown_bytes(stored("m2")), "fetched");
  EXPECT_EQ(linked("m3", false, "other/report.csv").files[0].state, ShownState::not_captured)
      << "another path is another file";
}

TEST_F(ConversationsTest, ALinkIntoASessionOfOursMeansWhatIsThereNowAndNotWhatAnEarlierMessageShowed) {
  put("sessions/one/report.csv", "first");
  store(text_message("m1", kLink));
  apply(TrashChange{"sessions/one/report.csv", {}});
  EXPECT_EQ(store(text_message("m2", kLink)).files[0].state, ShownState::missing);
}

TEST_F(ConversationsTest, WhatIsFetchedForAnOvertakenStoringIsIgnored) {
  auto waiting = [&](std::string_view file) {
    auto wanted = text_message("m", "[f](sandbox:/mnt/data/" + std::string(file) + ")", "cntr_elsewhere");
    wanted.has_source = true;
    return store(std::move(wanted));
  };
  auto first = waiting("slow_a.txt"), second = waiting("slow_b.txt"), third = waiting("slow_b.txt");
  auto a = *put("conversations/chat/slow_a.txt", "bytes of a").version;
  auto b = *put("conversations/chat/slow_b.txt", "bytes of b").version;
  auto storings = conversations();
  EXPECT_FALSE(storings.settle(ws, first, 0, {ShownState::kept, WhyNot::none, "", a}));
  EXPECT_FALSE(
      storings.settle(ws, second, 0, {ShownState::not_captured, WhyNot::denied, "an older key", {}}));
  EXPECT_EQ(stored("m").files[0].state, ShownState::pending);
  EXPECT_TRUE(storings.settle(ws, third, 0, {ShownState::kept, WhyNot::none, "", b}));
  EXPECT_EQ(shown_bytes(stored("m")), "bytes of b");
}

TEST_F(ConversationsTest, TwoStoringsInOneMicrosecondAreStillTwo) {
  auto find = [this](const std::string& name) { return find_place(name); };
  auto first = conversations().put(ws, text_message("m", "one"), find);
  auto second = conversations().put(ws, text_message("m", "two"), find);
  EXPECT_LT(first.stored_us, second.stored_us);
}

TEST_F(ConversationsTest, FilesThatAreAddedLeaveTheRestOfTheMessageAlone) {
  put("sessions/one/report.csv", "report");
  put("data/t.csv", "table");
  auto first = text_message("m", kLink);
  first.role = "tool";
  store(std::move(first));
  NewMessage more;
  more.conversation = "chat";
  more.name = "m";
  more.role = "assistant";
  more.transcript = read_plain_text("");
  more.container = std::string(kFolderContainer) + "data";
  more.container_lasts = false;
  more.files = {"data/t.csv"};
  more.adds_files = true;
  for (int i = 0; i < 2; ++i) {
    auto message = store(more);
    EXPECT_EQ(message.text, kLink);
    EXPECT_EQ(message.role, "tool");
    ASSERT_EQ(message.files.size(), 2u) << "the same file is added once";
    EXPECT_EQ(shown_bytes(message, 0), "report");
    EXPECT_EQ(shown_bytes(stored("m"), 1), "table");
  }
  EXPECT_EQ(store(text_message("m2", kLink, "")).files[0].state, ShownState::kept)
      << "the conversation's session is still the app's";
}

TEST_F(ConversationsTest, FilesAreAddedWhileOthersAreStillBeingFetched) {
  put("t.csv", "table");
  auto wanted = text_message("m", "[a](sandbox:/mnt/data/a)", "cntr_elsewhere");
  wanted.has_source = true;
  auto message = store(std::move(wanted));
  auto more = text_message("m", "", "");
  more.files = {"t.csv"};
  more.adds_files = true;
  store(std::move(more));
  auto version = *put("conversations/chat/a", "fetched").version;
  EXPECT_TRUE(conversations().settle(ws, message, 0, {ShownState::kept, WhyNot::none, "", version}));
  EXPECT_EQ(shown_bytes(stored("m"), 0), "fetched");
  EXPECT_EQ(shown_bytes(stored("m"), 1), "table");
}

TEST_F(ConversationsTest, FilesThatAreAddedCountWithThoseThatAreThere) {
  put("t.csv", "table");
  std::string links;
  for (int i = 0; i < 1000; ++i) links += "[a](sandbox:/mnt/data/a) ";
  store(text_message("m", links));
  auto more = text_message("m", "");
  more.files = {"t.csv"};
  more.adds_files = true;
  EXPECT_EQ(code_of([&] { store(more); }), Code::too_large);
}

TEST_F(ConversationsTest, AnAnswerStandsBehindTheQuestionThoughItWasCompleteBeforeThatWasStored) {
  put("sessions/one/report.csv", "as it was");
  TimeUs completed_us = clock.now_us();
  clock.advance_us(3 * kSecondUs);
  put("sessions/one/report.csv", "changed since");
  store(text_message("u1", "What is in it?"));
  auto answer = text_message("a1", kLink);
  answer.transcript.completed_us = completed_us;
  auto message = store(answer);
  EXPECT_EQ(shown_bytes(message), "as it was") << "links mean what was there when it was made";
  store(text_message("u2", "Thanks."));
  store(answer);  // again, and it stays where it is
  auto explicit_time = text_message("u0", "Before all that.");
  explicit_time.time_us = completed_us - 1;
  store(std::move(explicit_time));
  auto page = conversations().messages(ws, *conversations().find(ws, "chat"), "", 10);
  std::vector<std::string> names;
  for (const auto& one : page.items) names.push_back(one.name);
  EXPECT_EQ(names, (std::vector<std::string>{"u0", "u1", "a1", "u2"}));
  EXPECT_EQ(page.items[2].time_us, completed_us);
}

TEST_F(ConversationsTest, MessagesComeByTimeInPages) {
  for (int i = 0; i < 5; ++i) {
    auto wanted = text_message("m" + std::to_string(i), "text");
    wanted.time_us = 1'700'000'000'000'000 + (4 - i) * kSecondUs;
    store(std::move(wanted));
  }
  auto conversation = *conversations().find(ws, "chat");
  EXPECT_EQ(conversation.message_count, 5);
  std::vector<std::string> names;
  std::string cursor;
  do {
    auto page = conversations().messages(ws, conversation, cursor, 2);
    for (const auto& message : page.items) names.push_back(message.name);
    cursor = page.next_cursor;
  } while (!cursor.empty());
  EXPECT_EQ(names, (std::vector<std::string>{"m4", "m3", "m2", "m1", "m0"}));
}

TEST_F(ConversationsTest, APageOfLongMessagesHasFewerOfThem) {
  for (int i = 0; i < 4; ++i) store(text_message("m" + std::to_string(i), std::string(1 << 20, 'x')));
  auto conversation = *conversations().find(ws, "chat");
  auto first = conversations().messages(ws, conversation, "", 100);
  EXPECT_EQ(first.items.size(), 2u);
  EXPECT_TRUE(first.has_more);
  auto rest = conversations().messages(ws, conversation, first.next_cursor, 100);
  EXPECT_EQ(rest.items.size(), 2u);
  EXPECT_FALSE(rest.has_more);
}

TEST_F(ConversationsTest, NamesAndSizesHaveLimits) {
  for (std::string name : {std::string(), std::string("a/b"), std::string(".."), std::string("a\nb"),
                           std::string(201, 'x'), std::string("\xff")}) {
    auto wanted = text_message("m", "text");
    wanted.conversation = name;
    EXPECT_EQ(code_of([&] { store(wanted); }), Code::bad_request) << name;
    wanted.conversation = "chat";
    wanted.name = name;
    EXPECT_EQ(code_of([&] { store(wanted); }), Code::bad_request) << name;
  }
  EXPECT_EQ(code_of([&] { store(text_message("m", std::string((4 << 20) + 1, 'x'))); }), Code::too_large);
  std::string links;
  for (int i = 0; i < 1001; ++i) links += "[a](sandbox:/mnt/data/a) ";
  EXPECT_EQ(code_of([&] { store(text_message("m", links)); }), Code::too_large);
}

TEST_F(ConversationsTest, AKeyThatIsRevokedBeforeAWriteChangesNothing) {
  store(text_message("m", "text"));
  auto lent = workspace::actor_by_key(*keep, actor.principal());
  auto own = std::exchange(ws, keep->workspaces().open_default(lent, Right::write));
  keep->access().revoke_key(actor, lent.key());
  auto seq = keep->journal().head_seq(ws);
  EXPECT_EQ(code_of([&] { store(text_message("m", "other")); }), Code::unauthorized);
  EXPECT_EQ(code_of([&] { conversations().remove_message(ws, "chat", "m"); }), Code::unauthorized);
  EXPECT_EQ(code_of([&] { conversations().remove(ws, "chat"); }), Code::unauthorized);
  EXPECT_EQ(keep->journal().head_seq(ws), seq);
  EXPECT_EQ(conversations().find_message(own, "chat", "m")->text, "text");
}

TEST_F(ConversationsTest, AReaderMayNotStore) {
  identity::NewKey reading;
  reading.read_only = true;
  ws = keep->workspaces().open_default(workspace::actor_by_key(*keep, actor.principal(), reading));
  EXPECT_EQ(code_of([&] { store(text_message("m", "text")); }), Code::forbidden);
}

TEST_F(ConversationsTest, MessagesCountForTheWorkspaceUntilTheyAreDeleted) {
  auto counted = [&] { return keep->quotas().of_workspace(ws).messages; };
  put("sessions/one/report.csv", "first");
  store(text_message("m1", kLink));
  store(text_message("m2", std::string(5000, 'x')));
  EXPECT_EQ(counted().count, 2);
  EXPECT_GT(counted().bytes, 5000);
  store(text_message("m2", "short"));
  EXPECT_EQ(counted().count, 2);
  EXPECT_LT(counted().bytes, 5000);
  expect_clean();
  conversations().remove_message(ws, "chat", "m2");
  EXPECT_EQ(counted().count, 1);
  expect_clean();
  conversations().remove(ws, "chat");
  EXPECT_EQ(counted().count, 0);
  EXPECT_EQ(counted().bytes, 0);
  expect_clean();
}

TEST_F(ConversationsTest, OverTheQuotaAMessageIsRefusedAndCanBeDeleted) {
  keep->workspaces().change(ws, std::nullopt, 1000);
  store(text_message("m1", std::string(1'900'000, 'x')));
  EXPECT_EQ(code_of([&] { store(text_message("m2", std::string(400'000, 'x'))); }), Code::quota_exceeded);
  EXPECT_FALSE(conversations().find_message(ws, "chat", "m2"));
  identity::LimitChanges changes;
  changes.quota_bytes = std::optional<uint64_t>(1);
  keep->access().set_limits(actor, actor.principal(), changes);
  EXPECT_EQ(code_of([&] { store(text_message("m3", "x")); }), Code::quota_exceeded);
  conversations().remove(ws, "chat");
  expect_clean();
}

TEST_F(ConversationsTest, ThePurgeOfAWorkspaceDeletesItsConversationsInSteps) {
  put("sessions/one/report.csv", "first");
  for (int i = 0; i < 5; ++i) store(text_message("m" + std::to_string(i), kLink));
  auto purge_some = [&] {
    return keep->context().db.write(
        ws.scope(), [&](catalog::Tx& tx) { return purge_conversation_rows(tx, ws.workspace_id(), 4); });
  };
  EXPECT_GE(purge_some(), 4u);
  EXPECT_TRUE(conversations().find(ws, "chat")) << "a step leaves the rest";
  expect_clean();
  while (purge_some() > 0) {
  }
  EXPECT_FALSE(conversations().find(ws, "chat"));
  EXPECT_EQ(keep->quotas().of_workspace(ws).messages.bytes, 0);
  expect_clean();
}

}  // namespace
}  // namespace sk::conversations
