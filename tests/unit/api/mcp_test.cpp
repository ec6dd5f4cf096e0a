#include <gtest/gtest.h>

#include <set>

#include "api/mcp/jsonrpc.h"
#include "api/mcp/legacy_session.h"
#include "api/mcp/resource_uri.h"
#include "api/mcp/schema.h"
#include "api/mcp/tasks.h"
#include "api/mcp/tool.h"
#include "api/mcp/tools/content.h"

namespace sk::api::mcp {
namespace {

TEST(JsonRpc, TellsRequestsNotificationsAndResponsesApart) {
  EXPECT_EQ(parse_message(R"({"jsonrpc":"2.0","id":0,"method":"ping"})").kind, RpcMessage::Kind::request);
  EXPECT_EQ(parse_message(R"({"jsonrpc":"2.0","method":"x"})").kind, RpcMessage::Kind::notification);
  EXPECT_EQ(parse_message(R"({"jsonrpc":"2.0","id":"a","result":{}})").kind, RpcMessage::Kind::response);
}

TEST(JsonRpc, KeepsIdsAsTheyAre) {
  for (auto id : {"0", "-5", "\"0\"", "\"x y\"", "9007199254740993"}) {
    auto message = parse_message(std::string(R"({"jsonrpc":"2.0","method":"ping","id":)") + id + "}");
    EXPECT_EQ(to_text(result_message(message.id, Json::object())),
              std::string(R"({"jsonrpc":"2.0","id":)") + id + R"(,"result":{}})");
  }
}

TEST(JsonRpc, RefusesWhatIsNoMessageWithTheCodeForIt) {
  auto code_of = [](std::string_view text) {
    try {
      parse_message(text);
      return 0;
    } catch (const RpcError& error) {
      return error.code();
    }
  };
  EXPECT_EQ(code_of("{"), rpc_code::parse_error);
  for (auto text : {"[]", "3", "{}", R"({"jsonrpc":"2.0","id":true,"method":"x"})",
                    R"({"jsonrpc":"2.0","id":1,"method":"x","params":[]})"})
    EXPECT_EQ(code_of(text), rpc_code::invalid_request) << text;
}

TEST(JsonRpc, AnswersWithTheIdOfARequestThatItRefuses) {
  auto id_of = [](std::string_view text) {
    try {
      parse_message(text);
      return Json("nothing was thrown");
    } catch (const RpcError& error) {
      return error.id();
    }
  };
  EXPECT_EQ(id_of(R"({"jsonrpc":"2.0","id":9,"method":"ping","params":[]})"), 9);
  EXPECT_EQ(id_of(R"({"jsonrpc":"2.0","id":"a","method":7})"), "a");
  EXPECT_EQ(id_of(R"({"jsonrpc":"2.0","id":true,"method":"ping"})"), nullptr);
}

TEST(Tools, HintAtWhatAToolTakes) {
  auto locked = failed(Error(Code::locked, "it is locked"));
  EXPECT_NE(locked.text.find("lock_token"), std::string::npos) << locked.text;
  EXPECT_EQ(locked.text.find("X-Sandkeep-Lock"), std::string::npos);
  auto unknown = failed(Error(Code::not_found, "m").advise(Advice::list_sessions));
  EXPECT_NE(unknown.text.find("Use list_sessions to see your sessions."), std::string::npos) << unknown.text;
}

TEST(Schema, TakesWholeNumbersHoweverTheyAreWritten) {
  Json schema = Json::parse(R"({"type":"integer","minimum":1,"maximum":5})");
  EXPECT_EQ(find_violation(schema, Json::parse("5.0"), "n"), std::nullopt);
  for (auto text : {"5.5", "6.0", "1e300", "-1e300", "\"5\""})
    EXPECT_TRUE(find_violation(schema, Json::parse(text), "n")) << text;
}

TEST(Schema, NamesTheFieldThatIsWrong) {
  Json schema = Json::parse(R"({"type":"object","required":["a"],"additionalProperties":false,"properties":{
    "a":{"type":"string","maxLength":3},"n":{"type":"integer","minimum":1,"maximum":5},
    "e":{"enum":["x","y"]},"l":{"type":"array","maxItems":2,"items":{"type":"object","required":["b"]}}}})");
  auto problem = [&](const char* text) { return find_violation(schema, Json::parse(text)).value_or(""); };
  EXPECT_EQ(problem(R"({"a":"abc","n":5,"e":"x","l":[{"b":1}]})"), "");
  EXPECT_EQ(problem("{}"), "'a' is missing");
  EXPECT_EQ(problem("[]"), "the arguments must be an object");
  EXPECT_EQ(problem(R"({"a":1})"), "'a' must be a string");
  EXPECT_EQ(problem(R"({"a":"abcd"})"), "'a' is longer than 3 bytes");
  EXPECT_EQ(problem(R"({"a":"","n":0})"), "'n' must be at least 1 and at most 5");
  EXPECT_EQ(problem(R"({"a":"","n":1.5})"), "'n' must be an integer");
  EXPECT_EQ(problem(R"({"a":"","e":"z"})"), R"('e' must be one of ["x","y"])");
  EXPECT_EQ(problem(R"({"a":"","l":[{}]})"), "'l[0].b' is missing");
  EXPECT_EQ(problem(R"({"a":"","l":[1,2,3]})"), "'l' has more than 2 items");
  EXPECT_EQ(problem(R"({"a":"","z":1})"), "'z' is unknown; known are: a, n, e, l");
}

