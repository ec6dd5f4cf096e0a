#include "base/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace sk {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Metrics, ACounterIsRenderedWithHelpTypeAndValue) {
  Metrics metrics;
  metrics.counter("sandkeep_puts_total", "Files put.").add(3);
  EXPECT_EQ(metrics.render(),
            "# HELP sandkeep_puts_total Files put.\n"
            "# TYPE sandkeep_puts_total counter\n"
            "sandkeep_puts_total 3\n");
}

TEST(Metrics, MembersOfAFamilyShareOneHeader) {
  Metrics metrics;
  metrics.counter("requests", "All.", {{"method", "GET"}}).add();
  metrics.counter("requests", "All.", {{"method", "PUT"}}).add(2);
  EXPECT_EQ(metrics.render(),
            "# HELP requests All.\n"
            "# TYPE requests counter\n"
            "requests{method=\"GET\"} 1\n"
            "requests{method=\"PUT\"} 2\n");
}

TEST(Metrics, TheSameNameAndLabelsGiveTheSameMetric) {
  Metrics metrics;
  auto& first = metrics.gauge("open", "Open.", {{"kind", "file"}});
  EXPECT_EQ(&first, &metrics.gauge("open", "Open.", {{"kind", "file"}}));
  EXPECT_NE(&first, &metrics.gauge("open", "Open.", {{"kind", "socket"}}));
}

TEST(Metrics, LabelValuesAreEscaped) {
  Metrics metrics;
  metrics.counter("c", "h", {{"path", "a\"b\\c\nd"}}).add();
  EXPECT_THAT(metrics.render(), HasSubstr(R"(c{path="a\"b\\c\nd"} 1)"));
}

TEST(Metrics, GaugesGoDownToo) {
  Metrics metrics;
  auto& gauge = metrics.gauge("g", "h");
  gauge.add(5);
  gauge.add(-7);
  EXPECT_THAT(metrics.render(), HasSubstr("\ng -2\n"));
}

TEST(Metrics, HistogramBucketsAreCumulativeAndIncludeTheirBound) {
  Metrics metrics;
  auto& histogram = metrics.histogram("t", "h", {{"op", "put"}});
  histogram.observe_us(1'000);        // exactly the bound 0.001
  histogram.observe_us(2'000'000);    // 2 s
  histogram.observe_us(500'000'000);  // beyond all bounds
  auto text = metrics.render();
  EXPECT_THAT(text, HasSubstr("# TYPE t histogram\n"));
  EXPECT_THAT(text, HasSubstr("t_bucket{op=\"put\",le=\"0.0003\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("t_bucket{op=\"put\",le=\"0.001\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("t_bucket{op=\"put\",le=\"3\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("t_bucket{op=\"put\",le=\"100\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("t_bucket{op=\"put\",le=\"+Inf\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("t_sum{op=\"put\"} 502.001\n"));
  EXPECT_THAT(text, HasSubstr("t_count{op=\"put\"} 3\n"));
}

TEST(Metrics, GaugesCanBeRefreshedJustBeforeRendering) {
  Metrics metrics;
  auto& gauge = metrics.gauge("g", "h");
  int asked = 0;
  metrics.before_render([&] { gauge.set(++asked); });
  EXPECT_THAT(metrics.render(), HasSubstr("g 1\n"));
  EXPECT_THAT(metrics.render(), HasSubstr("g 2\n"));
}

TEST(Metrics, ARefresherMayMakeAMetric) {
  Metrics metrics;
  EXPECT_THAT(metrics.render(), Not(HasSubstr("late")));
  metrics.before_render([&] { metrics.gauge("late", "h").set(1); });
  EXPECT_THAT(metrics.render(), HasSubstr("late 1\n"));
}

TEST(Metrics, ThreadsLoseNoIncrement) {
  Metrics metrics;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 10'000; ++i) metrics.counter("c", "h").add();
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(metrics.counter("c", "h").value(), 40'000u);
}

TEST(Metrics, HistogramsOfOneNameAreAddedUp) {
  Metrics metrics;
  metrics.histogram("seconds", "Time.", {{"route", "a"}}).observe_us(2'000);
  metrics.histogram("seconds", "Time.", {{"route", "b"}}).observe_us(2'500);
  metrics.histogram("seconds", "Time.", {{"route", "b"}}).observe_us(200'000'000);
  metrics.histogram("others", "Time.").observe_us(2'000);
  auto counts = metrics.histogram_counts("seconds");
  EXPECT_EQ(counts[3], 2u) << "between 1 and 3 ms";
  EXPECT_EQ(counts.back(), 1u) << "above the last bound";
  EXPECT_EQ(metrics.histogram_counts("nothing"), HistogramCounts{});
}

TEST(Metrics, AQuantileIsInterpolatedInItsBucket) {
  HistogramCounts counts{};
  EXPECT_EQ(quantile(counts, 0.5), std::nullopt);
  counts[3] = 10;  // between 1 and 3 ms
  EXPECT_NEAR(*quantile(counts, 0.5), 0.002, 1e-9);
  EXPECT_NEAR(*quantile(counts, 1.0), 0.003, 1e-9);
  counts[3] = 99;
  counts.back() = 1;
  EXPECT_LT(*quantile(counts, 0.5), 0.003);
  EXPECT_EQ(*quantile(counts, 0.999), Histogram::kBounds.back());
}

TEST(Metrics, GaugesThatComeAndGoAreWrittenAsText) {
  std::string out;
  append_gauges(out, "used_bytes", "Used.", {{{{"name", "a\"b"}}, 1e12}, {{{"name", "c"}}, 0.5}});
  append_gauges(out, "none", "None.", {});
  EXPECT_EQ(out,
            "# HELP used_bytes Used.\n"
            "# TYPE used_bytes gauge\n"
            "used_bytes{name=\"a\\\"b\"} 1000000000000\n"
            "used_bytes{name=\"c\"} 0.5\n");
}

}  // namespace
}  // namespace sk
