// Counters, gauges and histograms for /metrics. Components create their metrics once, in their constructor,
// and then update them without a lock.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"

namespace sk {

using Labels = std::vector<std::pair<std::string, std::string>>;

class Counter {
 public:
  void add(uint64_t by = 1) { value_.fetch_add(by, std::memory_order_relaxed); }
  uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

class Gauge {
 public:
  void set(int64_t value) { value_.store(value, std::memory_order_relaxed); }
  void add(int64_t by) { value_.fetch_add(by, std::memory_order_relaxed); }
  int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> value_{0};
};

// Distribution of durations in seconds, with buckets from 100 µs to 100 s.
class Histogram {
 public:
  static constexpr std::array<double, 13> kBounds = {0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1,
                                                     0.3,    1,      3,     10,    30,   100};
  void observe_us(int64_t us);

 private:
  friend class Metrics;
  std::array<std::atomic<uint64_t>, kBounds.size() + 1> buckets_{};
  std::atomic<uint64_t> count_{0};
  std::atomic<int64_t> sum_us_{0};
};

using HistogramCounts = std::array<uint64_t, Histogram::kBounds.size() + 1>;

// Returns the duration, in seconds, below which that part of the observations lies, interpolated within its
// bucket. nullopt without observations. Durations above the last bound count as that bound.
std::optional<double> quantile(const HistogramCounts& counts, double part);

// One value of a family of gauges that is written as text, without a registry. For labels that come and go,
// which a registry would keep forever.
struct GaugeRow {
  Labels labels;
  double value = 0;
};
// Appends the family in the Prometheus text format.
void append_gauges(std::string& out, std::string_view name, std::string_view help,
                   const std::vector<GaugeRow>& rows);

// Registry and owner of all metrics. Requests with the same name and labels return the same object.
// Thread-safe. Returned references live as long as the registry.
class Metrics {
 public:
  Counter& counter(std::string_view name, std::string_view help, const Labels& labels = {});
  Gauge& gauge(std::string_view name, std::string_view help, const Labels& labels = {});
  Histogram& histogram(std::string_view name, std::string_view help, const Labels& labels = {});
  // Registers a callback that runs before each render(). Use it to set gauges that are cheaper to compute on
  // demand than to maintain.
  void before_render(std::function<void()> refresh);
  // Returns the counts of all histograms of that name together, by bucket of Histogram::kBounds and the one
  // above. Zeros when there is none.
  HistogramCounts histogram_counts(std::string_view name) const;
  // Renders all metrics in the Prometheus text format 0.0.4.
  std::string render();

 private:
  template <class T>
  struct Family {
    std::string help;
    std::map<std::string, T*> members;  // keyed by rendered labels
  };
  mutable Mutex mutex_;  // the metrics themselves are atomic
  std::deque<Counter> counters_ SK_GUARDED_BY(mutex_);
  std::deque<Gauge> gauges_ SK_GUARDED_BY(mutex_);
  std::deque<Histogram> histograms_ SK_GUARDED_BY(mutex_);
  std::map<std::string, Family<Counter>, std::less<>> counter_families_ SK_GUARDED_BY(mutex_);
  std::map<std::string, Family<Gauge>, std::less<>> gauge_families_ SK_GUARDED_BY(mutex_);
  std::map<std::string, Family<Histogram>, std::less<>> histogram_families_ SK_GUARDED_BY(mutex_);
  std::vector<std::function<void()>> refreshers_ SK_GUARDED_BY(mutex_);
};

}  // namespace sk
