#include "conversations/transcript.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include "support/property.h"

#include "base/error.h"
#include "base/text.h"
#include "conversations/data_uri.h"
#include "conversations/response_stream.h"

namespace sk::conversations {
namespace {

using Kind = Mention::Kind;
using testing::ElementsAre;

Json citation(int start, int end) {
  return {{"type", "container_file_citation"},
          {"container_id", "cntr_1"},
          {"file_id", "cfile_1"},
          {"filename", "out.csv"},
          {"start_index", start},
          {"end_index", end}};
}

Json response(const std::string& text, const Json& annotations) {
  Json call = {{"type", "code_interpreter_call"}, {"id", "ci_1"},    {"status", "completed"},
               {"container_id", "cntr_1"},        {"code", "x = 1"}, {"outputs", nullptr}};
  Json message = {{"type", "message"},
                  {"role", "assistant"},
                  {"content", {{{"type", "output_text"}, {"text", text}, {"annotations", annotations}}}}};
  return {{"id", "resp_1"},
          {"object", "response"},
          {"model", "some-model"},
          {"created_at", 1000},
          {"output", Json::array({call, message})}};
}

TEST(Transcript, OfAResponseJoinsCitationsAndLinks) {
  std::string text = "Größe: [out](sandbox:/mnt/data/out.csv).";
  // The range counts characters, not bytes: "ö" and "ß" are two bytes each.
  auto read = read_response(response(text, Json::array({citation(13, 38)})));
  EXPECT_EQ(read.role, "assistant");
  EXPECT_EQ(read.text, text);
  EXPECT_EQ(read.response_id, "resp_1");
  EXPECT_THAT(read.containers, ElementsAre("cntr_1"));
  ASSERT_EQ(read.mentions.size(), 1u);
  EXPECT_EQ(read.mentions[0].file_id, "cfile_1");
  EXPECT_EQ(read.mentions[0].container, "cntr_1");
  EXPECT_EQ(read.mentions[0].link->address, "sandbox:/mnt/data/out.csv");
}

TEST(Transcript, ACitationKnowsWhereABareAddressWithSpacesEnds) {
  std::string text = "It is sandbox:/mnt/data/my out.csv now";
  auto note = citation(6, 34);
  note["filename"] = "my out.csv";
  auto read = read_response(response(text, Json::array({note})));
  ASSERT_EQ(read.mentions.size(), 1u);
  EXPECT_EQ(read.mentions[0].link->address, "sandbox:/mnt/data/my out.csv");
}

TEST(Transcript, ACitationWithoutARangeIsMatchedByItsName) {
  auto note = citation(0, 0);
  note.erase("start_index");
  note["end_index"] = "seven";
  auto read = read_response(response("[out](sandbox:/mnt/data/out.csv)", Json::array({note})));
  ASSERT_EQ(read.mentions.size(), 1u);
  EXPECT_EQ(read.mentions[0].file_id, "cfile_1");
}

Json named_citation(std::string name, std::string id) {
  auto note = citation(0, 0);
  note["filename"] = std::move(name);
  note["file_id"] = std::move(id);
  return note;
}

std::vector<std::string> file_ids(const Transcript& read) {
  std::vector<std::string> out;
  for (const auto& mention : read.mentions) out.push_back(mention.file_id);
  return out;
}

TEST(Transcript, ACitationIsNotJoinedToALinkIntoAnotherFolder) {
  std::string text = "[a](sandbox:/mnt/data/a/x.csv) [b](sandbox:/mnt/data/b/x.csv)";
  auto placed = named_citation("x.csv", "cfile_a");
  placed["start_index"] = 4;
  placed["end_index"] = 29;
  EXPECT_THAT(file_ids(read_response(response(text, Json::array({placed})))), ElementsAre("cfile_a", ""));
  // Without a place nobody can say which of them it is: both links go by their paths.
  EXPECT_THAT(file_ids(read_response(response(text, Json::array({named_citation("x.csv", "cfile_a")})))),
              ElementsAre("", "", "cfile_a"));
  EXPECT_THAT(file_ids(read_response(response(text, Json::array({named_citation("b/x.csv", "cfile_b")})))),
              ElementsAre("", "cfile_b"));
}

TEST(Transcript, OfTwoCitationsOfOneNameNoneIsGuessed) {
  auto notes = Json::array({named_citation("x.csv", "cfile_1"), named_citation("x.csv", "cfile_2")});
  EXPECT_THAT(file_ids(read_response(response("[a](sandbox:/mnt/data/x.csv)", notes))),
              ElementsAre("", "cfile_1", "cfile_2"));
}

TEST(Transcript, APathThatIsLinkedAgainIsTheSameFile) {
  std::string text = "[out](sandbox:/mnt/data/out.csv) and once more: sandbox:/mnt/data/out.csv";
  EXPECT_THAT(file_ids(read_response(response(text, Json::array({citation(6, 31)})))),
              ElementsAre("cfile_1", "cfile_1"));
  EXPECT_THAT(file_ids(read_response(response(text, Json::array({citation(0, 0)})))),
              ElementsAre("cfile_1", "cfile_1"));
}

TEST(Transcript, ACitationWithoutALinkIsAFileOfItsOwn) {
  auto read = read_response(response("Done.", Json::array({citation(0, 5), citation(0, 5)})));
  ASSERT_EQ(read.mentions.size(), 1u);
  EXPECT_EQ(read.mentions[0].kind, Kind::citation);
  EXPECT_EQ(read.mentions[0].shown_name(), "out.csv");
}

TEST(Transcript, FilePathAnnotationsOfBothApisAreRead) {
  Json path = {{"type", "file_path"}, {"file_id", "file-1"}, {"index", 0}};
  auto read = read_response(response("Done.", Json::array({path})));
  ASSERT_EQ(read.mentions.size(), 1u);
  EXPECT_EQ(read.mentions[0].file_id, "file-1");

  Json assistants = {{"object", "thread.message"},
                     {"role", "assistant"},
                     {"created_at", 5},
                     {"content",
                      {{{"type", "text"},
                        {"text",
                         {{"value", "[x](sandbox:/mnt/data/x.csv)"},
                          {"annotations",
                           {{{"type", "file_path"},
                             {"text", "sandbox:/mnt/data/x.csv"},
                             {"file_path", {{"file_id", "file-2"}}},
                             {"start_index", 4},
                             {"end_index", 27}}}}}}},
                       {{"type", "image_file"}, {"image_file", {{"file_id", "file-3"}}}}}}};
  read = read_response(assistants);
  ASSERT_EQ(read.mentions.size(), 2u);
  EXPECT_EQ(read.mentions[0].file_id, "file-2");
  EXPECT_EQ(read.mentions[1].file_id, "file-3");
  EXPECT_EQ(read.mentions[1].kind, Kind::image);
}

TEST(Transcript, ImagesInOutputsComeAsTheyAre) {
  auto whole = response("Look.", Json::array());
  whole["output"][0]["outputs"] =
      Json::array({{{"type", "logs"}, {"logs", "1"}},
                   {{"type", "image"}, {"url", "data:image/png;base64,AAAA"}},
                   {{"type", "image"}, {"url", "https://cdn.example/x.png?sig=1"}},
                   {{"type", "image"}, {"url", "sandbox:/mnt/data/p.png"}}});
  auto read = read_response(whole);
  ASSERT_EQ(read.mentions.size(), 3u);
  EXPECT_EQ(read.mentions[0].data_uri, "data:image/png;base64,AAAA");
  EXPECT_EQ(read.mentions[1].elsewhere, "https://cdn.example/x.png?sig=1") << "with what it is fetched by";
  EXPECT_EQ(read.mentions[1].file_id.find("sig"), std::string::npos) << "without it for the record";
  EXPECT_EQ(read.mentions[1].shown_name(), "x.png");
  EXPECT_EQ(read.mentions[2].shown_name(), "p.png");
}

TEST(Transcript, EveryAddressOfAnImageBecomesAMention) {
  auto whole = response("Look.", Json::array());
  Json outputs = Json::array();
  for (const char* url :
       {"https://a.example/i?n=1", "https://a.example/i?n=2", "https://a.example/", "blob:x", "x.png",
        "https://keep.example/k/v_00000000000000000000000000000001/p.png?s=2"})
    outputs.push_back({{"type", "image"}, {"url", url}});
  whole["output"][0]["outputs"] = outputs;
  auto read = read_response(whole);
  ASSERT_EQ(read.mentions.size(), outputs.size());
  EXPECT_NE(read.mentions[0].file_id, read.mentions[1].file_id) << "the query alone tells them apart";
  EXPECT_EQ(read.mentions[2].shown_name(), "image");
  EXPECT_EQ(read.mentions[5].file_id, "v_00000000000000000000000000000001") << "a link of our own";
  EXPECT_EQ(read.mentions[5].shown_name(), "p.png");
}

TEST(Transcript, WhatAUserSentAlongIsMentioned) {
  Json message = {
      {"role", "user"},
      {"content",
       Json::array({{{"type", "input_image"}, {"image_url", "https://a.example/1.png"}},
                    {{"type", "input_image"}, {"file_id", "file-1"}},
                    {{"type", "input_file"}, {"file_url", "https://a.example/x"}, {"filename", "data.csv"}},
                    {{"type", "image_url"}, {"image_url", {{"url", "https://a.example/2.png"}}}}})}};
  auto read = read_response(message);
  ASSERT_EQ(read.mentions.size(), 4u);
  EXPECT_EQ(read.mentions[0].elsewhere, "https://a.example/1.png");
  EXPECT_EQ(read.mentions[1].file_id, "file-1");
  EXPECT_EQ(read.mentions[2].kind, Kind::attachment);
  EXPECT_EQ(read.mentions[2].shown_name(), "data.csv");
  EXPECT_EQ(read.mentions[3].kind, Kind::image);
}

std::string sse(const std::vector<Json>& events, const std::string& end = "\n") {
  std::string out;
  for (const auto& event : events)
    out += "event: " + event["type"].get<std::string>() + end + "data: " + event.dump() + end + end;
  return out;
}

std::vector<Json> streamed() {
  auto final = response("", Json::array());
  final["output"] = Json::array();
  Json started = final;
  started["status"] = "in_progress";
  return {{{"type", "response.created"}, {"response", started}},
          {{"type", "response.output_item.added"},
           {"output_index", 0},
           {"item", {{"type", "code_interpreter_call"}, {"container_id", "cntr_1"}}}},
          {{"type", "response.output_item.added"},
           {"output_index", 1},
           {"item", {{"type", "message"}, {"role", "assistant"}, {"content", Json::array()}}}},
          {{"type", "response.output_text.delta"},
           {"output_index", 1},
           {"content_index", 0},
           {"delta", "[out](sandbox:/mnt/"}},
          {{"type", "response.output_text.delta"},
           {"output_index", 1},
           {"content_index", 0},
           {"delta", "data/out.csv)"}},
          {{"type", "response.output_text.annotation.added"},
           {"output_index", 1},
           {"content_index", 0},
           {"annotation_index", 0},
           {"annotation", citation(6, 31)}}};
}

TEST(Transcript, OfAnEventStreamHasTheStreamedAnnotations) {
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    auto read = read_event_stream(sse(streamed(), end));
    EXPECT_EQ(read.text, "[out](sandbox:/mnt/data/out.csv)");
    ASSERT_EQ(read.mentions.size(), 1u);
    EXPECT_EQ(read.mentions[0].file_id, "cfile_1");
    EXPECT_THAT(read.containers, ElementsAre("cntr_1"));
  }
}

TEST(Transcript, AnnotationsThatTheFinalResponseLacksAreTakenFromTheStream) {
  auto events = streamed();
  auto final = response("[out](sandbox:/mnt/data/out.csv)", Json::array());
  final["completed_at"] = 1700000000;
  events.push_back({{"type", "response.completed"}, {"response", final}});
  auto read = read_event_stream(sse(events) + "data: [DONE]\n\n");
  EXPECT_EQ(read.text, "[out](sandbox:/mnt/data/out.csv)");
  ASSERT_EQ(read.mentions.size(), 1u);
  EXPECT_EQ(read.mentions[0].file_id, "cfile_1");
  EXPECT_EQ(read.completed_us, 1'700'000'000'999'999);
}

TEST(Transcript, AStreamThatIsCutAnywhereStillGivesWhatCame) {
  auto whole = sse(streamed());
  for (size_t size = whole.find("\n\n") + 1; size <= whole.size(); ++size) {
    auto read = read_event_stream(whole.substr(0, size));
    EXPECT_TRUE(std::string("[out](sandbox:/mnt/data/out.csv)").starts_with(read.text));
  }
}

TEST(Transcript, OfChatCompletionsIsReadWholeAndStreamed) {
  Json chat = {{"object", "chat.completion"},
               {"choices", {{{"index", 0}, {"message", {{"role", "assistant"}, {"content", "hi"}}}}}}};
  EXPECT_EQ(read_response(chat).text, "hi");
  auto chunk = [](const std::string& text) {
    return "data: " + Json{{"choices", {{{"index", 0}, {"delta", {{"content", text}}}}}}}.dump() + "\n\n";
  };
  EXPECT_EQ(read_event_stream(chunk("a ") + chunk("b")).text, "a b");
}

TEST(Transcript, WhatIsNoResponseIsRefused) {
  EXPECT_THROW(read_response(Json::object()), Error);
  EXPECT_THROW(read_response(Json("text")), Error);
  EXPECT_THROW(read_event_stream("hello"), Error);
  EXPECT_THROW(read_event_stream(""), Error);
}

TEST(Transcript, TooManyLinksAreRefused) {
  std::string text;
  for (size_t i = 0; i <= kMentionsMax; ++i) text += "[a](sandbox:/mnt/data/a) ";
  EXPECT_THROW(read_plain_text(text), Error);
}

// Any JSON in any place of a response may be missing or of another type.
Json distorted(const Json& value, uint32_t& seed) {
  seed = seed * 1664525 + 1013904223;
  switch (seed >> 28) {
    case 0:
      return nullptr;
    case 1:
      return "text";
    case 2:
      return -1;
    case 3:
      return Json::array({1, nullptr, Json::object()});
    default:
      break;
  }
  Json out = value;
  if (out.is_structured())
    for (auto& child : out) child = distorted(child, seed);
  return out;
}

TEST(Transcript, WhateverIsMissingOrOfAnotherTypeIsPassedOver) {
  auto whole = response("[out](sandbox:/mnt/data/out.csv)", Json::array({citation(6, 31)}));
  EXPECT_TRUE(test::check_property("only Error is thrown", [&](uint32_t seed) {
    auto some = distorted(whole, seed);
    auto events = streamed();
    for (auto& event : events) event = distorted(event, seed);
    std::string stream;
    for (const auto& event : events) stream += "data: " + event.dump() + "\n\n";
    for (auto read : {+[](const Json& json, const std::string&) { return read_response(json); },
                      +[](const Json&, const std::string& text) { return read_event_stream(text); }}) {
      try {
        RC_ASSERT(is_utf8(read(some, stream).text));
      } catch (const Error&) {
      }
    }
  }));
}

TEST(DataUri, IsReadAsBrowsersDo) {
  EXPECT_EQ(parse_data_uri("data:image/png;base64,iVBO")->mime, "image/png");
  EXPECT_EQ(parse_data_uri("data:image/png;base64,iVBO")->bytes, *from_base64("iVBO"));
  EXPECT_EQ(parse_data_uri("DATA:image/png;charset=x;base64,iV\nA=")->bytes, *from_base64("iVA="));
  EXPECT_EQ(parse_data_uri("data:,a%20b")->bytes, "a b");
  EXPECT_EQ(parse_data_uri("data:,a%20b")->mime, "text/plain");
  for (std::string_view bad :
       {"", "data:", "data:image/png;base64,@@", "image/png", "data:no mime,x", "data:,%zz"})
    EXPECT_FALSE(parse_data_uri(bad)) << bad;
}

TEST(DataUri, AnyBytesComeBack) {
  EXPECT_TRUE(test::check_property("parse(print(bytes)) == bytes", [](const std::string& bytes) {
    auto parsed = parse_data_uri("data:application/x-any;base64," + to_base64(as_bytes(bytes)));
    RC_ASSERT(parsed.has_value());
    RC_ASSERT(parsed->bytes == bytes);
  }));
}

}  // namespace
}  // namespace sk::conversations
