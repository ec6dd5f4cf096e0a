#include "cli/commands/commands.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <set>

#include "base/fd.h"
#include "cli/frame/help.h"
#include "cli/frame/run.h"
#include "support/temp_folder.h"

namespace sk::cli {
namespace {

TEST(Commands, TheTableIsSound) {
  std::set<std::string_view> names;
  for (const auto* command : command_table().all()) {
    EXPECT_TRUE(names.insert(command->name).second) << command->name << " is there twice";
    EXPECT_NE(command->run, nullptr) << command->name;
    EXPECT_FALSE(command->summary.empty()) << command->name;
    EXPECT_FALSE(command->examples.empty()) << command->name;
    EXPECT_LE(command->positional_min, command->positional_max) << command->name;
    if (command->family().empty()) continue;
    EXPECT_FALSE(command_table().family_summary(command->family()).empty());
  }
}

TEST(Commands, NoOptionIsDeclaredTwiceInACommand) {
  for (const auto* command : command_table().all()) {
    std::set<std::string_view> names;
    std::set<char> letters;
    for (const auto& option : command->all_options()) {
      EXPECT_TRUE(names.insert(option.name).second) << command->name << " --" << option.name;
      if (option.letter == 0) continue;
      EXPECT_TRUE(letters.insert(option.letter).second) << command->name << " -" << option.letter;
    }
  }
}

TEST(Commands, TwoWordsWinOverOne) {
  std::vector<std::string> words = {"trash", "ls", "x"};
  auto found = command_table().find(words);
  ASSERT_NE(found.command, nullptr);
  EXPECT_EQ(found.command->name, "trash ls");
  EXPECT_EQ(found.words, 2u);
  std::vector<std::string> one = {"ls", "trash"};
  EXPECT_EQ(command_table().find(one).command->name, "ls");
  std::vector<std::string> none = {"trash", "nothing"};
  EXPECT_EQ(command_table().find(none).command, nullptr);
}

TEST(Commands, ATypingErrorFindsTheCommand) {
  auto guess = [](std::vector<std::string> words) { return command_table().nearest(words); };
  EXPECT_EQ(guess({"pit"}), "put");
  EXPECT_EQ(guess({"trash", "restor"}), "trash restore");
  EXPECT_EQ(guess({"lokc", "acquire"}), "lock acquire");
  EXPECT_EQ(guess({"workspaces"}), "workspace");
  EXPECT_EQ(guess({"abracadabra"}), std::nullopt);
}

TEST(Commands, HelpNamesEveryOptionOfACommand) {
  for (const auto* command : command_table().all()) {
    auto help = command_help(*command);
    EXPECT_NE(help.find(usage_line(*command)), std::string::npos) << command->name;
    if (command->reads == Reads::settings) continue;
    for (const auto& option : command->all_options())
      EXPECT_NE(help.find("--" + std::string(option.name)), std::string::npos)
          << command->name << " --" << option.name;
  }
  auto overview = overview_help(command_table());
  for (const auto* command : command_table().all()) {
    auto last =
        command->family().empty() ? command->name : command->name.substr(command->family().size() + 1);
    EXPECT_NE(overview.find(last), std::string::npos) << command->name;
  }
}

// Runs the program's words with its output in files, against no server.
struct Ran {
  ExitCode code;
  std::string out, err;
};

Ran run_words(const std::vector<std::string>& words, Environment environment = {}) {
  test::TempFolder folder;
  environment.try_emplace("HOME", folder.path());
  auto out = open_file(folder.path() + "/out", O_RDWR | O_CREAT);
  auto err = open_file(folder.path() + "/err", O_RDWR | O_CREAT);
  auto in = open_file("/dev/null", O_RDONLY);
  Terminal terminal(in.get(), out.get(), err.get(), environment);
  SystemClock clock;
  auto code = run(command_table(), words, environment, terminal, clock);
  return {code, read_file(folder.path() + "/out"), read_file(folder.path() + "/err")};
}

TEST(Run, WithoutWordsItShowsTheOverview) {
  auto ran = run_words({});
  EXPECT_EQ(ran.code, ExitCode::ok);
  EXPECT_EQ(ran.out, overview_help(command_table()));
  EXPECT_EQ(run_words({"help"}).out, overview_help(command_table()));
  EXPECT_EQ(run_words({"--help"}).out, overview_help(command_table()));
}

TEST(Run, HelpIsFoundInEveryWay) {
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"help", "trash", "purge"}, {"trash", "purge", "--help"}, {"trash", "purge", "x", "-h"}}) {
    auto ran = run_words(words);
    EXPECT_EQ(ran.code, ExitCode::ok);
    EXPECT_NE(ran.out.find("Usage: sandkeep trash purge"), std::string::npos);
  }
  EXPECT_NE(run_words({"trash"}).out.find("trash empty"), std::string::npos);
}

