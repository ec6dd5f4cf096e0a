#include "base/later.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace sk {
namespace {

template <class T>
Code code_of(const Later<T>& later) {
  try {
    later.get();
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "there is a value";
  return Code::internal;
}

TEST(Later, AValueIsKnownAtOnce) {
  Later<int> later(7);
  EXPECT_TRUE(later.known());
  int got = 0;
  later.then([&](Result<int> result) { got = result.take(); });
  EXPECT_EQ(got, 7);
}

TEST(Later, AnErrorIsThrownToTheOneWhoTakesTheValue) {
  Later<int> later(Error(Code::conflict, "no"));
  EXPECT_TRUE(later.known());
  EXPECT_THROW(later.get(), Error);
}

TEST(Later, TheCallbackRunsWhenTheResultComes) {
  Promise<int> promise;
  int got = 0;
  promise.later().then([&](Result<int> result) { got = result.take(); });
  EXPECT_EQ(got, 0);
  promise.set(3);
  promise.set(4);
  EXPECT_EQ(got, 3) << "the first result counts";
}

TEST(Later, GetWaitsForAnotherThread) {
  Promise<std::unique_ptr<int>> promise;
  std::thread other([promise] { promise.set(std::make_unique<int>(5)); });
  EXPECT_EQ(*promise.later().get(), 5);
  other.join();
}

TEST(Later, MapAndChainPassOnValuesAndErrors) {
  Promise<int> first, second;
  auto sum = first.later()
                 .chain([&](int one) { return second.later().map([one](int two) { return one + two; }); })
                 .map([](int both) { return std::to_string(both); });
  EXPECT_FALSE(sum.known());
  first.set(1);
  EXPECT_FALSE(sum.known());
  second.set(2);
  EXPECT_EQ(sum.get(), "3");

  bool called = false;
  auto refused = Later<int>(Error(Code::gone, "away")).map([&](int) { return called = true; });
  EXPECT_EQ(code_of(refused), Code::gone);
  EXPECT_FALSE(called);
  auto thrown = Later<int>(1).chain([](int) -> Later<int> { throw Error(Code::locked, "shut"); });
  EXPECT_EQ(code_of(thrown), Code::locked);
  auto odd = Later<int>(1).map([](int) -> int { throw std::runtime_error("odd"); });
  EXPECT_EQ(code_of(odd), Code::internal);
}

TEST(Later, GivingUpReachesTheWorkThatWaits) {
  Promise<int> first, second;
  bool dropped = false;
  second.on_give_up([&] {
    dropped = true;
    second.drop();
    return true;
  });
  auto kept = std::make_shared<int>();
  auto last = first.later().chain([&](int) { return second.later(); }).map([kept](int) { return *kept; });
  EXPECT_FALSE(last.give_up()) << "the first step has begun";
  first.set(1);
  EXPECT_TRUE(last.give_up());
  EXPECT_TRUE(dropped);
  EXPECT_EQ(kept.use_count(), 1) << "nothing holds the callbacks of work that was dropped";
  second.set(2);
  EXPECT_FALSE(last.known());
}

TEST(Later, WorkThatHasEndedCannotBeGivenUp) {
  Promise<int> promise;
  promise.on_give_up([] { return true; });
  promise.set(1);
  EXPECT_FALSE(promise.later().give_up());
}

TEST(Later, AllAreDoneWhenTheLastOneIs) {
  EXPECT_TRUE(when_all({}).known());
  Promise<Done> first, second;
  auto all = when_all({first.later(), Later<Done>(Done{}), second.later()});
  first.set(Error(Code::conflict, "no"));
  EXPECT_FALSE(all.known()) << "the others go on";
  second.set(Done{});
  EXPECT_EQ(code_of(all), Code::conflict);
}

}  // namespace
}  // namespace sk
