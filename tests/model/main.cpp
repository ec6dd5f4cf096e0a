// Random histories against the model: model_histories. SK_SEED repeats, SK_HISTORIES sets how many, SK_LONG=1
// runs a hundred times as many, SK_HISTORY names a file with one
// history to run, SK_TRACE=1 shows what there is after each step, SK_SHRINK_S limits the time for shrinking,
// SK_FAILURES the failures after which a lane ends, and SK_LANES sets how many run side by side. Histories
// that failed once (tests/model/histories) run before the random ones. The last line is "N passed, N failed";
// a case is a block of histories.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>

#include "model/runner.h"

namespace sk::model {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr uint64_t kPowerEvery = 200;  // one history in so many has a power cut
constexpr uint64_t kBlock = 1'000;     // histories that a lane runs in one data folder
constexpr uint64_t kDiskBytes = 4ull << 30;

double seconds_since(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

std::optional<uint64_t> number_from(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return std::nullopt;
  return std::strtoull(text, nullptr, 10);
}

std::optional<std::string> failure_of(Lane& lane, const History& history) {
  try {
    lane.run(history);
    return std::nullopt;
  } catch (const std::exception& error) {
    lane.begin_anew();
    return error.what();
  }
}

// The sentence of a failure without the names and figures in it.
std::string kind_of(const std::string& failure) { return failure.substr(0, failure.find_first_of("':\n")); }

// Leaves out steps, first many at once, as long as it still fails.
History shrink(Lane& lane, History history, std::string& why, std::chrono::seconds time_max) {
  auto start = SteadyClock::now();
  auto fails = [&, kind = kind_of(why)](const History& candidate) {
    for (int tries = 0; tries < 2; ++tries)
      if (auto failure = failure_of(lane, candidate); failure && kind_of(*failure) == kind) {
        why = *failure;
        return true;
      }
    return false;
  };
  for (size_t chunk = std::max<size_t>(history.steps.size() / 2, 1); chunk > 0;) {
    bool smaller = false;
    for (size_t at = 0; at < history.steps.size();) {
      if (SteadyClock::now() - start > time_max) return history;
      History candidate = history;
      auto first = candidate.steps.begin() + static_cast<long>(at);
      candidate.steps.erase(first, first + static_cast<long>(std::min(chunk, candidate.steps.size() - at)));
      if (fails(candidate)) {
        history = std::move(candidate);
        smaller = true;
      } else {
        at += chunk;
      }
    }
    if (!smaller || chunk > 1) chunk /= 2;
  }
  for (auto& step : history.steps) {
    if (!step.together) continue;
    History candidate = history;
    candidate.steps[static_cast<size_t>(&step - history.steps.data())].together = false;
    if (SteadyClock::now() - start < time_max && fails(candidate)) step.together = false;
  }
  return history;
}

struct Plan {
  uint64_t seed = 0, histories = 0, lanes = 6;  // they wait for the disk in turns
  uint64_t shrink_s = 40, failures_max = 3;     // of one lane
  std::optional<History> only;
  std::vector<History> known;  // run first
};

History read_history(const std::filesystem::path& file) {
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  return parse_history(text.str());
}

std::vector<History> known_histories() {
  std::vector<History> found;
  for (const auto& item : std::filesystem::directory_iterator(SK_MODEL_HISTORIES))
    found.push_back(read_history(item.path()));
  if (found.empty()) throw std::runtime_error("no histories in " SK_MODEL_HISTORIES);
  return found;
}

class LaneRun {
 public:
  LaneRun(const Plan& plan, uint64_t index) : plan_(plan), index_(index) {}

  int run() {
    uint64_t next = index_;
    do {
      run_block(next);
    } while (next < plan_.histories && failures_ < plan_.failures_max);
    std::fflush(stdout);
    return failures_ == 0 ? 0 : 1;
  }

 private:
  // Runs the lane's next histories in a new data folder, from `next` on.
  void run_block(uint64_t& next) {
    std::string why;
    auto disk = Disk::make(kDiskBytes, &why);
    if (!disk && next == 0) std::printf("without power cuts and full disks: %s\n", why.c_str());
    std::string directory = disk ? disk->path() + "/keeper" : temporary();
    std::filesystem::create_directories(directory);
    {
      Lane lane(directory, std::move(disk), number_from("SK_TRACE").value_or(0) != 0);
      if (plan_.only) run_one(lane, *plan_.only);
      if (next == index_)
        for (size_t i = index_; i < plan_.known.size(); i += plan_.lanes) run_one(lane, plan_.known[i]);
      for (uint64_t count = 0; count < kBlock && next < plan_.histories && failures_ < plan_.failures_max;
           ++count, next += plan_.lanes)
        run_random(lane, plan_.seed + next);
      check_everything(lane);
    }
    if (!temporary_.empty()) std::filesystem::remove_all(temporary_);
  }

  std::string temporary() {
    std::string pattern = (std::filesystem::temp_directory_path() / "sandkeep-model-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    temporary_ = pattern;
    return temporary_;
  }

  void run_random(Lane& lane, uint64_t seed) {
    run_one(lane,
            generate(seed, {.power = lane.has_disk() && seed % kPowerEvery == 0, .root = ::geteuid() == 0}));
  }

  void run_one(Lane& lane, const History& history) {
    auto failure = failure_of(lane, history);
    if (!failure) return;
    ++failures_;
    std::string first = *failure, why = first;
    History small = shrink(lane, history, why, std::chrono::seconds(plan_.shrink_s));
    std::string text =
        "[  FAILED  ] history " + std::to_string(history.seed) + "\n  " + first + "\n  shrunk to " +
        std::to_string(small.steps.size()) + " steps of " + std::to_string(history.steps.size()) + ": " +
        why + "\n" + to_text(small) + "  to repeat: SK_SEED=" + std::to_string(history.seed) +
        " SK_HISTORIES=1 build/release/model_histories, or put these lines into a file for SK_HISTORY\n";
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  }

  void check_everything(Lane& lane) {
    try {
      lane.check_everything();
    } catch (const std::exception& error) {
      ++failures_;
      std::printf("[  FAILED  ] after all histories: %s\n", error.what());
    }
  }

  const Plan& plan_;
  const uint64_t index_;
  size_t failures_ = 0;
  std::string temporary_;
};

int run_lanes(const Plan& plan) {
  std::vector<pid_t> lanes;
  for (uint64_t i = 0; i < plan.lanes; ++i) {
    std::fflush(stdout);
    pid_t pid = ::fork();
    if (pid == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      int status = 1;
      try {
        status = LaneRun(plan, i).run();
      } catch (const std::exception& error) {
        std::printf("[  FAILED  ] a lane: %s\n", error.what());
      }
      std::fflush(stdout);
      ::_exit(status);
    }
    lanes.push_back(pid);
  }
  int failed = 0;
  for (pid_t pid : lanes) {
    int status = 0;
    ::waitpid(pid, &status, 0);
    if (status != 0) ++failed;
  }
  return failed;
}

int run() {
  Plan plan;
  bool is_long = std::getenv("SK_LONG") != nullptr && std::string(std::getenv("SK_LONG")) == "1";
  // The same histories in every run, so that a commit is judged by itself; others with --long or SK_SEED=0.
  plan.seed = number_from("SK_SEED").value_or(is_long ? 0 : 1);
  if (plan.seed == 0) plan.seed = std::random_device()() % 1'000'000'000;
  plan.histories = number_from("SK_HISTORIES").value_or(is_long ? 100'000 : 1'000);
  plan.shrink_s = number_from("SK_SHRINK_S").value_or(plan.shrink_s);
  plan.failures_max = number_from("SK_FAILURES").value_or(plan.failures_max);
  plan.lanes = number_from("SK_LANES").value_or(plan.lanes);
  if (const char* file = std::getenv("SK_HISTORY")) plan.only = read_history(file);
  if (plan.only) plan.histories = 0;
  if (plan.histories < 2)
    plan.lanes = 1;
  else
    plan.known = known_histories();
  std::printf("SK_SEED=%llu, %llu histories\n", static_cast<unsigned long long>(plan.seed),
              static_cast<unsigned long long>(plan.histories));
  auto start = SteadyClock::now();
  int failed = run_lanes(plan);
  double seconds = seconds_since(start);
  // A lane that failed may have ended early.
  if (failed == 0)
    std::printf("%.1f s, %.1f histories per second\n", seconds,
                static_cast<double>(plan.histories) / seconds);
  std::printf("%d passed, %d failed\n", static_cast<int>(plan.lanes) - failed, failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace sk::model

int main() {
  ::signal(SIGPIPE, SIG_IGN);
  return sk::model::run();
}