TEST(Run, AnUnknownCommandIsAUsageErrorThatNamesTheNearest) {
  auto ran = run_words({"pit", "x"});
  EXPECT_EQ(ran.code, ExitCode::usage);
  EXPECT_EQ(ran.out, "");
  EXPECT_NE(ran.err.find("'put'"), std::string::npos);
}

TEST(Run, TooFewTooManyAndOddArgumentsAreUsageErrors) {
  for (const auto& words : std::vector<std::vector<std::string>>{{"cat"},
                                                                 {"mv", "a"},
                                                                 {"whoami", "x"},
                                                                 {"ls", "--recusive"},
                                                                 {"whoami", "--", "x"},
                                                                 {"lock", "run", "a"},
                                                                 {"trash", "empty"},
                                                                 {"put", "-"}})
    EXPECT_EQ(run_words(words).code, ExitCode::usage) << words[0];
}

TEST(Run, AServerThatIsNotThereIsUnreachableAndTheErrorSaysWhatToDo) {
  // Port 1 is nobody's.
  auto ran = run_words({"whoami", "--server", "http://127.0.0.1:1"});
  EXPECT_EQ(ran.code, ExitCode::unreachable);
  EXPECT_NE(ran.err.find("127.0.0.1:1"), std::string::npos);
  EXPECT_NE(ran.err.find("sandkeep login"), std::string::npos);
  EXPECT_EQ(ran.err.find('?'), std::string::npos) << ran.err;
}

TEST(Run, WrongWordsAreRefusedBeforeAServerIsAsked) {
  auto role = run_words({"workspace", "member", "crew", "p_1", "king"});
  EXPECT_EQ(role.code, ExitCode::usage);
  EXPECT_NE(role.err.find("read, write, own or none"), std::string::npos) << role.err;
  auto ending = run_words({"sessions", "export", "s_1", "x.txt"});
  EXPECT_EQ(ending.code, ExitCode::usage);
  EXPECT_NE(ending.err.find("neither .ipynb nor .py"), std::string::npos) << ending.err;
  auto folder = run_words({"mcp", "--files", "/nonexistent"});
  EXPECT_EQ(folder.code, ExitCode::not_found);
  EXPECT_NE(folder.err.find("--files /nonexistent"), std::string::npos) << folder.err;
  auto expiry = run_words({"key", "create", "z", "--expires", "yesterday"});
  EXPECT_EQ(expiry.code, ExitCode::usage);
  EXPECT_EQ(expiry.err.find("ago"), std::string::npos) << expiry.err;
}

TEST(Run, WithJsonAnErrorIsTheServersOwnShape) {
  auto ran = run_words({"ls", "../x", "--json"});
  EXPECT_EQ(ran.code, ExitCode::usage);
  auto error = Json::parse(ran.err);
  EXPECT_EQ(error["error"]["code"], "bad_request");
  EXPECT_TRUE(error["error"]["message"].is_string());
  EXPECT_TRUE(error["error"]["hint"].is_string());
}

TEST(Run, ColoursAndBarsStayOutOfFiles) {
  auto ran = run_words({"pit"});
  EXPECT_EQ(ran.err.find('\x1b'), std::string::npos);
}

TEST(Run, OutputThatCannotBeWrittenIsAnError) {
  test::TempFolder folder;
  Environment environment;
  auto full = open_file("/dev/full", O_WRONLY);
  auto err = open_file(folder.path() + "/err", O_RDWR | O_CREAT);
  Terminal terminal(STDIN_FILENO, full.get(), err.get(), environment);
  SystemClock clock;
  std::vector<std::string> words = {"help"};
  EXPECT_EQ(run(command_table(), words, environment, terminal, clock), ExitCode::no_room);
  EXPECT_FALSE(read_file(folder.path() + "/err").empty());
}

}  // namespace
}  // namespace sk::cli
