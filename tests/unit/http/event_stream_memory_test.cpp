// Streams whose clients do not read: what is not sent yet has one budget, in which each client has its part.
#include <gtest/gtest.h>

#include "http/event_stream.h"

namespace sk::http {
namespace {

class EventStreamMemory : public ::testing::Test {
 protected:
  static constexpr size_t kStreamMax = 1 << 20;
  bool send(EventStream& stream, size_t bytes) { return stream.send({{}, {}, std::string(bytes, 'x')}); }
  void drain(EventStream& stream) {
    std::vector<char> out(32 << 10);
    auto no_park = [] { return true; };
    while (stream.impl().take(out, no_park, [] {}).kind == EventStream::Impl::Taken::Kind::bytes) {
    }
  }

  Metrics metrics;
  Gauge& in_use = metrics.gauge("in_use", "");
  MemoryBudget budget{1 << 20, in_use};
};

TEST_F(EventStreamMemory, ASmallBacklogIsNotCounted) {
  EventStream stream;
  stream.impl().begin(budget, "a", kStreamMax);
  EXPECT_TRUE(send(stream, 60 << 10));
  EXPECT_EQ(in_use.value(), 0);
  stream.impl().break_off();
}

TEST_F(EventStreamMemory, StreamsOfOneClientShareItsPartAndTheLastIsClosed) {
  EventStream first, second, theirs;
  first.impl().begin(budget, "a", kStreamMax);
  second.impl().begin(budget, "a", kStreamMax);
  theirs.impl().begin(budget, "b", kStreamMax);
  EXPECT_TRUE(send(first, 300 << 10));
  EXPECT_FALSE(send(second, 300 << 10));
  EXPECT_TRUE(second.closed()) << "its client resumes where it was";
  EXPECT_FALSE(first.closed());
  EXPECT_TRUE(send(theirs, 300 << 10)) << "it is not their fault";
  drain(first);
  EXPECT_TRUE(send(first, 300 << 10)) << "what was sent is free again";
  for (auto* one : {&first, &second, &theirs}) one->impl().break_off();
  EXPECT_EQ(in_use.value(), 0);
}

TEST_F(EventStreamMemory, WhatWasSentBeforeTheConnectionTookItCounts) {
  EventStream first, second;
  EXPECT_TRUE(send(first, 400 << 10) && send(second, 400 << 10));
  first.impl().begin(budget, "a", kStreamMax);
  second.impl().begin(budget, "a", kStreamMax);
  EXPECT_FALSE(first.closed());
  EXPECT_TRUE(second.closed());
  first.impl().break_off();
  second.impl().break_off();
  EXPECT_EQ(in_use.value(), 0);
}

}  // namespace
}  // namespace sk::http
