#include "interpreter/run/output.h"

#include <gtest/gtest.h>

namespace sk::interpreter {
namespace {

using enum TextOutput::Stream;

TEST(Output, EveryKindIsReadBackFromItsJson) {
  const Outputs outputs = {TextOutput{out, "a"},
                           TextOutput{err, "w"},
                           DisplayOutput{"id", true, {"s/outputs/1-1.png", {{"image/png", "iVBO"}}}},
                           DisplayOutput{"", false, {"1-2.png", {}, true}},
                           ResultOutput{3, {"", {{"text/html", "<b>"}, {"text/plain", "42"}}}},
                           NoteOutput{"a note"},
                           ErrorOutput{"E", "v", "trace"}};
  EXPECT_EQ(outputs_from(to_json(outputs)), outputs);
}

TEST(Output, JsonHasTheFieldsOfTheApiInTheirOrder) {
  EXPECT_EQ(to_text(to_json(Output(TextOutput{err, "w"}))), R"({"type":"stderr","text":"w"})");
  EXPECT_EQ(
      to_text(to_json(Output(DisplayOutput{"d", true, {"f.png", {{"image/png", "iVBO"}}}}))),
      R"({"type":"display","display_id":"d","update":true,"file":"f.png","data":{"image/png":"iVBO"}})");
  EXPECT_EQ(to_text(to_json(Output(ResultOutput{1, {"", {}, true}}))),
            R"({"type":"result","count":1,"data":{},"cut":"this output is larger than an answer may be"})");
}

TEST(Output, TextOfOneStreamIsJoinedUntilAnotherOutputComes) {
  Outputs outputs;
  append(outputs, TextOutput{out, "a"});
  append(outputs, TextOutput{out, "b"});
  append(outputs, TextOutput{err, "c"});
  append(outputs, NoteOutput{"n"});
  append(outputs, NoteOutput{"n"});
  append(outputs, TextOutput{err, "d"});
  EXPECT_EQ(outputs, (Outputs{TextOutput{out, "ab"}, TextOutput{err, "c"}, NoteOutput{"n"}, NoteOutput{"n"},
                              TextOutput{err, "d"}}));
}

TEST(Output, AKindOfANewerServerIsReadAsANote) {
  EXPECT_EQ(output_from({{"type", "hologram"}, {"text", "t"}}), Output(NoteOutput{"t"}));
}

TEST(Output, TheLastErrorIsFound) {
  EXPECT_EQ(error_in({NoteOutput{"n"}}), nullptr);
  EXPECT_EQ(error_in({ErrorOutput{"A", "", ""}, ErrorOutput{"B", "", ""}, NoteOutput{"n"}})->name, "B");
}

}  // namespace
}  // namespace sk::interpreter
