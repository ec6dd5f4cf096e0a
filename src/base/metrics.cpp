#include "base/metrics.h"

#include <cstdio>

namespace sk {

namespace {

std::string render_labels(const Labels& labels) {
  std::string out;
  for (const auto& [name, value] : labels) {
    if (!out.empty()) out += ",";
    out += name + "=\"";
    for (char c : value) {
      if (c == '\\' || c == '"') out += '\\';
      if (c == '\n')
        out += "\\n";
      else
        out += c;
    }
    out += "\"";
  }
  return out;
}

std::string braced(const std::string& labels) { return labels.empty() ? "" : "{" + labels + "}"; }

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

// Bytes of a disk need more digits than durations.
std::string exact_number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.15g", value);
  return text;
}

template <class Family, class Store>
auto& find_or_make(std::map<std::string, Family, std::less<>>& families, Store& store, std::string_view name,
                   std::string_view help, const Labels& labels) {
  auto& family = families[std::string(name)];
  family.help = help;
  auto& member = family.members[render_labels(labels)];
  if (member == nullptr) member = &store.emplace_back();
  return *member;
}

void header(std::string& out, const std::string& name, const std::string& help, std::string_view type) {
  out += "# HELP " + name + " " + help + "\n# TYPE " + name + " " + std::string(type) + "\n";
}

}  // namespace

void Histogram::observe_us(int64_t us) {
  double seconds = static_cast<double>(us) / 1e6;
  size_t bucket = 0;
  while (bucket < kBounds.size() && seconds > kBounds[bucket]) ++bucket;
  buckets_[bucket].fetch_add(1, std::memory_order_relaxed);
  count_.fetch_add(1, std::memory_order_relaxed);
  sum_us_.fetch_add(us, std::memory_order_relaxed);
}

std::optional<double> quantile(const HistogramCounts& counts, double part) {
  uint64_t all = 0;
  for (uint64_t count : counts) all += count;
  if (all == 0) return std::nullopt;
  double wanted = part * static_cast<double>(all);
  double before = 0;
  for (size_t i = 0; i < Histogram::kBounds.size(); ++i) {
    auto here = static_cast<double>(counts[i]);
    if (here > 0 && before + here >= wanted) {
      double low = i == 0 ? 0 : Histogram::kBounds[i - 1];
      return low + (Histogram::kBounds[i] - low) * (wanted - before) / here;
    }
    before += here;
  }
  return Histogram::kBounds.back();
}

void append_gauges(std::string& out, std::string_view name, std::string_view help,
                   const std::vector<GaugeRow>& rows) {
  if (rows.empty()) return;
  header(out, std::string(name), std::string(help), "gauge");
  for (const auto& row : rows)
    out += std::string(name) + braced(render_labels(row.labels)) + " " + exact_number(row.value) + "\n";
}

HistogramCounts Metrics::histogram_counts(std::string_view name) const {
  MutexLock lock(mutex_);
  HistogramCounts out{};
  auto found = histogram_families_.find(name);
  if (found == histogram_families_.end()) return out;
  for (const auto& [labels, member] : found->second.members)
    for (size_t i = 0; i < out.size(); ++i) out[i] += member->buckets_[i].load(std::memory_order_relaxed);
  return out;
}

Counter& Metrics::counter(std::string_view name, std::string_view help, const Labels& labels) {
  MutexLock lock(mutex_);
  return find_or_make(counter_families_, counters_, name, help, labels);
}

Gauge& Metrics::gauge(std::string_view name, std::string_view help, const Labels& labels) {
  MutexLock lock(mutex_);
  return find_or_make(gauge_families_, gauges_, name, help, labels);
}

Histogram& Metrics::histogram(std::string_view name, std::string_view help, const Labels& labels) {
  MutexLock lock(mutex_);
  return find_or_make(histogram_families_, histograms_, name, help, labels);
}

void Metrics::before_render(std::function<void()> refresh) {
  MutexLock lock(mutex_);
  refreshers_.push_back(std::move(refresh));
}

std::string Metrics::render() {
  std::vector<std::function<void()>> refreshers;
  {
    MutexLock lock(mutex_);
    refreshers = refreshers_;
  }
  for (auto& refresh : refreshers) refresh();
  MutexLock lock(mutex_);
  std::string out;
  for (const auto& [name, family] : counter_families_) {
    header(out, name, family.help, "counter");
    for (const auto& [labels, member] : family.members)
      out += name + braced(labels) + " " + std::to_string(member->value()) + "\n";
  }
  for (const auto& [name, family] : gauge_families_) {
    header(out, name, family.help, "gauge");
    for (const auto& [labels, member] : family.members)
      out += name + braced(labels) + " " + std::to_string(member->value()) + "\n";
  }
  for (const auto& [name, family] : histogram_families_) {
    header(out, name, family.help, "histogram");
    for (const auto& [labels, member] : family.members) {
      uint64_t cumulative = 0;
      std::string comma = labels.empty() ? "" : ",";
      for (size_t i = 0; i <= Histogram::kBounds.size(); ++i) {
        cumulative += member->buckets_[i].load(std::memory_order_relaxed);
        std::string bound = i < Histogram::kBounds.size() ? number(Histogram::kBounds[i]) : "+Inf";
        out +=
            name + "_bucket{" + labels + comma + "le=\"" + bound + "\"} " + std::to_string(cumulative) + "\n";
      }
      out += name + "_sum" + braced(labels) + " " +
             number(static_cast<double>(member->sum_us_.load()) / 1e6) + "\n";
      out += name + "_count" + braced(labels) + " " + std::to_string(member->count_.load()) + "\n";
    }
  }
  return out;
}

}  // namespace sk
