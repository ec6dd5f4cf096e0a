#include "http/range.h"

#include <gtest/gtest.h>
#include "support/property.h"

#include "base/text.h"

namespace sk::http {
namespace {

using Kind = RangeChoice::Kind;

struct Case {
  std::string header;
  uint64_t size;
  Kind kind;
  uint64_t first = 0, count = 0;
};

TEST(Range, ChoosesAsTheStandardSays) {
  for (const auto& c : std::vector<Case>{
           {"bytes=0-99", 1000, Kind::partial, 0, 100},
           {"bytes=0-", 1000, Kind::partial, 0, 1000},
           {"bytes=-1", 1000, Kind::partial, 999, 1},
           {"bytes=-5000", 1000, Kind::partial, 0, 1000},
           {"bytes=999-2000", 1000, Kind::partial, 999, 1},
           {"bytes = 5 - 6", 1000, Kind::partial, 5, 2},
           {"Bytes=5-6", 1000, Kind::partial, 5, 2},
           {"bytes=1000-", 1000, Kind::unsatisfiable},
           {"bytes=-0", 1000, Kind::unsatisfiable},
           {"bytes=0-", 0, Kind::unsatisfiable},
           {"bytes=-1", 0, Kind::unsatisfiable},
           {"bytes=5-2", 1000, Kind::unsatisfiable},
           {"bytes=-5-2", 1000, Kind::unsatisfiable},
           {"bytes=--5", 1000, Kind::unsatisfiable},
           {"bytes=a-b", 1000, Kind::unsatisfiable},
           {"bytes=", 1000, Kind::unsatisfiable},
           {"bytes=-", 1000, Kind::unsatisfiable},
           {"bytes=99999999999999999999-", 1000, Kind::unsatisfiable},
           {"bytes=0-18446744073709551615", 1000, Kind::partial, 0, 1000},
           {"bytes=0-18446744073709551616", 1000, Kind::partial, 0, 1000},
           {"bytes=7-99999999999999999999999999999999", 1000, Kind::partial, 7, 993},
           {"bytes=-99999999999999999999999999999999", 1000, Kind::partial, 0, 1000},
           {"bytes=99999999999999999999-99999999999999999999", 1000, Kind::unsatisfiable},
           {"bytes=0-9999999999999999999999x", 1000, Kind::unsatisfiable},
           {"bytes=0-1,2-3", 1000, Kind::partial, 0, 4},
           {"bytes=2-3,0-5", 1000, Kind::partial, 0, 6},
           {"bytes=0-1,5-6", 1000, Kind::whole},
           {"bytes=0-1,2000-", 1000, Kind::partial, 0, 2},
           {"pages=1-2", 1000, Kind::whole},
           {"nonsense", 1000, Kind::whole},
       }) {
    auto choice = choose_range(c.header, c.size);
    EXPECT_EQ(choice.kind, c.kind) << c.header;
    if (c.kind != Kind::partial) continue;
    EXPECT_EQ(choice.range.first, c.first) << c.header;
    EXPECT_EQ(choice.range.size, c.count) << c.header;
  }
  EXPECT_EQ(choose_range(std::nullopt, 10).kind, Kind::whole);
}

TEST(Range, WritesContentRange) {
  EXPECT_EQ(content_range({0, 100}, 1000), "bytes 0-99/1000");
  EXPECT_EQ(content_range_unsatisfiable(1000), "bytes */1000");
}

TEST(Range, StaysInsideTheSizeWhateverIsAsked) {
  bool holds = test::check_property("a partial range is inside", [](uint64_t first, uint64_t last,
                                                                    uint64_t size) {
    for (const auto& header : {"bytes=" + std::to_string(first) + "-" + std::to_string(last),
                               "bytes=" + std::to_string(first) + "-", "bytes=-" + std::to_string(last)}) {
      auto choice = choose_range(header, size);
      if (choice.kind != Kind::partial) continue;
      RC_ASSERT(choice.range.size > 0u);
      RC_ASSERT(choice.range.first < size);
      RC_ASSERT(choice.range.size <= size - choice.range.first);
    }
  });
  EXPECT_TRUE(holds);
}

TEST(Range, OfOneRangeGivesExactlyTheBytesOfAPlainModel) {
  bool holds = test::check_property("as the model", [] {
    auto size = *rc::gen::inRange<uint64_t>(0, 50);
    auto first = *rc::gen::inRange<uint64_t>(0, 60);
    auto last = *rc::gen::inRange<uint64_t>(0, 60);
    std::string expected, got;
    for (uint64_t i = first; i <= last && i < size; ++i) expected += static_cast<char>(i);
    auto choice = choose_range("bytes=" + std::to_string(first) + "-" + std::to_string(last), size);
    if (choice.kind == Kind::partial)
      for (uint64_t i = 0; i < choice.range.size; ++i) got += static_cast<char>(choice.range.first + i);
    RC_ASSERT(got == expected);
  });
  EXPECT_TRUE(holds);
}

}  // namespace
}  // namespace sk::http
