// What the dialects of other vendors make of our errors, outputs and paths.
#include "api/dialects.h"

#include <gtest/gtest.h>

#include "api/common/advice_words.h"
#include "api/common/await.h"
#include "api/vendor/error_words.h"
#include "api/vendor/output_text.h"
#include "base/text.h"

namespace sk::api {
namespace {

Json error_body(const std::string& path, const Error& error, http::Reply* out = nullptr) {
  http::Request request;
  request.path = path;
  auto reply = dialect_error_reply(request, error);
  if (out != nullptr) *out = reply;
  return Json::parse(std::get<std::string>(reply.body));
}

TEST(Dialects, AnErrorHasTheShapeOfThePathsClients) {
  Error error = Error(Code::bad_request, "no").with("field", std::string("code")).hint("Do it right.");
  http::Reply reply;
  Json azure = error_body("/azure/pool/files", error, &reply)["error"];
  EXPECT_EQ(azure["code"], "BadRequest");
  EXPECT_EQ(azure["target"], "code");
  EXPECT_EQ(azure["innererror"]["hint"], "Do it right.");
  EXPECT_EQ(reply.headers.get("x-ms-error-code"), "BadRequest");
  EXPECT_EQ(reply.status, 400);
  Json librechat = error_body("/librechat/v1/exec", error);
  EXPECT_EQ(librechat["error"], "no");
  EXPECT_EQ(librechat["details"], "Do it right.");
  EXPECT_EQ(error_body("/librechat/v1/exec", Error(Code::too_many_requests, "slow"))["error"],
            "rate_limited");
  EXPECT_EQ(error_body("/elsewhere", error)["error"]["code"], "bad_request");
}

TEST(Dialects, PathsOfTheMountedFolderAreThoseThatCodeSees) {
  EXPECT_EQ(mounted_path("sessions/q-1", "sessions/q-1"), "/mnt/data");
  EXPECT_EQ(mounted_path("sessions/q-1", "sessions/q-1/a"), "/mnt/data/a");
  EXPECT_EQ(mounted_path("sessions/q-1", "sessions/q-12/a"), "sessions/q-12/a");
  EXPECT_EQ(mounted_path("", "a/b"), "/mnt/data/a/b");
  EXPECT_EQ(mounted_path("", ""), "/mnt/data");
  http::Request request;
  request.path = "/azure/pool/files/a";
  request.mounted_folder = "sessions/q-1";
  Error error = Error(Code::locked, quoted_path("sessions/q-1/a") + " is locked by sessions/q-1/a")
                    .with_paths("path", Sentence::of_path("sessions/q-1/a"))
                    .with("holder", std::string("sessions/q-1/a"))
                    .with("fence", int64_t{3});
  auto reply = dialect_error_reply(request, error);
  Json body = Json::parse(std::get<std::string>(reply.body))["error"];
  EXPECT_EQ(body["message"], "'/mnt/data/a' is locked by sessions/q-1/a") << "a name is not a path";
  EXPECT_EQ(body["innererror"]["holder"], "sessions/q-1/a");
  EXPECT_EQ(body["innererror"]["path"], "/mnt/data/a");
  EXPECT_EQ(body["innererror"]["fence"], 3);
  EXPECT_NE(body["innererror"]["hint"].get<std::string>().find("X-Sandkeep-Lock"), std::string::npos);
}

TEST(Dialects, TheRootOfAWorkspaceMayBeTheMountedFolder) {
  http::Request request;
  request.path = "/azure/pool/files/a";
  request.mounted_folder = "";
  auto reply = dialect_error_reply(request, Error(Code::conflict, quoted_path("a/b") + " is a folder"));
  EXPECT_EQ(Json::parse(std::get<std::string>(reply.body))["error"]["message"],
            "'/mnt/data/a/b' is a folder");
}

TEST(Dialects, TheBaseOfADialectAnswersInItsShape) {
  Error error(Code::not_found, "nothing is here");
  EXPECT_TRUE(error_body("/v1", error)["error"].contains("param"));
  EXPECT_TRUE(error_body("/azure", error)["error"].contains("innererror"));
  EXPECT_FALSE(error_body("/v1x", error)["error"].contains("param"));
}

TEST(Dialects, NoHintSpeaksOfACommandLineThatClientsOfOthersDoNotHave) {
  for (const auto& one : kAdvice) {
    auto error = Error(Code::conflict, "m").advise(one.advice);
    for (const char* path : {"/api/v1/me", "/v1/files/x", "/azure/pool/files", "/librechat/v1/exec", "/mcp"})
      EXPECT_EQ(error_body(path, error).dump().find("sandkeep "), std::string::npos)
          << path << " " << one.name;
    EXPECT_EQ(hint_for(Audience::page, error).find("sandkeep "), std::string::npos) << one.name;
  }
  auto locked = error_body("/v1/files/x", Error(Code::locked, "m")).dump();
  EXPECT_NE(locked.find("X-Sandkeep-Lock"), std::string::npos) << "a header that they can send";
}

TEST(Dialects, NobodyIsSentToALogThatOnlyTheOperatorCanRead) {
  for (const auto& one : kAdvice)
    for (auto audience : {Audience::rest, Audience::tools, Audience::vendor, Audience::page}) {
      auto hint = hint_for(audience, Error(Code::unavailable, "m").advise(one.advice));
      bool names_log = hint.find(" log ") != std::string::npos;
      EXPECT_TRUE(!names_log || hint.find("operator") != std::string::npos) << one.name;
    }
}

TEST(Dialects, AFullWorkspaceNamesTheRouteThatDeletesRecords) {
  auto hint = hint_for(Audience::rest, Error(Code::quota_exceeded, "full"));
  EXPECT_NE(hint.find("DELETE /api/v1/workspaces/{workspace}/executions"), std::string::npos) << hint;
}

TEST(Dialects, RoutesAreNamedToThoseOnlyWhoSendRequestsToThem) {
  for (const auto& one : kAdvice) {
    auto error = Error(Code::conflict, "m").advise(one.advice);
    for (auto audience : {Audience::tools, Audience::vendor, Audience::page})
      EXPECT_EQ(hint_for(audience, error).find("/api/v1"), std::string::npos) << one.name;
  }
}

TEST(Dialects, AdviceOnANewKeyNamesTheFieldAndTheWorkspace) {
  auto error = Error(Code::forbidden, "m").with("workspace_id", std::string("ws_1"));
  auto hint = hint_for(Audience::rest, error.advise(Advice::narrow_new_key));
  EXPECT_TRUE(hint.starts_with("Set 'workspace' to ws_1, or ")) << hint;
}

TEST(Dialects, OurOwnNamesTheAdviceBesideItsWords) {
  auto body = error_body("/api/v1/sessions/s", Error(Code::not_found, "m").advise(Advice::list_sessions));
  EXPECT_EQ(body["error"]["advice"], "list_sessions");
  EXPECT_EQ(body["error"]["hint"], "List your sessions: GET /api/v1/sessions.");
  EXPECT_EQ(error_body("/api/v1/me", Error(Code::locked, "m"))["error"]["advice"], "wait_for_lock");
  EXPECT_FALSE(
      error_body("/api/v1/me", Error(Code::locked, "m").hint("Ask.")).at("error").contains("advice"));
}

TEST(Dialects, EveryCodeHasANameInAzuresShape) {
  for (const auto& code : all_codes()) {
    auto name = error_body("/azure/x", Error(code.code, "m"))["error"]["code"].get<std::string>();
    EXPECT_TRUE(name == "InternalServerError" || code.code != Code::internal);
    EXPECT_EQ(name.find('_'), std::string::npos) << name;
  }
}

TEST(Dialects, AnExecutionThatIsOverdueIsAnErrorOfEachDialect) {
  auto overdue = [](const std::string& path) {
    http::Request request;
    request.path = path;
    auto reply = overdue_reply(request);
    EXPECT_EQ(reply.status, 504) << path;
    return Json::parse(std::get<std::string>(reply.body));
  };
  EXPECT_EQ(overdue("/api/v1/sessions/s/executions")["error"]["code"], "unavailable");
  EXPECT_TRUE(overdue("/v1/containers/c/exec")["error"].contains("type"));
  EXPECT_TRUE(overdue("/azure/pool/executions")["error"].contains("innererror"));
  EXPECT_TRUE(overdue("/librechat/v1/exec")["error"].is_string());
}

TEST(Dialects, ARequestWaitsLongerThanAnyExecutionMayTake) {
  DialectSettings settings;
  settings.execution_timeout_max_s = 7 * 86400;
  EXPECT_GT(await_limit(settings), std::chrono::seconds(settings.execution_timeout_max_s));
}

TEST(Dialects, APathThatHoldsAKeyIsShownWithoutIt) {
  EXPECT_EQ(loggable_path("/librechat/skey_secret/v1/exec"), "/librechat/{key}/v1/exec");
  EXPECT_EQ(loggable_path("/librechat/skey_secret"), "/librechat/{key}");
  EXPECT_EQ(loggable_path("/librechat/v1/exec"), "/librechat/v1/exec");
  EXPECT_EQ(loggable_path("/azure/pool/files"), "/azure/pool/files");
  EXPECT_EQ(loggable_path("/librechat/v1"), "/librechat/v1");
}

TEST(Dialects, APathThatNoRouteServesIsShownWithoutItsKeyToo) {
  // A key that an operator chose has no form of its own, so only its place tells.
  EXPECT_EQ(loggable_path("//librechat/own-key/v1/exec"), "//librechat/{key}/v1/exec");
  EXPECT_EQ(loggable_path("/librechat//own-key"), "/librechat//{key}");
  EXPECT_EQ(loggable_path("/%6cibrechat/own-key"), "/%6cibrechat/{key}");
  EXPECT_EQ(loggable_path("/LibreChat/own%2Dkey/v1"), "/LibreChat/{key}/v1");
  EXPECT_EQ(loggable_path("/librechat%2fown-key%2fv1"), "/librechat%2f{key}%2fv1");
  EXPECT_EQ(loggable_path("/librechat/own%2Fkey/v1/exec"), "/librechat/{key}/v1/exec");
  EXPECT_EQ(loggable_path("/librechat/own/key"), "/librechat/{key}");
  EXPECT_EQ(loggable_path("/librechat%252Fown-key/v1"), "/librechat%252F{key}/v1");
  EXPECT_EQ(loggable_path("/proxied/librechat/own-key/v1/exec"), "/proxied/librechat/{key}/v1/exec");
  EXPECT_EQ(loggable_path("/api/v1/workspaces/w/files/librechat/notes.txt"),
            "/api/v1/workspaces/w/files/librechat/notes.txt");
  EXPECT_EQ(loggable_path("/anywhere/skey_0123456789abcdef"), "/anywhere/{key}");
}

TEST(Dialects, EveryErrorThatPassesTellsEveryClientWhenToRetry) {
  struct Row {
    Error error;
    std::optional<std::string> wait;
  };
  const Row rows[] = {
      {Error(Code::too_many_requests, "a rate").retry_in(7), "7"},
      {Error(Code::too_many_requests, "a queue").advise(Advice::wait_for_executions), "5"},
      {Error(Code::unavailable, "a budget").retry_in(2), "2"},
      {Error(Code::unavailable, "stopping").advise(Advice::retry_when_back), "5"},
      {Error(Code::unavailable, "no sandbox").advise(Advice::complete_sandbox), std::nullopt},
      {Error(Code::quota_exceeded, "full"), std::nullopt},
  };
  for (const char* path : {"/api/v1/me", "/v1/files", "/openai/v1/files", "/api/projects/p/files", "/mcp",
                           "/azure/mcp", "/azure/pool/files", "/librechat/v1/exec", "/k/v_1", "/w/default"})
    for (const auto& [error, wait] : rows) {
      http::Reply reply;
      error_body(path, error, &reply);
      EXPECT_EQ(reply.headers.get("Retry-After"), wait) << path << ": " << error.message();
      EXPECT_LE(reply.headers.count("Retry-After"), 1u) << path;
    }
}

TEST(Dialects, LibreChatIsToldTheTimeToWait) {
  Json told = error_body("/librechat/v1/exec",
                         Error(Code::too_many_requests, "slow").with("retry_after_seconds", int64_t{7}));
  EXPECT_EQ(told["retry_after_seconds"], 7);
  EXPECT_EQ(error_body("/librechat/v1/exec", Error(Code::too_many_requests, "slow"))["retry_after_seconds"],
            5);
}

TEST(OutputText, TellsPrintedTextValuesImagesAndErrorsApart) {
  interpreter::Execution execution;
  using interpreter::TextOutput;
  using enum TextOutput::Stream;
  execution.outputs = {TextOutput{out, "a"},
                       TextOutput{err, "w"},
                       TextOutput{out, "b"},
                       interpreter::DisplayOutput{"", false, {"s/outputs/1-1.png", {{"image/png", "iVBO"}}}},
                       interpreter::ResultOutput{1, {"", {{"text/plain", "42"}}}},
                       interpreter::NoteOutput{"cut"},
                       interpreter::ErrorOutput{"E", "v", "trace"}};
  execution.message = "why";
  execution.files.not_kept.push_back({"s/link", interpreter::UnkeptReason::link, "it is a link"});
  interpreter::SessionInfo session;
  session.folder = "s";
  auto shown = output_text(execution, session);
  EXPECT_EQ(shown.printed, "ab");
  EXPECT_EQ(shown.errors, "w\ncut\ntrace\nnot kept: /mnt/data/link: it is a link\nwhy\n");
  EXPECT_EQ(shown.value, "42");
  EXPECT_EQ(shown.image->path, "s/outputs/1-1.png");
  EXPECT_EQ(shown.error_name, "E");
}

TEST(OutputText, SaysWhichFilesAreNotTheNewestVersions) {
  interpreter::Execution execution;
  interpreter::KeptFile locked, diverged, plain;
  locked.path = "s/a";
  locked.locked = true;
  diverged.path = "s/b";
  diverged.diverged = true;
  plain.path = "s/c";
  execution.files.kept = {locked, diverged, plain};
  interpreter::SessionInfo session;
  session.folder = "s";
  auto errors = output_text(execution, session).errors;
  EXPECT_NE(errors.find("'/mnt/data/a' is locked by another client"), std::string::npos) << errors;
  EXPECT_NE(errors.find("'/mnt/data/b' was changed by another client too"), std::string::npos) << errors;
  EXPECT_EQ(errors.find("/mnt/data/c"), std::string::npos) << errors;
}

TEST(OutputText, SaysTheExitStatusOfAProgram) {
  interpreter::Execution execution;
  execution.outcome = interpreter::Outcome::error;
  execution.exit_code = 3;
  execution.language = "python";
  EXPECT_EQ(output_text(execution, {}).errors, "the program ended with exit status 3\n");
  execution.language = "bash";
  EXPECT_EQ(output_text(execution, {}).errors, "") << "its clients read the status";
  execution.outcome = interpreter::Outcome::ok;
  execution.exit_code = 0;
  execution.language = "python";
  EXPECT_EQ(output_text(execution, {}).errors, "");
}

TEST(CutText, CutsBetweenCharacters) {
  EXPECT_EQ(cut_text("aé", 2), "a");
  EXPECT_EQ(cut_text("aé", 3), "aé");
  EXPECT_EQ(cut_text("", 0), "");
  EXPECT_EQ(last_text("éa", 2), "a");
  EXPECT_EQ(last_text("éa", 3), "éa");
  EXPECT_EQ(last_text("é", 1), "");
}

}  // namespace
}  // namespace sk::api
