#include "cli/client/remote.h"

#include <gtest/gtest.h>

#include "cli/frame/advice_words.h"
#include "cli/frame/exit_code.h"

namespace sk::cli {
namespace {

http::ClientResponse answer(int status, std::string body) {
  http::ClientResponse response;
  response.status = status;
  response.body = std::move(body);
  return response;
}

const Target kTarget = {.server = "http://keep", .key = "k", .workspace = "", .ca_file = ""};

TEST(Remote, TheServersErrorKeepsItsCodeMessageHintAndFacts) {
  auto error = to_error(
      answer(
          412,
          R"({"error":{"code":"precondition_failed","message":"m","hint":"h","request_id":"r1","size":7}})"),
      kTarget);
  EXPECT_EQ(error.code(), Code::precondition_failed);
  EXPECT_EQ(error.message(), "m");
  EXPECT_EQ(error.hint(), "h");
  ASSERT_EQ(error.facts().size(), 2u);
  EXPECT_EQ(std::get<std::string>(error.facts()[0].second), "r1");
  EXPECT_EQ(std::get<int64_t>(error.facts()[1].second), 7);
}

TEST(Remote, AnAdviceIsSaidInTheWordsOfThisProgramWithTheServersFacts) {
  auto error =
      to_error(answer(404, R"({"error":{"code":"not_found","message":"m","hint":"POST /api/v1/…","advice":)"
                           R"("restore_from_trash","trashed_file_id":"f_1"}})"),
               kTarget);
  EXPECT_EQ(error.advice(), Advice::restore_from_trash);
  EXPECT_EQ(hint_of(error), "Restore it: 'sandkeep trash restore f_1'.");
  auto newer =
      to_error(answer(404, R"({"error":{"code":"not_found","message":"m","hint":"h","advice":"quite_new"}})"),
               kTarget);
  EXPECT_EQ(hint_of(newer), "h");
}

TEST(Remote, ACodeFromANewerServerIsTakenByItsStatus) {
  auto error = to_error(answer(404, R"({"error":{"code":"quite_new","message":"m"}})"), kTarget);
  EXPECT_EQ(error.code(), Code::not_found);
}

TEST(Remote, AnAnswerThatIsNoErrorOfOursSaysSo) {
  for (auto body : {"", "<html>Bad Gateway</html>", "[]", R"({"error":"text"})", R"({"error":{"code":5}})"}) {
    auto error = to_error(answer(502, body), kTarget);
    EXPECT_EQ(error.code(), Code::internal) << body;
    EXPECT_FALSE(error.message().empty()) << body;
  }
}

TEST(Remote, AWrongKeyComesWithAdviceForThisProgram) {
  auto refused = answer(401, R"({"error":{"code":"unauthorized","message":"m","hint":"Send a valid key"}})");
  EXPECT_NE(std::string(to_error(refused, kTarget).hint()).find("sandkeep login"), std::string::npos);
  auto keyless = kTarget;
  keyless.key.clear();
  EXPECT_NE(std::string(to_error(refused, keyless).hint()).find("root.key"), std::string::npos);
}

TEST(Remote, ConditionsBecomeHeaders) {
  WriteConditions conditions{
      .lock_tokens = {"a", "b"}, .if_match = {"v_1", "v_2"}, .if_new = true, .fence = 7};
  http::Headers headers;
  conditions.add_to(headers);
  EXPECT_EQ(headers.get("X-Sandkeep-Lock"), "a, b");
  EXPECT_EQ(headers.get("If-Match"), "\"v_1\", \"v_2\"");
  EXPECT_EQ(headers.get("If-None-Match"), "*");
  EXPECT_EQ(headers.get("X-Sandkeep-Fence"), "7");
  http::Headers any;
  WriteConditions{.lock_tokens = {}, .if_match = {"*"}, .if_new = false, .fence = {}}.add_to(any);
  EXPECT_EQ(any.get("If-Match"), "*");
  EXPECT_FALSE(any.has("X-Sandkeep-Lock"));
}

TEST(Remote, AKeyForOneWorkspaceMeansThatOneByDefault) {
  EXPECT_EQ(default_workspace({{"scope", {{"workspace_id", "ws_1"}}}}), "ws_1");
  EXPECT_EQ(default_workspace({{"scope", {{"workspace_id", nullptr}}}}), "default");
}

TEST(ExitCode, EveryErrorHasOneOfTheDocumentedCodes) {
  for (const auto& row : all_codes()) {
    auto code = exit_code_of(row.code);
    EXPECT_NE(code, ExitCode::ok) << row.name;
    auto documented = all_exit_codes();
    EXPECT_TRUE(std::any_of(documented.begin(), documented.end(), [&](const auto& known) {
      return known.code == code;
    })) << row.name;
  }
}

}  // namespace
}  // namespace sk::cli
