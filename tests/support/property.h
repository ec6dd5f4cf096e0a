// Properties with an end: rapidcheck looks for the smallest counterexample for as long as it finds a smaller
// one, which for a slow property looks like a hang. Here the search stops after a number of failures and some
// seconds; the smallest found so far is shown.
//
// Include this instead of rapidcheck's own headers. It takes check_property() where rapidcheck has
// rc::check(), and RC_GTEST_PROP as it is.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <chrono>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace sk::test {

struct ShrinkLimits {
  int runs_max = 2'000;  // after the first failure, failing or not
  std::chrono::milliseconds time_max = std::chrono::seconds(20);
};

// Counts from the first failure on. One property, one thread.
class ShrinkBudget {
 public:
  explicit ShrinkBudget(ShrinkLimits limits) : limits_(limits) {}

  bool is_spent() {
    if (!failed_) return false;
    return ++runs_ > limits_.runs_max || std::chrono::steady_clock::now() - first_failure_ > limits_.time_max;
  }
  void note_failure() {
    if (std::exchange(failed_, true)) return;
    first_failure_ = std::chrono::steady_clock::now();
  }

 private:
  const ShrinkLimits limits_;
  bool failed_ = false;
  int runs_ = 0;
  std::chrono::steady_clock::time_point first_failure_;
};

// The same property, which holds for everything once the budget is spent: nothing smaller fails, so the
// search is over.
template <class Result, class Body, class... Arguments>
auto bounded(Body body, ShrinkLimits limits) {
  auto budget = std::make_shared<ShrinkBudget>(limits);
  return [body = std::move(body), budget](Arguments... arguments) {
    if (budget->is_spent()) return;
    try {
      if constexpr (std::is_void_v<Result>)
        body(std::forward<Arguments>(arguments)...);
      else
        RC_ASSERT(body(std::forward<Arguments>(arguments)...));
    } catch (const rc::detail::CaseResult& result) {
      if (result.type == rc::detail::CaseResult::Type::Failure) budget->note_failure();
      throw;
    } catch (...) {
      budget->note_failure();
      throw;
    }
  };
}

template <class Body, class Result, class... Arguments>
auto bounded_member(Body body, Result (Body::*)(Arguments...) const, ShrinkLimits limits) {
  return bounded<Result, Body, Arguments...>(std::move(body), limits);
}

// Whether the property holds; if not, the counterexample and the seed are printed.
template <class Body>
bool check_property(const std::string& description, Body body, ShrinkLimits limits = {}) {
  return rc::check(description, bounded_member(std::move(body), &Body::operator(), limits));
}
template <class Result, class... Arguments>
bool check_property(const std::string& description, Result (*body)(Arguments...), ShrinkLimits limits = {}) {
  return rc::check(description, bounded<Result, Result (*)(Arguments...), Arguments...>(body, limits));
}

}  // namespace sk::test

#undef RC_GTEST_PROP
#define RC_GTEST_PROP(Suite, Name, Arguments)                                              \
  void property_##Suite##_##Name Arguments;                                                \
  TEST(Suite, Name) {                                                                      \
    EXPECT_TRUE(::sk::test::check_property(#Suite "." #Name, &property_##Suite##_##Name)); \
  }                                                                                        \
  void property_##Suite##_##Name Arguments
