// What time and limits do to a session: time-outs, captures during long runs, the warning before expiry, the
// ends `disk` and `pids`.
#include "base/error.h"
#include "base/log.h"
#include "interpreter/live_session.h"

namespace sk::interpreter {

namespace {

constexpr int64_t kInterruptAgainUs = kSecondUs / 2;
constexpr int64_t kWarningMostUs = 60 * kSecondUs;
constexpr uint64_t kRefusedProcessesMax = 200;
constexpr int kCrowdedLooksMax = 3;
constexpr size_t kNamedBetweenCellsMax = 1'000;

}  // namespace

void LiveSession::tick(TimeUs now_us) {
  auto due = [&](std::atomic<TimeUs>& at) { return at != 0 && now_us >= at; };
  if (due(save_manifest_us_)) {
    save_manifest_us_ = 0;
    strand_.post([this, self = shared_from_this()] { save_manifest(); });
  }
  if (due(next_quiet_look_us_) && !busy()) {
    next_quiet_look_us_ = now_us + kSecondUs;
    if (shared_.copies.watcher.anything(info_.id))
      strand_.post([this, self = shared_from_this()] { capture_between_cells(); });
  }
  bool any =
      due(deadline_us_) || kill_us_ != 0 || due(next_capture_us_) || due(next_look_us_) || due(record_us_);
  if (!any) return;
  strand_.post([this, self = shared_from_this(), now_us] {
    if (!kernel_ || !current_) return;
    if (record_us_.exchange(0) != 0) shared_.save_later(current_->execution);
    if (next_look_us_ != 0 && now_us >= next_look_us_) look_at_processes();
    if (kill_us_ != 0 && now_us >= kill_us_) {
      // It did not listen: everything in the sandbox ends.
      kill_us_ = deadline_us_ = 0;
      kernel_->session().kill(
          sandbox::End::killed,
          std::string(name_of(stop_ == Stop::timeout ? Outcome::timeout : Outcome::interrupted)));
    } else if (kill_us_ != 0) {
      // An interrupt that came just before the cell began, or that the code swallowed, is worth another one.
      if (kill_us_ - now_us < kInterruptGraceUs - interrupts_ * kInterruptAgainUs) {
        ++interrupts_;
        kernel_->interrupt();
      }
    } else if (deadline_us_ != 0 && now_us >= deadline_us_) {
      deadline_us_ = 0;
      stop_ = Stop::timeout;
      kernel_->interrupt();
      kill_us_ = now_us + kInterruptGraceUs;
    } else if (next_capture_us_ != 0 && now_us >= next_capture_us_) {
      // Files are kept during long runs too, ever less often, so that a loop of appends makes a few versions
      // and not thousands.
      ++captures_;
      next_capture_us_ = now_us + std::min<int64_t>(60, 1LL << std::min(captures_, 6)) * kSecondUs;
      try {
        // The record has the output so far, so that a crash of the server does not lose it.
        if (current_->execution.outputs != outputs_->outputs()) {
          current_->execution.outputs = outputs_->outputs();
          shared_.save_later(current_->execution);
        }
        Settled now = capture_now(CopyKeeper::Extent::touched);
        for (const auto& file : now.kept) current_->feed->add(FileKept{file});
        settled_.append(std::move(now));
      } catch (const std::exception& error) {
        log::warn("files could not be kept during a run; they are tried again at its end",
                  {{"error", error.what()}});
      }
    }
  });
}

// Keeps what processes write that outlive their cell.
void LiveSession::capture_between_cells() {
  if (!kernel_ || current_ || !keeper_.is_open()) return;
  try {
    between_.append(keeper_.capture_between_cells(capture_as(), [this] { return open_files(); }));
    // Lists and events have all of them.
    auto bound = [](auto& list) {
      if (list.size() > kNamedBetweenCellsMax) list.resize(kNamedBetweenCellsMax);
    };
    bound(between_.kept);
    bound(between_.folders);
    bound(between_.renamed);
    bound(between_.deleted);
    bound(between_.not_kept);
  } catch (const std::exception& error) {
    log::warn("files that were written between cells could not be kept; the next capture tries again",
              {{"session", info_.id.hex()}, {"error", error.what()}});
  }
}

bool LiveSession::must_warn(TimeUs now_us) {
  int64_t idle_us = info_.idle_s * kSecondUs;
  if (idle_us == 0 || busy() || !awake_ || warned_) return false;
  if (now_us < active_us_ + idle_us - std::min(kWarningMostUs, idle_us / 2)) return false;
  return !warned_.exchange(true);
}

void LiveSession::end_for(Outcome outcome, std::string why) {
  if (!kernel_ || early_end_) return;
  early_end_ = {outcome, std::move(why)};
  std::string end(name_of(outcome));
  log::warn("a session is ended", {{"session", info_.id.hex()}, {"end", end}, {"why", early_end_->why}});
  kernel_->session().kill(sandbox::End::killed, end);
}

bool LiveSession::has_new_refused_processes() {
  uint64_t refused = kernel_ ? kernel_->session().processes_refused() : 0;
  return std::exchange(processes_refused_, refused) < refused;
}

// A program that starts processes for ever would keep a core busy until its time is over.
void LiveSession::look_at_processes() {
  next_look_us_ = shared_.keep.ground().clock.now_us() + kSecondUs;
  uint64_t refused = kernel_->session().processes_refused();
  bool crowded = refused > processes_refused_;
  crowded_looks_ = crowded ? crowded_looks_ + 1 : 0;
  if (refused < processes_refused_ + kRefusedProcessesMax && crowded_looks_ < kCrowdedLooksMax) return;
  end_for(Outcome::pids, "it kept starting processes, more than the " +
                             std::to_string(kernel_->session().spec().limits.processes_max) +
                             " that a session may have at once");
}

}  // namespace sk::interpreter
