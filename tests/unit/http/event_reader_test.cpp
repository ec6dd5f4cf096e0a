#include "http/event_reader.h"

#include <gtest/gtest.h>

#include <vector>

namespace sk::http {
namespace {

// The events as "id|name|data", read in pieces of `size` bytes.
std::vector<std::string> read_in_pieces(std::string_view text, size_t size) {
  std::vector<std::string> out;
  EventReader reader([&](const EventReader::Event& event) {
    out.push_back(event.id + "|" + event.name + "|" + event.data);
  });
  for (size_t at = 0; at < text.size(); at += size) reader.add(text.substr(at, size));
  reader.end();
  return out;
}

using Texts = std::vector<std::string>;

TEST(EventReader, ReadsTheSameInPiecesOfAnySize) {
  constexpr std::string_view kStream =
      "\xef\xbb\xbf: a comment\nretry: 5\n\nid: 7\nevent: output\ndata: one\ndata: "
      "two\n\ndata:three\r\n\r\ndata: four\r\r";
  for (size_t size = 1; size <= kStream.size(); ++size)
    EXPECT_EQ(read_in_pieces(kStream, size), Texts({"7|output|one\ntwo", "7||three", "7||four"})) << size;
}

TEST(EventReader, RemovesOneSpaceAndKeepsTheOthers) {
  EXPECT_EQ(read_in_pieces("data:  a \n\ndata\n\n", 4), Texts({"|| a ", "||"}));
}

TEST(EventReader, ReportsNoEventWithoutData) {
  EXPECT_EQ(read_in_pieces("event: ping\n\nid: 3\n\ndata: x\n\n", 100), Texts({"3||x"}));
}

TEST(EventReader, ALastEventWithoutItsEmptyLineCounts) {
  EXPECT_EQ(read_in_pieces("data: a\n\nevent: cut\ndata: {\"te", 3), Texts({"||a", "|cut|{\"te"}));
}

TEST(EventReader, ReportsAnEventAsSoonAsItsEmptyLineArrives) {
  size_t count = 0;
  EventReader reader([&](const EventReader::Event&) { ++count; });
  reader.add("data: a\r\n\r");
  EXPECT_EQ(count, 1u);
  reader.add("\n");
  EXPECT_EQ(count, 1u);
}

}  // namespace
}  // namespace sk::http
