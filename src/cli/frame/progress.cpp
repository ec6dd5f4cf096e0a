#include "cli/frame/progress.h"

#include <chrono>
#include <cmath>
#include <cstdio>

#include "base/text.h"
#include "cli/frame/columns.h"
#include "cli/frame/when.h"

namespace sk::cli {

namespace {

constexpr int64_t kWindowUs = 5'000'000;
constexpr int64_t kSettledUs = 500'000;  // earlier rates are noise

int64_t steady_now_us() {
  using namespace std::chrono;
  return duration_cast<microseconds>(steady_clock::now().time_since_epoch()).count();
}

std::string bar(double fraction, size_t width, bool utf8) {
  auto filled = static_cast<size_t>(std::lround(fraction * static_cast<double>(width)));
  std::string out = "[";
  for (size_t i = 0; i < width; ++i) out += i < filled ? (utf8 ? "█" : "#") : (utf8 ? "░" : ".");
  return out + "]";
}

double fraction_of(const ProgressState& state) {
  if (!state.bytes_total) return 0;
  if (*state.bytes_total == 0)
    return state.files_total == 0
               ? 1
               : static_cast<double>(state.files_done) / static_cast<double>(state.files_total);
  return std::min(1.0, static_cast<double>(state.bytes_done) / static_cast<double>(*state.bytes_total));
}

std::string time_left(const ProgressState& state) {
  if (!state.bytes_total || !state.bytes_per_s || *state.bytes_per_s < 1) return "";
  if (state.bytes_done >= *state.bytes_total) return "";
  auto seconds = static_cast<double>(*state.bytes_total - state.bytes_done) / *state.bytes_per_s;
  constexpr double kTooLongToSay = 100.0 * 86'400;
  if (seconds > kTooLongToSay) return "";
  return human_duration(static_cast<int64_t>(std::ceil(seconds))) + " left";
}

}  // namespace

std::string format_progress(const ProgressState& state, size_t width, bool utf8) {
  // Parts in reading order; `rank` is their priority on a narrow terminal.
  struct Part {
    std::string text;
    int rank;
  };
  std::vector<Part> parts = {{state.label, 0}};
  if (state.bytes_total) {
    char percent[8];
    std::snprintf(percent, sizeof percent, "%3d%%", static_cast<int>(fraction_of(state) * 100));
    parts.push_back({percent, 1});
    parts.push_back({human_size(state.bytes_done) + " of " + human_size(*state.bytes_total), 4});
  } else {
    parts.push_back({human_size(state.bytes_done), 1});
  }
  if (state.bytes_per_s) parts.push_back({human_size(static_cast<uint64_t>(*state.bytes_per_s)) + "/s", 2});
  if (auto left = time_left(state); !left.empty()) parts.push_back({left, 3});
  if (state.files_total > 1)
    parts.push_back(
        {std::to_string(state.files_done) + "/" + std::to_string(state.files_total) + " files", 5});

  auto joined = [&](int rank_max) {
    std::string out;
    for (const auto& part : parts)
      if (part.rank <= rank_max) out += (out.empty() ? "" : "  ") + part.text;
    return out;
  };
  int rank_max = 5;
  while (rank_max > 0 && display_width(joined(rank_max)) > width) --rank_max;
  auto line = joined(rank_max);

  constexpr size_t kBarMost = 30, kBarLeast = 8, kBarFrame = 4;  // brackets and the two spaces after them
  auto room = width - std::min(width, display_width(line));
  if (state.bytes_total && rank_max > 0 && room >= kBarLeast + kBarFrame)
    line.insert(state.label.size() + 2,
                bar(fraction_of(state), std::min(kBarMost, room - kBarFrame), utf8) + "  ");
  return line;
}

void RateMeter::sample(int64_t now_us, uint64_t bytes_done) {
  samples_.push_back({now_us, bytes_done});
  while (samples_.front().time_us < now_us - kWindowUs) samples_.pop_front();
}

std::optional<double> RateMeter::bytes_per_s() const {
  if (samples_.size() < 2) return std::nullopt;
  const auto& first = samples_.front();
  const auto& last = samples_.back();
  if (last.time_us - first.time_us < kSettledUs) return std::nullopt;
  auto bytes = last.bytes > first.bytes ? last.bytes - first.bytes : 0;
  return static_cast<double>(bytes) * 1e6 / static_cast<double>(last.time_us - first.time_us);
}

Progress::Progress(Terminal& terminal, std::string label, std::optional<uint64_t> bytes_total,
                   uint64_t files_total)
    : terminal_(terminal), label_(std::move(label)), bytes_total_(bytes_total), files_total_(files_total) {
  if (terminal.err_is_tty()) thread_ = std::thread([this] { draw_until_stopped(); });
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  {
    MutexLock guard(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
  terminal_.status("");
}

void Progress::draw_until_stopped() {
  constexpr auto kInterval = std::chrono::milliseconds(120);
  RateMeter meter;
  meter.sample(steady_now_us(), 0);
  MutexLock lock(mutex_);
  // Delay the first drawing: a short transfer needs no progress line.
  while (!wake_.wait_for(lock, kInterval, [this]() SK_REQUIRES(mutex_) { return stopping_; })) {
    meter.sample(steady_now_us(), bytes_done());
    ProgressState state{label_,       bytes_done(),       bytes_total_, files_done_.load(),
                        files_total_, meter.bytes_per_s()};
    auto width = terminal_.width();
    terminal_.status(format_progress(state, width > 1 ? width - 1 : 1, terminal_.utf8()));
  }
}

}  // namespace sk::cli
