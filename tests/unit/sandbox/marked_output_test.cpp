// Output that is put in order with frames.
#include "sandbox/marked_output.h"

#include <gtest/gtest.h>
#include "support/property.h"

#include "base/text.h"

namespace sk::sandbox {
namespace {

std::string mark(uint64_t number) {
  return std::string(1, '\0') + "word:" + std::to_string(number) + std::string(1, '\0');
}

TEST(MarkedOutput, GivesTextUpToTheNextMarkAndThenWaitsForItsFrame) {
  MarkedOutput output("word");
  output.append("before" + mark(1) + "after");
  EXPECT_EQ(output.take(), "before");
  EXPECT_TRUE(output.holds_mark());
  EXPECT_EQ(output.take(), "");
  EXPECT_EQ(output.pass(1), "");
  EXPECT_EQ(output.take(), "after");
  EXPECT_FALSE(output.holds_mark());
}

TEST(MarkedOutput, PassesAMarkThatItHasNotGivenYet) {
  MarkedOutput output("word");
  output.append("one" + mark(1) + "two" + mark(2) + "three");
  EXPECT_EQ(output.pass(1), "one");
  EXPECT_EQ(output.pass(2), "two");
  EXPECT_EQ(output.take(), "three");
}

TEST(MarkedOutput, DoesNotWaitForAMarkThatNeverComes) {
  MarkedOutput output("word");
  output.append("text");
  EXPECT_EQ(output.pass(5), "text");
  output.append("more" + mark(3) + "rest");
  EXPECT_EQ(output.take(), "morerest") << "marks that were passed hold nothing up";
}

TEST(MarkedOutput, KeepsBackWhatMayBecomeAMark) {
  MarkedOutput output("word");
  std::string whole = mark(12);
  output.append("text" + whole.substr(0, 4));
  EXPECT_EQ(output.take(), "text");
  output.append(whole.substr(4));
  EXPECT_EQ(output.take(), "");
  EXPECT_TRUE(output.holds_mark());
}

TEST(MarkedOutput, LetsWhatOnlyLooksLikeAMarkThrough) {
  MarkedOutput output("word");
  std::string fake =
      std::string(1, '\0') + "word:12x" + std::string(1, '\0') + "other:1" + std::string(1, '\0');
  output.append(fake);
  EXPECT_EQ(output.take() + output.flush(), fake);
}

TEST(MarkedOutput, FlushGivesEverythingWithoutMarks) {
  MarkedOutput output("word");
  output.append("a" + mark(1) + "b" + mark(7) + "c" + mark(9).substr(0, 5));
  EXPECT_EQ(output.flush(), "abc" + mark(9).substr(0, 5));
}

RC_GTEST_PROP(MarkedOutput, LosesAndInventsNothingHoweverItIsCut, ()) {
  // Pieces of text and marks, cut anywhere, passed at any time.
  auto texts = *rc::gen::container<std::vector<std::string>>(
      rc::gen::container<std::string>(rc::gen::elementOf(std::string("\0word:1ab\xe2\x82\xac\n", 13))));
  std::string stream, wanted;
  uint64_t number = 0;
  for (const auto& text : texts) {
    stream += text + mark(++number);
    wanted += text;
  }
  // A text may by chance hold a whole mark; such a run says nothing.
  size_t marks = 0;
  for (size_t at = stream.find(std::string("\0word:", 6)); at != std::string::npos;
       at = stream.find(std::string("\0word:", 6), at + 1))
    ++marks;
  RC_PRE(marks == texts.size());
  MarkedOutput output("word");
  std::string got;
  uint64_t passed = 0;
  for (size_t at = 0; at < stream.size();) {
    auto piece = *rc::gen::inRange<size_t>(1, 20);
    output.append(std::string_view(stream).substr(at, piece));
    at += piece;
    got += output.take();
    if (output.holds_mark()) got += output.pass(++passed);
  }
  got += output.flush();
  RC_ASSERT(got == wanted);
}

RC_GTEST_PROP(MarkedOutput, CutsNoCharacterInTwo, ()) {
  std::string text;
  for (int i = *rc::gen::inRange(0, 40); i > 0; --i)
    text += *rc::gen::elementOf(std::vector<std::string>{"a", "é", "€", "😀", "\n"});
  MarkedOutput output("word");
  for (size_t at = 0; at < text.size();) {
    auto piece = *rc::gen::inRange<size_t>(1, 5);
    output.append(std::string_view(text).substr(at, piece));
    at += piece;
    RC_ASSERT(is_utf8(output.take()));
  }
  RC_ASSERT(output.flush().empty());
}

}  // namespace
}  // namespace sk::sandbox