TEST(ResourceUri, ComesBackAsItWasMade) {
  auto id = *Id::from_hex("0123456789abcdef0123456789abcdef");
  auto file = parse_resource_uri(file_uri(id, "a b/ü%.txt"));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->workspace, "ws_" + id.hex());
  EXPECT_EQ(file->path, "a b/ü%.txt");
  EXPECT_EQ(parse_resource_uri(version_uri(id))->version, id);
  for (auto text :
       {"", "http://x", "sandkeep://workspace/", "sandkeep://workspace/x", "sandkeep://version/v_1",
        "sandkeep://workspace/x/../y", "sandkeep://workspace/x/%zz", "sandkeep://workspace//a"})
    EXPECT_FALSE(parse_resource_uri(text)) << text;
}

TEST(Tasks, AnIdNamesSessionAndExecution) {
  TaskId task{*Id::from_hex("0123456789abcdef0123456789abcdef"),
              *Id::from_hex("00112233445566770011223344556677")};
  auto parsed = TaskId::parse(task.text());
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->session, task.session);
  EXPECT_EQ(parsed->execution, task.execution);
  EXPECT_FALSE(TaskId::parse("task_" + task.session.hex()));
  EXPECT_FALSE(TaskId::parse(task.text() + "0"));
}

TEST(Tools, HaveNamesThatEveryClientTakesAndAreNotTooMany) {
  auto tools = all_tools();
  EXPECT_LE(tools.size(), 20u);
  std::set<std::string> names;
  for (const auto& tool : tools) {
    EXPECT_TRUE(names.insert(tool.name).second) << tool.name;
    EXPECT_EQ(tool.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string::npos) << tool.name;
    for (const auto& name : tool.required) EXPECT_TRUE(tool.input.contains(name)) << tool.name << " " << name;
  }
}

TEST(Tools, QuoteNamesSoThatTheyStayInOneLine) {
  EXPECT_EQ(as_code("a`b\nc"), "`a'b c`");
  EXPECT_EQ(from_code_path("/mnt/data/x"), "data/x");
  EXPECT_EQ(from_code_path("/mnt/data"), "data");
  EXPECT_EQ(from_code_path("/mnt/database"), "/mnt/database");
  EXPECT_EQ(from_code_path("data/x"), "data/x");
}

