#include "interpreter/run/live_session.h"

#include <algorithm>
#include <future>

#include "base/error.h"
#include "base/log.h"
#include "interpreter/run/output_files.h"
#include "interpreter/run/session_requests.h"

namespace sk::interpreter {

namespace {

constexpr int64_t kSaveManifestAfterUs = kSecondUs / 2, kWarningMostUs = 60 * kSecondUs;
constexpr int64_t kRecordAfterUs = kSecondUs / 10, kWaitedUs = kSecondUs / 10;
// Images of a running cell that wait in memory; more are kept before its end.
constexpr size_t kWaitingImageBytesMax = 32 << 20;
constexpr int kKillWaitMs = 5'000, kSleepWaitMs = 10'000;

}  // namespace

LiveSession::LiveSession(SessionServices& services, SessionInfo info)
    : services_(services),
      info_(std::move(info)),
      strand_(services.pool, info_.owner),
      active_us_(info_.active_us),
      count_(info_.execution_count),
      recent_(4 * services.options.output_bytes_max),
      rights_(services.keep.revocations()),
      keeper_(services.copies, info_),
      outputs_({services.options.output_bytes_max, services.options.spill_bytes_max,
                services.options.directory, info_.folder}),
      runner_(info_.id.hex(), outputs_),
      has_run_(info_.execution_count > 0) {}

std::shared_ptr<LiveSession> LiveSession::make(SessionServices& services, SessionInfo info) {
  auto session = std::make_shared<LiveSession>(services, std::move(info));
  session->strand_.owned_by(session);
  return session;
}

LiveSession::~LiveSession() { close_kernel(); }

void LiveSession::post(std::function<void()> job) { strand_.post(strand_job(std::move(job))); }

std::function<void()> LiveSession::strand_job(std::function<void()> job) {
  return [this, self = shared_from_this(), job = std::move(job)] {
    job();
    due_us_ = next_due_us();
  };
}

// Executions.

void LiveSession::enqueue(QueuedExecution execution) {
  active_us_ = now_us();
  recent_.add(execution);
  auto start = strand_job([this, execution = std::make_shared<QueuedExecution>(std::move(execution))] {
    queue_.push(std::move(*execution));
    if (retired_) return end_waiting(queue_.take_all(), Why::asked);
    stop_before_accepted();
    start_next();
  });
  // An idle kernel gets the code from this thread. Waking, or syncing others' changes, is too slow for it.
  if (awake_ && !keeper_.has_outside_changes())
    strand_.run_or_post(std::move(start));
  else
    strand_.post(std::move(start));
}

void LiveSession::start_next() {
  while (!retired_ && !stopping_ && !current_ && !queue_.empty()) {
    QueuedExecution next = *queue_.take_first();
    if (auto why = rights_.ended(next.key))
      end_queued(std::move(next), Outcome::revoked, *why);
    else
      start(std::move(next));
  }
}

void LiveSession::start(QueuedExecution next) {
  TimeUs begin_us = now_us();
  // All scopes contain the session's folder, so the longest one is the narrowest.
  if (next.path_scope.size() > path_scope_.size()) path_scope_ = next.path_scope;
  current_ = Current{std::move(next)};
  current_->settled = between_.take();
  Execution& execution = current_->execution;
  execution.status = ExecutionStatus::running;
  execution.started_us = begin_us;
  execution.timings["queue_us"] = begin_us - execution.created_us;
  keeper_.forget_turns();
  outputs_.begin(*current_->feed, execution.number);
  try {
    // Those before it may have used up the room that there was when it was accepted.
    if (begin_us - execution.created_us > kWaitedUs)
      if (auto full = services_.keep.quotas().why_no_room_for_records(capture_as().authority))
        return complete(Outcome::error, *full);
    if (!runner_.is_open()) {
      execution.woke = has_run_;
      wake();
      execution.timings["wake_us"] = now_us() - begin_us;
      if (!wake_note_.empty()) outputs_.current()->note(std::exchange(wake_note_, {}));
    }
    auto open_files = [this] { return runner_.open_files(); };
    for (const auto& sentence : keeper_.bring_outside_changes(capture_as(), open_files))
      outputs_.current()->note(sentence);
    outputs_.give_pending();
    if (size_t left_out = between_.take_left_out(); left_out > 0)
      outputs_.current()->note(std::to_string(left_out) +
                               " more changes were kept between cells; the folder's list shows them.");
    has_run_ = true;
    // Accepted work must not run twice, so its start is durable before it runs. An id that a client knows
    // must stay known afterwards.
    if (current_->wanted.accepted || current_->wanted.announced) services_.records.save(info_, execution);
    current_->feed->add(Started{execution.woke, begin_us});
    current_->run_started_us = now_us();
    // Waking takes a while.
    if (auto why = rights_.ended(current_->key)) return complete(Outcome::revoked, *why);
    runner_.start(
        {.id = execution.id.hex(),
         .code = execution.code,
         .language = execution.language == "bash" ? sandbox::Language::bash : sandbox::Language::python,
         .tools = current_->wanted.tools,
         .timeout_s = current_->wanted.timeout_s.value_or(info_.timeout_s)},
        current_->run_started_us);
    // Records the execution, so that a server that dies leaves a record, unless it ends within a moment.
    current_->record_us = begin_us + kRecordAfterUs;
    current_->capture_us = current_->run_started_us + kSecondUs;
  } catch (const Error& error) {
    fail(error);
  } catch (const std::exception& error) {
    fail(Error(Code::internal, error.what()));
  }
}

void LiveSession::poll() {
  post([this] {
    if (!runner_.is_open()) return;
    int fd = runner_.poll_fd();
    handle_kernel_events();
    if (runner_.is_open() && runner_.poll_fd() == fd) services_.rearm_fd(fd);
  });
}

void LiveSession::handle_kernel_events() {
  runner_.on_ready([this](const sandbox::KernelRequest& request) { answer(request); });
  auto end = runner_.take_end();
  if (runner_.has_ended()) close_kernel();
  if (end)
    finish(std::move(*end));
  else
    keep_waiting_images();
  if (!runner_.is_open() || (sleeps_after_cell_ && !current_)) go_to_sleep();
  start_next();
}

void LiveSession::finish(CellOutcome end) {
  Execution& execution = current_->execution;
  TimeUs ran_us = now_us();
  execution.timings["run_us"] = ran_us - current_->run_started_us;
  execution.exit_code = end.exit_code;
  // The final record, which becomes durable with the files.
  execution.status = ExecutionStatus::done;
  execution.outcome = end.outcome;
  execution.message = end.message;
  execution.ended_us = ran_us;
  if (auto failed = keep_files_of_cell()) {
    end.message += (end.message.empty() ? "" : "; ") + ("not everything could be kept: " + *failed);
    current_->settled.not_kept.push_back({info_.folder, UnkeptReason::error, *failed, false});
  }
  // Nothing runs any more: once this is answered, the copy holds nothing that a power cut could destroy.
  if (!runner_.is_open()) keeper_.close(capture_as());
  execution.files = std::move(current_->settled);
  execution.timings["keep_us"] = now_us() - ran_us;
  drop_tools();
  active_us_ = now_us();
  complete(end.outcome, std::move(end.message));
  quiet_look_us_ = awake_ ? now_us() + kSecondUs : 0;
  // A capture saves the rows of its files. The other rows are saved later: a save syncs the disk, the next
  // cell may already wait, and a missing row costs only a comparison.
  if (save_manifest_us_ == 0) save_manifest_us_ = now_us() + kSaveManifestAfterUs;
}

// Keeps the outputs and all other files that the cell wrote. Returns the error message on failure.
std::optional<std::string> LiveSession::keep_files_of_cell() {
  try {
    OutputCollector& outputs = *outputs_.current();
    outputs.flush();
    place_outputs();
    current_->execution.outputs = outputs.outputs();
    auto extent = runner_.is_open() ? CopyKeeper::Extent::touched : CopyKeeper::Extent::all;
    add_settled(capture_now(extent));
    return std::nullopt;
  } catch (const std::exception& error) {
    current_->is_recorded = false;  // the transaction may have failed after it was noted
    return error.what();
  }
}

void LiveSession::place_outputs() {
  for (auto& item : place_output_files(*outputs_.current(), keeper_, services_.keep, capture_as().authority))
    current_->settled.not_kept.push_back(std::move(item));
}

// A cell that shows many images does not fill the server's memory with them.
void LiveSession::keep_waiting_images() {
  if (!current_ || !keeper_.is_open() || outputs_.current()->file_bytes() <= kWaitingImageBytesMax) return;
  try {
    place_outputs();
    add_kept(capture_now(CopyKeeper::Extent::touched));
  } catch (const std::exception& error) {
    log::warn(
        "images could not be kept during a run; they are in the copy, and the capture at its end retries",
        {{"error", error.what()}});
  }
}

// Ends an execution that could not start. The contents of the copy are kept when the session goes to sleep. A
// sandbox that was only partly started is destroyed, because nothing would report its end.
void LiveSession::fail(const Error& error) {
  log::error("an execution could not start", {{"session", info_.id.hex()}, {"error", error.message()}});
  outputs_.current()->note(error.sentence());
  current_->has_recovered = false;  // this answer reports no files
  complete(Outcome::crash, "the session could not run it: " + error.message());
  if (!awake_) go_to_sleep();
}

// Ends the current execution and sends its answer.
void LiveSession::complete(Outcome outcome, std::string message) {
  Execution& execution = current_->execution;
  execution.status = ExecutionStatus::done;
  execution.outcome = outcome;
  execution.message = std::move(message);
  execution.outputs = outputs_.current()->take_outputs();
  execution.ended_us = now_us();
  if (current_->is_recorded)
    services_.save_later(info_, execution);
  else
    save(*current_);
  if (current_->has_recovered) services_.told_later(info_);
  current_->feed->finish(std::move(execution));
  current_.reset();
  outputs_.end();
  --queued_;
}

// Saves the record before any client can see the end. The record of an execution that kept files at its end
// is durable with them, and only the last figures are missing. Accepted work must not run again after a
// restart, so its record is made durable here. For other work, a disk sync would double the time of a short
// cell: its record survives the server, but not a power cut a moment later.
void LiveSession::save(const QueuedExecution& one) {
  bool must_sync = one.wanted.accepted || one.wanted.announced;
  try {
    services_.records.save(info_, one.execution,
                           must_sync ? catalog::Survives::power_cut : catalog::Survives::kill);
  } catch (const Error& error) {
    log::error("an execution's record could not be saved", {{"error", error.message()}});
  }
}

// Waking and sleeping.

void LiveSession::wake() {
  auto spec = sandbox_of(info_, services_.options);
  keeper_.prepare();
  // The sandbox sees the folder, whose files may still be added while it starts, as long as no code runs.
  auto starting =
      std::async(std::launch::async, [&] { return services_.start_kernel(spec, runner_.events()); });
  add_settled(keeper_.open(capture_as()));
  // Recording it syncs the disk. The start of a sandbox need not wait for that; the first byte of code must.
  auto recorded = std::async(std::launch::async, [this] { keeper_.mark_used(); });
  runner_.open(starting.get());
  std::vector<std::pair<std::string, std::string>> environment;
  for (const auto& [name, value] : info_.environment.items())
    environment.emplace_back(name, value.get<std::string>());
  if (!environment.empty()) runner_.kernel().configure(environment);
  // Freezes it at once, on the guard's thread: this strand may be busy reading the data that fills the disk.
  auto over = [this, weak = weak_from_this(), kernel = &runner_.kernel()](const std::string& why) {
    kernel->freeze();
    if (auto self = weak.lock()) post([this, why] { runner_.end(Outcome::disk, why); });
  };
  disk_ticket_ = services_.disk_guard.watch(
      keeper_.copy().directory(), {services_.options.disk_bytes_max, services_.options.files_max}, over,
      [kernel = &runner_.kernel()](uint64_t device) { return kernel->bytes_of_deleted_files(device); });
  recorded.get();
  services_.watch_fd(runner_.poll_fd(), weak_from_this());
  auto recovered =
      untold_recovered_files(services_.records, services_.keep, capture_as().authority, info_.id);
  current_->has_recovered = recovered.any;
  current_->settled.append(std::move(recovered.settled));
  awake_since_us_ = now_us();
  quiet_look_us_ = awake_since_us_ + kSecondUs;
  awake_ = true;
}

void LiveSession::close_kernel() {
  if (!runner_.is_open()) return;
  disk_ticket_.reset();
  services_.forget_fd(runner_.poll_fd());
  runner_.close();
  awake_ = false;
  quiet_look_us_ = 0;
}

void LiveSession::go_to_sleep() {
  sleeps_after_cell_ = false;
  if (runner_.is_open()) {
    if (!runner_.kill_and_wait("asleep", kSleepWaitMs))
      log::error("a sandbox did not end", {{"session", info_.id.hex()}});
    close_kernel();
  }
  outputs_.forget_pending();
  between_.clear();
  if (keeper_.is_open()) keeper_.close(capture_as());
  try {
    services_.records.save_activity(info_, active_us_, count_);
  } catch (const Error& error) {
    log::warn("a session's last use could not be saved", {{"error", error.message()}});
  }
}

// Stopping.

void LiveSession::cancel(const Id& execution) {
  post([this, execution] {
    if (current_ && current_->execution.id == execution) return runner_.cancel(now_us());
    if (auto waiting = queue_.take(execution))
      end_queued(std::move(*waiting), Outcome::interrupted, "it was cancelled before it started");
  });
}

void LiveSession::retire(Why why, std::function<void()> then) {
  post([this, why, then = std::move(then)] {
    retired_ = true;
    stopping_ = stopping_ || why == Why::server_stops;
    runner_.set_stopped_by(stopping_ ? Runner::StoppedBy::server : Runner::StoppedBy::session);
    if (runner_.is_running() &&
        runner_.kill_and_wait(std::string(name_of(Outcome::interrupted)), kKillWaitMs))
      while (runner_.is_running()) handle_kernel_events();
    end_waiting(queue_.take_all(), why);
    go_to_sleep();
    // Processes that did not end in time. The sandbox is gone, so nothing else reports the end.
    if (current_)
      complete(Outcome::interrupted, "the session was ended, and its processes did not stop in time");
    then();
  });
}

void LiveSession::interrupt_for_stop() {
  post([this] {
    stopping_ = true;
    runner_.set_stopped_by(Runner::StoppedBy::server);
    end_waiting(queue_.take_all(), Why::server_stops);
    runner_.cancel(now_us());
  });
}

void LiveSession::end_queued(QueuedExecution waiting, Outcome outcome, std::string message) {
  waiting.execution.status = ExecutionStatus::done;
  waiting.execution.outcome = outcome;
  waiting.execution.message = std::move(message);
  waiting.execution.ended_us = now_us();
  save(waiting);
  waiting.feed->finish(std::move(waiting.execution));
  --queued_;
}

void LiveSession::end_waiting(std::deque<QueuedExecution> waiting, Why why) {
  for (auto& one : waiting) {
    if (why == Why::server_stops && one.wanted.accepted) {
      // Its row stays unchanged, and it runs after the restart. Waiting clients learn that it is not done.
      one.execution.message = "the server is stopping; this stays queued and runs after the restart";
      one.feed->finish(std::move(one.execution));
      --queued_;
    } else {
      end_queued(std::move(one), Outcome::interrupted,
                 why == Why::server_stops ? "the server is stopping; this was not run"
                                          : "the session was ended before it started");
    }
  }
}

void LiveSession::close_queue() {
  post([this] { stop_before_accepted(); });
}

void LiveSession::stop_before_accepted() {
  if (services_.closing) end_waiting(queue_.take_from_first_accepted(), Why::server_stops);
}

// Rights.

void LiveSession::admit(const workspace::Authority& authority) {
  auto on_end = [weak = weak_from_this(), key = authority.actor().key()](const Error& error) {
    auto self = weak.lock();
    if (!self) return;
    self->rights_.remove(key);
    self->post(
        [raw = self.get(), key, why = SessionRights::message_of(error)] { raw->end_revoked(key, why); });
  };
  rights_.admit(authority, std::move(on_end));
}

// Ends what a key asked for and left running. Nothing is interrupted first, as in cancel(): code that may not
// write any more gets no time to do so. What it closed before is kept in the server's own right.
void LiveSession::end_revoked(const Id& key, const std::string& why) {
  for (auto& one : queue_.take_of(key)) end_queued(std::move(one), Outcome::revoked, why);
  if (!current_)
    go_to_sleep();
  else if (current_->key == key)
    runner_.end(Outcome::revoked, why);
  else
    sleeps_after_cell_ = true;
}

// Requests of code.

void LiveSession::answer(const sandbox::KernelRequest& request) {
  auto refuse = [&](std::string_view code, std::string_view message) {
    runner_.kernel().refuse(request.id, code, message);
  };
  bool is_tools = request.method == "tools";
  if (!current_ || (is_tools && current_->wanted.tools.empty()))
    return refuse(sk::info(Code::conflict).name,
                  is_tools ? "the client offered no tools for this cell" : "no cell is running");
  try {
    rights_.check(current_->key);
    if (is_tools) return tools_.ask(request, current_->execution.id, *current_->feed);
    auto capture = [this] {
      Settled now = capture_now(CopyKeeper::Extent::touched);
      add_settled(now);
      return now;
    };
    auto authority = capture_as().authority.limited_to(path_scope_);
    auto answered = answer_request(
        {services_.keep, keeper_, info_.folder, authority, current_->wanted.base_url, capture}, request);
    if (auto* refused = std::get_if<RequestRefused>(&answered))
      return refuse(refused->code, refused->message);
    runner_.kernel().reply(request.id, std::get<Json>(answered));
  } catch (const Error& error) {
    refuse(sk::info(error.code()).name, error.message());
  }
}

bool LiveSession::answer_tools(const Id& execution, int64_t event, Json results) {
  auto request = tools_.take(execution, event);
  if (!request) return false;
  post([this, execution, request = *request, results = std::move(results)] {
    if (!runner_.is_open() || !current_ || current_->execution.id != execution) return;
    try {
      runner_.kernel().reply(request, results);
    } catch (const Error& error) {
      runner_.kernel().refuse(request, sk::info(error.code()).name, error.message());
    }
  });
  return true;
}

void LiveSession::drop_tools() {
  auto request = tools_.drop();
  if (request && runner_.is_open())
    runner_.kernel().refuse(*request, "gone", "the cell that asked has ended");
}

// Timers.

void LiveSession::tick(TimeUs now_us) {
  if (now_us >= next_expiry_us_) {
    next_expiry_us_ = now_us + kSecondUs;
    recent_.expire_waits(now_us);
  }
  TimeUs due_us = due_us_;
  // Posted once: the job computes the next due time.
  if (!is_due(due_us, now_us) || !due_us_.compare_exchange_strong(due_us, 0)) return;
  post([this, now_us] { do_what_is_due(now_us); });
}

TimeUs LiveSession::next_due_us() const {
  TimeUs due_us = save_manifest_us_;
  if (!current_) return earlier(due_us, quiet_look_us_);
  due_us = earlier(due_us, runner_.due_us());
  due_us = earlier(due_us, current_->record_us);
  return runner_.is_stopping() ? due_us : earlier(due_us, current_->capture_us);
}

void LiveSession::do_what_is_due(TimeUs now_us) {
  if (is_due(save_manifest_us_, now_us)) {
    save_manifest_us_ = 0;
    save_manifest();
  }
  if (!current_ && is_due(quiet_look_us_, now_us)) {
    quiet_look_us_ = now_us + kSecondUs;
    if (services_.copies.watcher.anything(info_.id)) capture_between_cells();
  }
  if (!current_) return;
  if (is_due(current_->record_us, now_us)) {
    current_->record_us = 0;
    services_.save_later(info_, current_->execution);
  }
  runner_.tick(now_us);
  if (!runner_.is_stopping() && is_due(current_->capture_us, now_us)) capture_during_run(now_us);
}

bool LiveSession::must_warn(TimeUs now_us) {
  int64_t idle_us = info_.idle_s * kSecondUs;
  TimeUs active_us = active_us_;
  if (idle_us == 0 || busy() || !awake_ || warned_for_us_ == active_us) return false;
  if (now_us < active_us + idle_us - std::min(kWarningMostUs, idle_us / 2)) return false;
  warned_for_us_ = active_us;
  return true;
}

// Keeps files during long runs too, at growing intervals, so that a loop of appends creates a few versions
// and not thousands.
void LiveSession::capture_during_run(TimeUs now_us) {
  ++current_->captures;
  current_->capture_us = now_us + std::min<int64_t>(60, 1LL << std::min(current_->captures, 6)) * kSecondUs;
  try {
    // The record includes the output so far, so that a crash of the server does not lose it.
    if (const Outputs& outputs = outputs_.current()->outputs(); current_->execution.outputs != outputs) {
      current_->execution.outputs = outputs;
      services_.save_later(info_, current_->execution);
    }
    add_kept(keeper_.capture_early(capture_as(), [this] { return runner_.open_files(); }));
  } catch (const std::exception& error) {
    log::warn("files could not be kept during a run; the capture at its end retries",
              {{"error", error.what()}});
  }
}

// Keeps files written by processes that outlive their cell.
void LiveSession::capture_between_cells() {
  if (!runner_.is_open() || !keeper_.is_open()) return;
  try {
    between_.add(keeper_.capture_between_cells(capture_as(), [this] { return runner_.open_files(); }));
  } catch (const std::exception& error) {
    log::warn("files that were written between cells could not be kept; the next capture tries again",
              {{"session", info_.id.hex()}, {"error", error.what()}});
  }
}

// Keeping.

void LiveSession::retry_unkept(std::function<void(Tried)> then) {
  post([this, then = std::move(then)] {
    if (retired_) return then(Tried::retired);  // the session no longer owns the copy
    Tried tried = Tried::done;
    try {
      if (keeper_.is_open()) {
        Settled now = keeper_.retry(capture_as(), [this] { return runner_.open_files(); });
        if (current_) add_kept(std::move(now));
      } else if (keeper_.exists() && !keeper_.look_for_only_copies(capture_as()).only_copies) {
        tried = Tried::failed;
      }
    } catch (const std::exception& error) {
      log::warn("refused content could not be retried", {{"error", error.what()}});
      tried = Tried::failed;
    }
    then(tried);
  });
}

// While a cell runs, its followers see the files at once, and its answer reports them.
void LiveSession::add_kept(Settled now) {
  for (const auto& file : now.kept) current_->feed->add(FileKept{file});
  add_settled(std::move(now));
}

void LiveSession::add_settled(Settled now) {
  current_->settled.append(std::move(now));
  current_->settled.bound();
}

Settled LiveSession::capture_now(CopyKeeper::Extent extent) {
  return keeper_.capture(extent, capture_as(), [this] { return runner_.open_files(); });
}

CaptureAs LiveSession::capture_as() {
  if (!current_) return interpreter::capture_as(info_);
  CaptureAs as = interpreter::capture_as(info_, current_->author);
  as.after_kill = runner_.was_killed();
  as.source.detail["execution_id"] = current_->execution.id.with_prefix(workspace::prefix::execution);
  as.also = [this](catalog::Tx& tx, const std::vector<KeptFile>& kept) {
    services_.records.save(tx, info_, current_->execution, kept);
    current_->is_recorded = current_->execution.status == ExecutionStatus::done;
  };
  return as;
}

void LiveSession::save_manifest() {
  if (!keeper_.is_open()) return;
  try {
    keeper_.manifest().save();
  } catch (const Error& error) {
    log::warn("a manifest could not be saved", {{"error", error.message()}});
  }
}

}  // namespace sk::interpreter
