// The searches of property tests for a smallest counterexample end.
#include "support/property.h"

#include <chrono>
#include <vector>

namespace sk::test {
namespace {

// Every vector that is not empty fails, and each has many smaller ones: without a limit this goes on for
// hours.
struct SlowProperty {
  int* runs;
  void operator()(const std::vector<uint64_t>& numbers) const {
    ++*runs;
    uint64_t sum = 0;
    for (uint64_t number : numbers) sum += number % 7 + 1;
    RC_ASSERT(sum == 0);
  }
};

TEST(PropertyTest, AFailureIsReportedAfterAsManyRunsAsAreAllowed) {
  int runs = 0;
  EXPECT_FALSE(check_property("never holds", SlowProperty{&runs}, {.runs_max = 5}));
  EXPECT_GT(runs, 1);
  EXPECT_LE(runs, 100 + 1 + 5);  // those that held before the first failure, it, and the search
}

TEST(PropertyTest, TheSearchEndsWhenItsTimeIsOver) {
  int runs = 0;
  EXPECT_FALSE(check_property("never holds", SlowProperty{&runs},
                              {.runs_max = 1 << 30, .time_max = std::chrono::milliseconds(0)}));
  EXPECT_LE(runs, 100 + 2);
}

TEST(PropertyTest, ACaseThatIsDiscardedIsNoFailure) {
  EXPECT_TRUE(check_property("discards", [](bool discarded) { RC_PRE(!discarded); }, {.runs_max = 0}));
}

TEST(PropertyTest, AnAnswerCountsAsWellAsAnAssertion) {
  EXPECT_TRUE(check_property("holds", [](int number) { return number == number; }));
  EXPECT_FALSE(check_property("does not hold", [](int) { return false; }));
  EXPECT_FALSE(check_property("throws", [](int) { throw std::runtime_error("no"); }));
}

RC_GTEST_PROP(PropertyTest, TakesFunctionsToo, (const std::string& text)) { RC_ASSERT(text + "x" != text); }

}  // namespace
}  // namespace sk::test
