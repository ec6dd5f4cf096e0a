#include "base/sentence.h"

#include <gtest/gtest.h>

namespace sk {
namespace {

std::string starred(const Sentence& sentence) {
  return sentence.text([](std::string_view path) { return "*" + std::string(path) + "*"; });
}

TEST(Sentence, OnlyMarkedPathsAreNamedAnew) {
  Sentence sentence = "not kept: " + quoted_path("a/b") + " is locked by " + std::string("a/b") + "; see " +
                      Sentence::of_path("") + Sentence::of_path("c");
  EXPECT_EQ(sentence.text(), "not kept: 'a/b' is locked by a/b; see c");
  EXPECT_EQ(starred(sentence), "not kept: '*a/b*' is locked by a/b; see ***c*");
  EXPECT_EQ(starred("no path"), "no path");
}

TEST(Sentence, AddedToItselfHasItsPathsTwice) {
  Sentence sentence = quoted_path("a");
  sentence += sentence;
  EXPECT_EQ(starred(sentence), "'*a*''*a*'");
}

TEST(Sentence, StoredMarksThatDoNotFitAreDropped) {
  Sentence stored("abc def", {{0, 3}, {2, 2}, {4, 3}, {7, 1}, {9, 0}, {SIZE_MAX, 2}, {5, SIZE_MAX}});
  EXPECT_EQ(starred(stored), "*abc* *def*");
  EXPECT_EQ(stored.marks(), (std::vector<Sentence::Mark>{{0, 3}, {4, 3}}));
}

}  // namespace
}  // namespace sk
