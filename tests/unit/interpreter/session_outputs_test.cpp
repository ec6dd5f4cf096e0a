#include "interpreter/run/session_outputs.h"

#include <gtest/gtest.h>

#include "interpreter/run/output_files.h"
#include "unit/temp_dir.h"

namespace sk::interpreter {
namespace {

using sandbox::Stream;
using To = TextOutput::Stream;

class SessionOutputsTest : public testing::Test {
 protected:
  OutputCollector& begin() {
    outputs.begin(feed, 3);
    return *outputs.current();
  }
  static sandbox::MimeBundle image(std::string bytes) {
    return {{{"image/png", std::move(bytes), true}, {"text/plain", "<figure>", false}}, "{}"};
  }
  static std::string text_of(const OutputFile& file) {
    if (!file.spilled) return file.bytes;
    std::string text(file.size, '\0');
    size_t got =
        read_at(file.spilled->get(), std::as_writable_bytes(std::span(text)), file.offset, "spilled");
    return text.substr(0, got);
  }
  static std::vector<std::string> notes(OutputCollector& collector) {
    std::vector<std::string> found;
    for (const auto& output : collector.outputs())
      if (const auto* note = std::get_if<NoteOutput>(&output)) found.push_back(note->text.text());
    return found;
  }

  TempDir directory;
  ExecutionFeed feed;
  SessionOutputs outputs{{10, 20, directory.path()}};
};

TEST_F(SessionOutputsTest, WhatIsPrintedBetweenCellsBeginsTheNextAnswer) {
  outputs.text(Stream::output, "late ");
  outputs.text(Stream::output, "a");
  outputs.text(Stream::errors, "b");
  begin();
  EXPECT_TRUE(outputs.current()->outputs().empty());
  outputs.give_pending();
  outputs.text(Stream::errors, "c");
  EXPECT_EQ(outputs.current()->outputs(),
            (Outputs{TextOutput{To::out, "late a"}, TextOutput{To::err, "bc"}}));
  outputs.end();
  begin();
  outputs.give_pending();
  EXPECT_TRUE(outputs.current()->outputs().empty()) << "it is given once";
}

TEST_F(SessionOutputsTest, TextUnderTheTypeOfAnImageIsNoImage) {
  SessionOutputs roomy{{100, 200, directory.path()}};
  roomy.begin(feed, 3);
  roomy.display({{{{"image/png", "12", false}, {"image/svg+xml", "<s/>", false}}, "{}"}, "", false});
  ASSERT_EQ(roomy.current()->outputs().size(), 1u);
  const auto& shown = std::get<DisplayOutput>(roomy.current()->outputs()[0]).bundle;
  EXPECT_EQ(shown.find("image/png"), nullptr);
  EXPECT_NE(shown.find("image/svg+xml"), nullptr);
  auto files = roomy.current()->take_files();
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].name, "3-1.svg");
}

TEST_F(SessionOutputsTest, WhatWaitsForTheNextCellIsBounded) {
  for (int i = 0; i < 8; ++i) outputs.text(Stream::output, "abc");
  begin();
  outputs.give_pending();
  ASSERT_EQ(outputs.current()->outputs().size(), 2u) << "the text, and a note that some is missing";
  EXPECT_EQ(outputs.current()->outputs()[0], Output(TextOutput{To::out, "abcabcabca"}));
}

TEST_F(SessionOutputsTest, EmptyDisplaysThatWaitAreBoundedToo) {
  for (int i = 0; i < 20'000; ++i) outputs.display({});
  begin();
  outputs.give_pending();
  EXPECT_LE(outputs.current()->outputs().size(), 10'000u);
}

TEST_F(SessionOutputsTest, WhatWaitsIsForgottenWithItsKernel) {
  outputs.text(Stream::output, "0123456789");
  outputs.forget_pending();
  outputs.text(Stream::output, "new");
  begin();
  outputs.give_pending();
  EXPECT_EQ(outputs.current()->outputs(), Outputs{TextOutput({To::out, "new"})});
}

TEST_F(SessionOutputsTest, AnImageThatIsShownBetweenCellsIsAFileOfTheNextExecution) {
  SessionOutputs roomy{{100, 200, directory.path()}};
  roomy.display({image("a"), "", false});
  roomy.error({"E", "v", "t"});
  roomy.clear();
  roomy.begin(feed, 3);
  roomy.give_pending();
  EXPECT_EQ(roomy.current()->outputs().size(), 1u) << "errors between cells belong to no execution";
  EXPECT_EQ(roomy.current()->take_files().size(), 1u);
}

TEST_F(SessionOutputsTest, ADisplayBetweenCellsThatIsTooLargeIsNoted) {
  outputs.display({image("0123456789"), "", false});
  auto& collector = begin();
  outputs.give_pending();
  EXPECT_TRUE(collector.take_files().empty());
  EXPECT_EQ(collector.outputs().size(), 1u) << "the note";
}

TEST_F(SessionOutputsTest, FollowersGetPiecesAndTheAnswerJoinsThem) {
  begin();
  int pieces = 0;
  feed.follow(0, [&](const ExecutionEvent&) { ++pieces; });
  outputs.text(Stream::output, "a");
  outputs.text(Stream::output, "b");
  outputs.text(Stream::output, "");
  EXPECT_EQ(pieces, 2);
  EXPECT_EQ(outputs.current()->outputs(), Outputs{TextOutput({To::out, "ab"})});
}

TEST_F(SessionOutputsTest, OutputBeyondTheLimitIsWholeInAFile) {
  auto& collector = begin();
  outputs.text(Stream::output, "01234567");
  outputs.text(Stream::output, "89ab");
  outputs.text(Stream::output, "c");
  collector.flush();
  EXPECT_EQ(collector.outputs().front(), Output(TextOutput{To::out, "01234567"}));
  EXPECT_TRUE(std::holds_alternative<NoteOutput>(collector.outputs().back()));
  auto files = collector.take_files();
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].name, "3-output.txt");
  EXPECT_EQ(text_of(files[0]), "0123456789abc");
}