TEST(Content, SplitsRowsAsTablesQuoteThem) {
  using Row = std::vector<std::string>;
  EXPECT_EQ(split_row("a,b,", ','), (Row{"a", "b", ""}));
  EXPECT_EQ(split_row(R"("a,b","say ""hi""",c"d)", ','), (Row{"a,b", "say \"hi\"", "c\"d"}));
  EXPECT_EQ(split_row("", '\t'), (Row{""}));
}

TEST(Content, ARowGoesOnWhileAQuoteIsOpen) {
  using Table = std::vector<std::vector<std::string>>;
  std::vector<std::string> lines = {"a,b", "1,\"two", "", "lines\"", "3,4"};
  auto whole = split_rows(lines, ',', false);
  EXPECT_EQ(whole.rows, (Table{{"a", "b"}, {"1", "two\n\nlines"}, {"3", "4"}}));
  EXPECT_EQ(whole.lines_used, 5u);
  lines.resize(3);
  auto part = split_rows(lines, ',', true);
  EXPECT_EQ(part.rows, (Table{{"a", "b"}})) << "the row's end comes with the next lines";
  EXPECT_EQ(part.lines_used, 1u);
  EXPECT_EQ(split_rows({"\"x,1", "y,2"}, ',', false).rows, (Table{{"x,1"}, {"y", "2"}}))
      << "a quote that nothing closes takes no other lines";
  EXPECT_EQ(split_rows({"\"x,1", "y,2"}, ',', true).lines_used, 2u) << "it goes on in any case";
}

struct SessionTest : testing::Test {
  static constexpr LegacySessions::Shares::Limits kLimits{.entries_max = 2, .entries_per_owner_max = 2};
  static LegacySessions::Owner owner(std::string_view hex) {
    return {*Id::from_hex(hex), *Id::from_hex(hex)};
  }
  ManualClock clock{1'000'000'000};
  Metrics metrics;
  Gauge& in_use = metrics.gauge("in_use", "");
  MemoryBudget memory{1 << 20, in_use};
  LegacySessions sessions{clock, kLimits, 60, 1000, memory, "secret"};
  LegacySessions::Owner me = owner("0123456789abcdef0123456789abcdef"),
                        other = owner("00112233445566770011223344556677");
};

TEST_F(SessionTest, BelongsToItsPrincipalAndEndsWhenIdleOrCrowdedOut) {
  auto first = sessions.create(me, {.version = "2025-11-25"});
  EXPECT_EQ(sessions.find(first->id(), me), first);
  EXPECT_EQ(sessions.find(first->id(), other), nullptr);
  clock.advance_us(30 * kSecondUs);
  auto second = sessions.create(me, {.version = "2025-11-25"});
  auto third = sessions.create(me, {.version = "2025-11-25"});
  EXPECT_EQ(sessions.find(first->id(), me), nullptr);
  clock.advance_us(61 * kSecondUs);
  EXPECT_EQ(sessions.find(second->id(), me), nullptr);
  sessions.end(third->id(), me);
  EXPECT_EQ(sessions.find(third->id(), me), nullptr);
}

TEST_F(SessionTest, OfOnePrincipalDoNotEndThoseOfAnother) {
  LegacySessions shared{clock, {.entries_max = 10, .entries_per_owner_max = 8}, 60, 1000, memory, "secret"};
  auto first = shared.create(other, {.version = "2025-11-25"});
  auto second = shared.create(other, {.version = "2025-11-25"});
  auto kept = shared.create(me, {.version = "2025-11-25"});
  for (int i = 0; i < 1'000; ++i) {
    clock.advance_us(1);
    auto one = shared.create({me.principal, *Id::from_hex("0123456789abcdef0123456789abcde0")},
                             {.version = "2025-11-25"});
    EXPECT_NE(shared.find(kept->id(), me), nullptr) << "it is used, so that others of its principal end";
  }
  EXPECT_NE(shared.find(first->id(), other), nullptr);
  EXPECT_NE(shared.find(second->id(), other), nullptr);
  auto newcomer = owner("00112233445566770011223344556678");
  auto third = shared.create(newcomer, {.version = "2025-11-25"});
  EXPECT_NE(shared.find(third->id(), newcomer), nullptr) << "in a full table";
  EXPECT_NE(shared.find(first->id(), other), nullptr);
}

TEST_F(SessionTest, ThatEndedLeaveTheirPlace) {
  auto first = sessions.create(me, {.version = "2025-11-25"});
  for (int i = 0; i < 10; ++i) sessions.end(sessions.create(me, {.version = "2025-11-25"})->id(), me);
  EXPECT_EQ(sessions.find(first->id(), me), first);
}

TEST_F(SessionTest, CannotBeFoundOnceEnded) {
  auto session = sessions.create(me, {.version = "2025-11-25"});
  session->end();  // as when the key of its stream was revoked
  EXPECT_EQ(sessions.find(session->id(), me), nullptr);
}

TEST_F(SessionTest, ForgetsOldStreamsBeforeItHoldsTooMuch) {
  auto session = sessions.create(me, {.version = "2025-11-25"});
  auto first = session->open_stream(1);
  first.channel->finish({{"id", 1}, {"text", std::string(600, 'x')}});
  EXPECT_NO_THROW(session->resume("1-0"));
  auto second = session->open_stream(2);
  second.channel->finish({{"id", 2}, {"text", std::string(600, 'y')}});
  EXPECT_THROW(session->resume("1-0"), RpcError);
  for (auto text : {"", "-", "x-1", "1", "7-0", "1--1"})
    EXPECT_THROW(session->resume(text), RpcError) << text;
}

TEST_F(SessionTest, AnAnswerThatIsForgottenIsAnErrorForItsRequest) {
  auto session = sessions.create(me, {.version = "2025-11-25"});
  for (auto id : {Json(7), Json("a-b_c")}) {
    auto lost = "99-0-" + to_base64url(as_bytes(to_text(id)));
    EXPECT_TRUE(std::holds_alternative<std::shared_ptr<http::EventStream>>(session->resume(lost).body));
  }
  for (auto text : {"99-0-", "99-0-x", "99-0-bnVsbA"}) EXPECT_THROW(session->resume(text), RpcError) << text;
}

TEST_F(SessionTest, MessagesOfAllSessionsShareAMemory) {
  LegacySessions many{clock,   {.entries_max = 100, .entries_per_owner_max = 50}, 60, 1 << 20, memory,
                      "secret"};
  std::vector<std::shared_ptr<LegacySession>> mine;
  for (int i = 0; i < 40; ++i) {
    mine.push_back(many.create(me, {.version = "2025-11-25"}));
    for (int request = 0; request < 4; ++request)
      mine.back()->open_stream(request).channel->finish({{"text", std::string(10'000, 'x')}});
  }
  EXPECT_LE(in_use.value(), 512 << 10) << "half of it for one principal";
  EXPECT_GT(in_use.value(), 400 << 10);
  auto theirs = many.create(other, {.version = "2025-11-25"});
  theirs->open_stream(1).channel->finish({{"text", std::string(100'000, 'x')}});
  EXPECT_GT(in_use.value(), 500 << 10) << "others have the rest";
  // An answer that there was no memory for is lost for a client that resumes, and says so.
  auto last = "1-0-" + to_base64url(as_bytes(to_text(Json(0))));
  EXPECT_NO_THROW(mine.back()->resume(last));
  for (const auto& one : mine) many.end(one->id(), me);
  mine.clear();
  EXPECT_LT(in_use.value(), 200 << 10) << "sessions that end give theirs back";
}

TEST_F(SessionTest, TheOneThatHoldsTheMostForgetsFirst) {
  LegacySessions many{clock,   {.entries_max = 100, .entries_per_owner_max = 50}, 60, 1 << 20, memory,
                      "secret"};
  auto hold = [](const std::shared_ptr<LegacySession>& session, int requests, size_t bytes) {
    for (int request = 0; request < requests; ++request)
      session->open_stream(request).channel->finish({{"text", std::string(bytes, 'x')}});
  };
  auto small = many.create(me, {.version = "2025-11-25"}), large = many.create(me, {.version = "2025-11-25"});
  hold(small, 2, 10'000);
  hold(large, 9, 50'000);
  auto newest = many.create(me, {.version = "2025-11-25"});
  hold(newest, 2, 50'000);
  EXPECT_LE(in_use.value(), 512 << 10);
  EXPECT_GT(small->held_bytes(), 20'000u);
  EXPECT_GT(newest->held_bytes(), 100'000u);
  EXPECT_LT(large->held_bytes(), 410'000u);
  EXPECT_THROW(large->resume("1-0"), RpcError) << "its oldest answer";
  EXPECT_NO_THROW(large->resume("9-0"));
  // In a full memory, the principal that uses the most makes room.
  auto theirs = many.create(other, {.version = "2025-11-25"});
  hold(theirs, 10, 50'000);
  auto newcomer = many.create(owner("00112233445566770011223344556678"), {.version = "2025-11-25"});
  hold(newcomer, 4, 20'000);
  EXPECT_LE(in_use.value(), 1 << 20);
  EXPECT_GT(newcomer->held_bytes(), 80'000u);
  EXPECT_GT(small->held_bytes(), 20'000u);
}

TEST_F(SessionTest, GoesOnAfterARestartForTheKeyThatBeganIt) {
  auto first = sessions.create(me, {.version = "2025-06-18"});
  clock.advance_us(3600 * kSecondUs);
  LegacySessions next{clock, kLimits, 60, 1000, memory, "secret"};
  EXPECT_EQ(next.find(first->id(), other), nullptr);
  EXPECT_EQ(next.find(first->id() + "x", me), nullptr);
  auto changed = first->id();
  changed.replace(0, 10, "2025-11-25");
  EXPECT_EQ(next.find(changed, me), nullptr);
  EXPECT_EQ((LegacySessions{clock, kLimits, 60, 1000, memory, "another"}).find(first->id(), me), nullptr);
  auto again = next.find(first->id(), me);
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->agreed().version, "2025-06-18");
  EXPECT_EQ(next.find(first->id(), me), again);
  // Neither its news nor its streams are taken for those of before.
  EXPECT_NO_THROW(again->resume("0-17"));
  again->open_stream(1);
  EXPECT_THROW(again->resume("1-0"), RpcError);
  next.end(first->id(), me);
  EXPECT_EQ(next.find(first->id(), me), nullptr) << "ended is ended";
}

TEST_F(SessionTest, DoesNotGoOnWhenItWasIdleSinceTheRestart) {
  auto first = sessions.create(me, {.version = "2025-11-25"}),
       second = sessions.create(me, {.version = "2025-11-25"});
  clock.advance_us(kSecondUs);
  LegacySessions next{clock, kLimits, 60, 1000, memory, "secret"};
  EXPECT_NE(next.find(first->id(), me), nullptr);
  clock.advance_us(61 * kSecondUs);
  EXPECT_EQ(next.find(first->id(), me), nullptr);
  EXPECT_EQ(next.find(first->id(), me), nullptr);
  EXPECT_EQ(next.find(second->id(), me), nullptr);
}

TEST_F(SessionTest, CancelsARunningRequestOnceByItsId) {
  auto session = sessions.create(me, {.version = "2025-11-25"});
  int cancelled = 0;
  session->set_running(Json(0), [&] { ++cancelled; });
  session->cancel(Json("0"));
  EXPECT_EQ(cancelled, 0);
  session->cancel(Json(0));
  session->cancel(Json(0));
  EXPECT_EQ(cancelled, 1);
}

}  // namespace
}  // namespace sk::api::mcp
