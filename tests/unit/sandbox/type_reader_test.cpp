#include "sandbox/type_reader.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <thread>
#include <vector>

namespace sk::sandbox {
namespace {

constexpr std::string_view kPng("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16);

std::vector<pid_t> children_of(pid_t pid, const std::string& name) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) + "/children");
  std::vector<pid_t> out;
  for (pid_t child; file >> child;) {
    std::string its_name;
    std::getline(std::ifstream("/proc/" + std::to_string(child) + "/comm"), its_name);
    if (its_name == name) out.push_back(child);
  }
  return out;
}
std::vector<pid_t> parents() { return children_of(::getpid(), "sk-types"); }

TEST(TypeReader, FindsTypesAndSurvivesTheDeathOfItsReaders) {
  auto types = std::make_unique<TypeReader>();
  EXPECT_EQ(types->type_of(kPng), "image/png");
  EXPECT_EQ(types->type_of("%PDF-1.7\n"), "application/pdf");
  EXPECT_EQ(types->type_of(std::string(100'000, '\0')), "application/octet-stream")
      << "only its beginning is sent";
  ASSERT_EQ(parents().size(), 1u);
  for (int round = 0; round < 3; ++round) {
    // The parent replaces those of the last round.
    std::vector<pid_t> readers;
    for (int i = 0; i < 10'000 && readers.size() < 2; ++i, ::usleep(1000))
      readers = children_of(parents()[0], "sk-type-reader");
    ASSERT_EQ(readers.size(), 2u);
    for (pid_t reader : readers) ::kill(reader, SIGKILL);
    // A question may meet the end of its reader; each reader ends once.
    size_t lost = 0;
    while (types->type_of(kPng) != "image/png") ASSERT_LE(++lost, 4u);
  }
}

TEST(TypeReader, AnswersBelongToTheirQuestions) {
  auto types = std::make_unique<TypeReader>();
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&types, i] {
      for (int round = 0; round < 50; ++round)
        EXPECT_EQ(types->type_of(i % 2 == 0 ? kPng : "%PDF-1.7\n"),
                  i % 2 == 0 ? "image/png" : "application/pdf");
    });
  for (auto& thread : threads) thread.join();
}

TEST(TypeReader, EndsWithItsOwner) {
  auto types = std::make_unique<TypeReader>();
  types.reset();
  EXPECT_TRUE(parents().empty());
}

}  // namespace
}  // namespace sk::sandbox