TEST_F(SessionOutputsTest, TheFileOfLongOutputIsBoundedToo) {
  auto& collector = begin();
  for (int i = 0; i < 10; ++i) outputs.text(Stream::output, "0123456789");
  collector.flush();
  EXPECT_EQ(text_of(collector.take_files().at(0)).size(), 20u);
}

TEST_F(SessionOutputsTest, AnImageBecomesAFileAlsoWhenTheAnswerHasNoRoomForIt) {
  auto& collector = begin();
  outputs.display({image(std::string(100, 'i')), "", false});
  outputs.result({image("tiny"), 1});
  auto files = collector.take_files();
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].name, "3-1.png");
  EXPECT_EQ(files[0].bytes.size(), 100u);
  EXPECT_EQ(files[1].name, "3-2.png");
  EXPECT_EQ(files[1].output_index, 1);
  EXPECT_TRUE(bundle_of(collector.outputs()[0])->is_cut);
  EXPECT_TRUE(bundle_of(collector.outputs()[0])->data.empty());
}

TEST_F(SessionOutputsTest, ADisplayThatTheAnswerHasNoRoomForIsNamed) {
  auto& collector = begin();
  outputs.display(
      {{{{"text/html", std::string(2'000, 'h'), false}, {"text/plain", "table", false}}, "{}"}, "", false});
  outputs.result({{{{"text/plain", std::string(1'000, 'p'), false}}, "{}"}, 1});
  EXPECT_EQ(collector.outputs().size(), 2u);
  collector.flush();
  ASSERT_EQ(collector.outputs().size(), 3u);
  const auto* note = std::get_if<NoteOutput>(&collector.outputs()[2]);
  ASSERT_NE(note, nullptr);
  for (const char* named : {"2 displays", "text/html", "text/plain", "10 B"})
    EXPECT_NE(note->text.text().find(named), std::string::npos) << named << " in: " << note->text.text();
  EXPECT_TRUE(collector.take_files().empty());
}

TEST_F(SessionOutputsTest, AnImageThatTheAnswerHasNoRoomForIsNamedByItsFileOnly) {
  auto& collector = begin();
  outputs.display({image(std::string(100, 'i')), "", false});
  collector.flush();
  EXPECT_EQ(collector.outputs().size(), 1u) << "no note: its output has the file";
}

TEST_F(SessionOutputsTest, ImagesThatWaitAreCountedUntilTheyAreTaken) {
  auto& collector = begin();
  outputs.display({image(std::string(10'000, 'i')), "", false});
  outputs.display({image("tiny"), "", false});
  EXPECT_EQ(collector.file_bytes(), 10'000u + 4'096u);
  collector.take_files();
  EXPECT_EQ(collector.file_bytes(), 0u);
}

TEST_F(SessionOutputsTest, AnImageThatCodeClearedIsStillAFileWithoutAnOutput) {
  auto& collector = begin();
  outputs.display({image("a"), "", false});
  outputs.clear();
  auto files = collector.take_files();
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].output_index, -1);
  EXPECT_TRUE(collector.outputs().empty());
}

TEST_F(SessionOutputsTest, NamesCountLikeContents) {
  SessionOutputs roomy{{1'000, 2'000, directory.path()}};
  roomy.begin(feed, 3);
  roomy.display({{{{std::string(600, 'm'), "x", false}}, "{}"}, "", false});
  roomy.display({{{{std::string(600, 'n'), "x", false}}, "{}"}, "", false});
  roomy.display({{{{"text/plain", "x", false}}, "{}"}, std::string(5'000, 'i'), false});
  roomy.error({std::string(900, 'E'), "v", "t"});
  const auto& shown = roomy.current()->outputs();
  ASSERT_EQ(shown.size(), 4u);
  EXPECT_FALSE(bundle_of(shown[0])->is_cut);
  EXPECT_TRUE(bundle_of(shown[1])->is_cut);
  EXPECT_LE(std::get<DisplayOutput>(shown[2]).id.size(), 256u);
  EXPECT_EQ(std::get<ErrorOutput>(shown[3]).value, "v") << "an error is told even without room";
}

TEST_F(SessionOutputsTest, TheNumberOfOutputsIsBounded) {
  SessionOutputs roomy{{1 << 20, 1 << 20, directory.path()}};
  roomy.begin(feed, 3);
  for (size_t i = 0; i < kOutputsMax + 5; ++i) roomy.display({});
  roomy.display({image("late"), "", false});
  roomy.text(Stream::output, "late");
  for (int i = 0; i < 15; ++i) roomy.error({"E", "v", "t"});
  auto& collector = *roomy.current();
  collector.flush();
  EXPECT_LE(collector.outputs().size(), kOutputsMax + 20);
  auto told = notes(collector);
  ASSERT_EQ(told.size(), 4u);
  EXPECT_TRUE(told[0].starts_with("5 displays")) << told[0];
  EXPECT_TRUE(told[1].starts_with("1 more images")) << told[1];
  EXPECT_TRUE(told[2].starts_with("5 more errors")) << told[2];
  auto files = collector.take_files();
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(text_of(files[0]), "late") << "the image";
  EXPECT_EQ(files[0].output_index, -1);
  EXPECT_EQ(text_of(files[1]), "late") << "the whole text";
}

TEST_F(SessionOutputsTest, LargeImagesWaitInAFile) {
  auto& collector = begin();
  const std::string large(200 << 10, 'l'), other(150 << 10, 'o');
  outputs.display({image(large), "", false});
  outputs.display({image("small"), "", false});
  outputs.display({image(other), "", false});
  auto files = collector.take_files();
  ASSERT_EQ(files.size(), 3u);
  EXPECT_TRUE(files[0].spilled);
  EXPECT_FALSE(files[1].spilled);
  EXPECT_EQ(text_of(files[0]), large);
  EXPECT_EQ(text_of(files[1]), "small");
  EXPECT_EQ(text_of(files[2]), other);
  outputs.display({image(large), "", false});
  EXPECT_EQ(text_of(collector.take_files().at(0)), large) << "in a file of its own";
}

TEST_F(SessionOutputsTest, WithoutMemoryOutputGoesToFiles) {
  auto budget = std::make_shared<OutputBudget>(100);
  {
    ExecutionFeed poor(budget);
    SessionOutputs roomy{{1'000, 2'000, directory.path()}};
    roomy.begin(poor, 3);
    roomy.text(Stream::output, std::string(40, 'a'));
    EXPECT_EQ(budget->used(), 80u);
    roomy.text(Stream::output, std::string(40, 'b'));
    roomy.display({image(std::string(50, 'i')), "", false});
    auto& collector = *roomy.current();
    collector.flush();
    auto files = collector.take_files();
    ASSERT_EQ(files.size(), 2u);
    EXPECT_TRUE(files[0].spilled) << "the image";
    EXPECT_EQ(text_of(files[1]), std::string(40, 'a') + std::string(40, 'b'));
    EXPECT_EQ(notes(collector).size(), 1u);
  }
  EXPECT_EQ(budget->used(), 0u) << "given back";
}

std::function<Occupied(const std::string&)> holding(std::map<std::string, Occupied> places) {
  return [places = std::move(places)](const std::string& path) {
    auto found = places.find(path);
    return found == places.end() ? Occupied::no : found->second;
  };
}

TEST(OutputFiles, AnOutputLiesBelowOutputs) {
  EXPECT_EQ(free_output_path("3-1.png", holding({})), "outputs/3-1.png");
  EXPECT_EQ(free_output_path("3-1.png", holding({{"outputs", Occupied::by_folder}})), "outputs/3-1.png");
}

TEST(OutputFiles, ANameThatIsTakenGetsANumber) {
  EXPECT_EQ(free_output_path("3-1.png", holding({{"outputs", Occupied::by_folder},
                                                 {"outputs/3-1.png", Occupied::by_other},
                                                 {"outputs/3-1-2.png", Occupied::by_folder}})),
            "outputs/3-1-3.png");
}

TEST(OutputFiles, AFileNamedOutputsIsLeftAlone) {
  EXPECT_EQ(free_output_path("3-1.png", holding({{"outputs", Occupied::by_other},
                                                 {"outputs-2", Occupied::by_folder},
                                                 {"outputs-2/3-1.png", Occupied::by_other}})),
            "outputs-2/3-1-2.png");
}

}  // namespace
}  // namespace sk::interpreter
