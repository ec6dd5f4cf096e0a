#include "base/id.h"

#include <gtest/gtest.h>
#include "support/property.h"

#include <algorithm>
#include <set>
#include <thread>
#include <vector>

namespace sk {
namespace {

constexpr TimeUs kStart = 1'760'000'000'000'000;

Id any_id() {
  auto raw = *rc::gen::container<std::string>(16, rc::gen::arbitrary<char>());
  raw[0] = static_cast<char>(raw[0] & 0x3F);
  return Id::from_raw(raw);
}

TEST(Id, IdsMadeWhileTheClockStandsStillGrow) {
  ManualClock clock(kStart);
  IdMaker maker(clock);
  std::vector<Id> ids;
  for (int i = 0; i < 50'000; ++i) ids.push_back(maker.next());
  EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end(), std::greater_equal<>()), ids.end());
}

TEST(Id, IdsGrowWhenTheClockStepsBack) {
  ManualClock clock(kStart);
  IdMaker maker(clock);
  Id before = maker.next();
  clock.advance_us(-3600 * kSecondUs);
  EXPECT_LT(before, maker.next());
}

TEST(Id, AnIdTellsWhenItWasMade) {
  ManualClock clock(kStart + 1'234'567);
  IdMaker maker(clock);
  EXPECT_EQ(maker.next().time_us(), kStart + 1'234'000);
}

TEST(Id, HexTextSortsAsTheIdsDo) {
  ManualClock clock(kStart);
  IdMaker maker(clock);
  Id first = maker.next();
  clock.advance_us(kMillisecondUs);
  EXPECT_LT(first.hex(), maker.next().hex());
}

TEST(Id, ThreadsNeverGetTheSameId) {
  SystemClock clock;
  IdMaker maker(clock);
  std::vector<std::vector<Id>> made(4);
  std::vector<std::thread> threads;
  for (auto& mine : made)
    threads.emplace_back([&mine, &maker] {
      for (int i = 0; i < 2'000; ++i) mine.push_back(maker.next());
    });
  for (auto& thread : threads) thread.join();
  std::set<Id> all;
  for (const auto& mine : made) {
    EXPECT_TRUE(std::is_sorted(mine.begin(), mine.end()));
    all.insert(mine.begin(), mine.end());
  }
  EXPECT_EQ(all.size(), 8'000u);
}

TEST(Id, TheZeroIdMeansNone) {
  EXPECT_FALSE(Id{});
  ManualClock clock(kStart);
  EXPECT_TRUE(IdMaker(clock).next());
}

RC_GTEST_PROP(IdProperty, EveryFormReadsBackAsTheSameId, ()) {
  Id id = any_id();
  RC_ASSERT(Id::from_hex(id.hex()) == id);
  RC_ASSERT(Id::from_base64url21(id.base64url21()) == id);
  RC_ASSERT(Id::from_prefixed(id.with_prefix("cfile_"), "cfile_") == id);
  RC_ASSERT(Id::from_raw(id.raw()) == id);
}

RC_GTEST_PROP(IdProperty, EveryBase64Url21TextThatIsAcceptedIsCanonical, ()) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  auto text = *rc::gen::container<std::string>(21, rc::gen::elementOf(std::string(kAlphabet)));
  auto id = Id::from_base64url21(text);
  RC_ASSERT(id.has_value());
  RC_ASSERT(id->base64url21() == text);
}

TEST(Id, RefusesWhatIsNotExactlyTheForm) {
  std::string good = "0199a3c0d4e5f60718293a4b5c6d7e8f";
  ASSERT_TRUE(Id::from_hex(good));
  EXPECT_FALSE(Id::from_hex(""));
  EXPECT_FALSE(Id::from_hex(good.substr(1)));
  EXPECT_FALSE(Id::from_hex(good + "0"));
  EXPECT_FALSE(Id::from_hex("0199A3C0D4E5F60718293A4B5C6D7E8F"))
      << "capitals would give one id two spellings";
  EXPECT_FALSE(Id::from_hex("4199a3c0d4e5f60718293a4b5c6d7e8f"))
      << "the two highest bits are not part of an id";
  EXPECT_FALSE(Id::from_hex("g199a3c0d4e5f60718293a4b5c6d7e8f"));
  EXPECT_FALSE(Id::from_prefixed("file-" + good, "cfile_"));
  EXPECT_FALSE(Id::from_prefixed(good, "v_"));
  EXPECT_FALSE(Id::from_base64url21(std::string(20, 'A')));
  EXPECT_FALSE(Id::from_base64url21(std::string(22, 'A')));
  EXPECT_FALSE(Id::from_base64url21(std::string(20, 'A') + "+"));
}

}  // namespace
}  // namespace sk
