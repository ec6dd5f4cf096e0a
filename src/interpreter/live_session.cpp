#include "interpreter/live_session.h"

#include <filesystem>

#include "base/error.h"
#include "base/log.h"
#include "base/path.h"

namespace sk::interpreter {

namespace {

// Sparse files may look as large as this, so that they can be named as too large instead of failing; what
// files really take is the disk guard's business.
constexpr uint64_t kApparentBytesMax = 8ull << 40;
constexpr int64_t kSaveManifestAfterUs = kSecondUs / 2;
constexpr int64_t kRecordAfterUs = kSecondUs / 10;
constexpr size_t kRecentMax = 50;
constexpr std::string_view kOutputsFolder = "outputs";
constexpr int kOutputNamesMax = 10'000;

}  // namespace

LiveSession::LiveSession(Shared& shared, SessionInfo info)
    : shared_(shared),
      info_(std::move(info)),
      strand_(shared.pool),
      active_us_(info_.active_us),
      count_(info_.execution_count),
      keeper_(shared.copies, info_) {
  has_run_ = info_.execution_count > 0;
}

std::shared_ptr<LiveSession> LiveSession::make(Shared& shared, SessionInfo info) {
  auto session = std::make_shared<LiveSession>(shared, std::move(info));
  session->strand_.owned_by(session);
  return session;
}

LiveSession::~LiveSession() { close_kernel(); }

void LiveSession::enqueue(QueuedExecution execution) {
  active_us_ = shared_.keep.ground().clock.now_us();
  warned_ = false;
  {
    std::lock_guard lock(recent_mutex_);
    recent_.push_back(
        {execution.execution.id, execution.execution.number, execution.feed, execution.execution});
    while (recent_.size() > kRecentMax && recent_.front().feed->finished()) recent_.pop_front();
  }
  auto start = [this, self = shared_from_this(),
                execution = std::make_shared<QueuedExecution>(std::move(execution))] {
    if (retired_) return interrupt_queued(std::move(*execution), "the session was ended before it started");
    queue_.push_back(std::move(*execution));
    stop_before_accepted();
    start_next();
  };
  // A kernel that waits gets the code from this thread; waking is not the caller's work.
  if (awake_)
    strand_.run_or_post(std::move(start));
  else
    strand_.post(std::move(start));
}

std::optional<RunningExecution> LiveSession::find(const Id& execution) {
  std::lock_guard lock(recent_mutex_);
  for (const auto& running : recent_)
    if (running.id == execution) return running;
  return std::nullopt;
}

void LiveSession::cancel(const Id& execution) {
  strand_.post([this, self = shared_from_this(), execution] {
    if (current_ && current_->execution.id == execution && stop_ == Stop::none && kernel_) {
      stop_ = Stop::cancelled;
      kernel_->interrupt();
      kill_us_ = shared_.keep.ground().clock.now_us() + kInterruptGraceUs;
      return;
    }
    for (auto at = queue_.begin(); at != queue_.end(); ++at) {
      if (at->execution.id != execution) continue;
      QueuedExecution waiting = std::move(*at);
      queue_.erase(at);
      interrupt_queued(std::move(waiting), "it was cancelled before it started");
      return;
    }
  });
}

// Before anybody can see that it is over. Accepted work must not run again after a restart, so that its
// record is durable; that of one that kept files became so with them, and only its last figures are still to
// come. For one that kept none a sync of the disk would double the time of a short cell: its record survives
// the server, and a power cut a moment later.
void LiveSession::save(const QueuedExecution& one) {
  bool must_sync = one.wanted.accepted || one.wanted.announced;
  if (!must_sync && !one.execution.files.kept.empty()) return shared_.save_later(one.execution);
  try {
    shared_.records.save(one.execution, must_sync ? catalog::Survives::power_cut : catalog::Survives::kill);
  } catch (const Error& error) {
    log::error("an execution's record could not be saved", {{"error", error.message()}});
  }
}

void LiveSession::interrupt_queued(QueuedExecution waiting, std::string message) {
  waiting.execution.status = ExecutionStatus::done;
  waiting.execution.outcome = Outcome::interrupted;
  waiting.execution.message = std::move(message);
  waiting.execution.ended_us = shared_.keep.ground().clock.now_us();
  save(waiting);
  waiting.feed->finish(std::move(waiting.execution));
  --queued_;
}

void LiveSession::poll() {
  strand_.post([this, self = shared_from_this()] {
    if (!kernel_) return;
    int fd = kernel_->poll_fd();
    run_kernel_events();
    if (kernel_ && kernel_->poll_fd() == fd) shared_.rearm_fd(fd);
  });
}

void LiveSession::save_manifest() {
  if (!keeper_.is_open()) return;
  try {
    keeper_.manifest().save();
  } catch (const Error& error) {
    log::warn("a manifest could not be saved", {{"error", error.message()}});
  }
}

std::vector<RunningExecution> LiveSession::unfinished() {
  std::lock_guard lock(recent_mutex_);
  std::vector<RunningExecution> found;
  for (const auto& running : recent_)
    if (!running.feed->finished()) found.push_back(running);
  return found;
}

void LiveSession::expire_waits(TimeUs now_us) {
  if (now_us < next_expiry_us_) return;
  next_expiry_us_ = now_us + kSecondUs;
  std::vector<std::shared_ptr<ExecutionFeed>> feeds;
  {
    std::lock_guard lock(recent_mutex_);
    for (const auto& running : recent_) feeds.push_back(running.feed);
  }
  for (const auto& feed : feeds) feed->expire(now_us);
}

void LiveSession::retry_unkept(std::function<void(Tried)> then) {
  strand_.post([this, self = shared_from_this(), then = std::move(then)] {
    if (retired_) return then(Tried::retired);  // the copy is not this session's any more
    Tried tried = Tried::done;
    try {
      if (keeper_.is_open()) {
        Settled now = keeper_.retry(capture_as(), [this] { return open_files(); });
        // The answer of a running cell names them, as it names what is kept during long runs.
        if (current_) {
          for (const auto& file : now.kept) current_->feed->add(FileKept{file});
          settled_.append(std::move(now));
        }
      } else if (keeper_.exists() && !keeper_.look_for_only_copies(capture_as()).only_copies) {
        tried = Tried::failed;
      }
    } catch (const std::exception& error) {
      log::warn("what was refused could not be tried again", {{"error", error.what()}});
      tried = Tried::failed;
    }
    then(tried);
  });
}

CaptureAs capture_as(const SessionInfo& session, workspace::Actor author) {
  // The session was opened with the right to write; its captures do not depend on the scope of the key that
  // happens to run it, nor on what becomes of that key.
  auto authority = workspace::system_authority(session.workspace, std::move(author),
                                               "what code wrote in a session is kept whoever ran it");
  return {.authority = std::move(authority),
          .source = {"execution", {{"session_id", session.id.with_prefix(workspace::prefix::session)}}}};
}

CaptureAs capture_as(const SessionInfo& session) {
  return capture_as(session, identity::recorded_actor(session.owner, "session " + session.name));
}

CaptureAs LiveSession::capture_as() {
  if (!current_) return interpreter::capture_as(info_);
  CaptureAs as = interpreter::capture_as(info_, current_->actor);
  as.after_kill = was_killed_;
  as.source.detail["execution_id"] = current_->execution.id.with_prefix(workspace::prefix::execution);
  as.also = [this](catalog::Tx& tx, const std::vector<KeptFile>& kept) {
    shared_.records.save(tx, current_->execution, kept);
  };
  return as;
}

void LiveSession::wake() {
  sandbox::SessionSpec spec;
  spec.id = info_.id.hex();
  spec.data_dir = shared_.options.directory + "/" + info_.id.hex();
  spec.limits.memory_bytes = info_.memory_bytes;
  spec.limits.file_bytes_max = kApparentBytesMax;
  spec.runtime = info_.runtime;
  keeper_.prepare();
  // The sandbox sees the folder; its files may still come while it starts, as long as no code runs.
  auto starting = std::async(std::launch::async, [&] { return shared_.host.start(spec); });
  settled_.append(keeper_.open(capture_as()));
  // Recording it syncs the disk, which the start of a sandbox need not wait for; the first byte of code does.
  auto recorded = std::async(std::launch::async, [this] { keeper_.mark_used(); });
  kernel_ = std::make_unique<sandbox::Kernel>(starting.get(), static_cast<sandbox::KernelEvents&>(*this));
  std::vector<std::pair<std::string, std::string>> environment;
  for (const auto& [name, value] : info_.environment.items())
    environment.emplace_back(name, value.get<std::string>());
  if (!environment.empty()) kernel_->configure(environment);
  early_end_.reset();
  was_killed_ = false;
  processes_refused_ = 0;
  crowded_looks_ = 0;
  // Stopped at once, on the guard's thread, since this strand may be busy reading what fills the disk.
  auto over = [this, weak = weak_from_this(), session = &kernel_->session()](const std::string& why) {
    session->freeze();
    if (auto self = weak.lock()) strand_.post([this, self, why] { end_for(Outcome::disk, why); });
  };
  disk_ticket_ = shared_.disk_guard.watch(keeper_.copy().directory(),
                                          {shared_.options.disk_bytes_max, shared_.options.files_max}, over);
  recorded.get();
  shared_.watch_fd(kernel_->poll_fd(), weak_from_this());
  name_recovered();
  awake_since_us_ = shared_.keep.ground().clock.now_us();
  next_quiet_look_us_ = awake_since_us_ + kSecondUs;
  awake_ = true;
}

// Files that were found after a power cut: the next answer names them.
void LiveSession::name_recovered() {
  for (const auto& item : shared_.records.untold(info_.id)) {
    has_recovered_ = true;
    auto version = shared_.keep.files().find_version(capture_as().authority, item.version);
    if (!version) continue;
    KeptFile file;
    file.path = item.path;
    file.file = version->file;
    file.version = version->id;
    file.size = version->size;
    file.sha256 = version->sha256;
    file.mime = version->mime;
    file.change = KeptChange::recovered;
    file.complete = version->complete;
    Settled one;
    one.kept.push_back(std::move(file));
    settled_.append(std::move(one));
  }
}

void LiveSession::close_kernel() {
  if (!kernel_) return;
  disk_ticket_.reset();
  shared_.forget_fd(kernel_->poll_fd());
  kernel_.reset();
  awake_ = false;
  next_quiet_look_us_ = 0;
}

void LiveSession::go_to_sleep() {
  if (kernel_) {
    kernel_->session().kill(sandbox::End::killed, "asleep");
    if (!kernel_->session().wait_ended(10'000))
      log::error("a sandbox did not end", {{"session", info_.id.hex()}});
    close_kernel();
  }
  pending_output_.clear();
  pending_bytes_ = 0;
  between_ = {};
  if (keeper_.is_open()) keeper_.close(capture_as());
  try {
    shared_.records.save_activity(info_.id, active_us_, count_);
  } catch (const Error& error) {
    log::warn("when a session was last used could not be saved", {{"error", error.message()}});
  }
}

void LiveSession::start_next() {
  while (!retired_ && !stopping_ && !current_ && !queue_.empty()) {
    QueuedExecution next = std::move(queue_.front());
    queue_.pop_front();
    start(next);
  }
}

void LiveSession::start(QueuedExecution& next) {
  const Clock& clock = shared_.keep.ground().clock;
  TimeUs begin_us = clock.now_us();
  next.execution.status = ExecutionStatus::running;
  next.execution.started_us = begin_us;
  next.execution.timings["queue_us"] = begin_us - next.execution.created_us;
  current_ = std::move(next);
  settled_ = std::exchange(between_, {});
  done_.reset();
  ended_.reset();
  cell_failed_ = false;
  stop_ = Stop::none;
  captures_ = 0;
  keeper_.forget_turns();
  interrupts_ = 1;
  has_recovered_ = false;
  try {
    outputs_ = std::make_unique<OutputCollector>(*current_->feed, current_->execution.number,
                                                 shared_.options.output_bytes_max,
                                                 shared_.options.spill_bytes_max, shared_.options.directory);
    if (!kernel_) {
      current_->execution.woke = has_run_;
      wake();
      current_->execution.timings["wake_us"] = clock.now_us() - begin_us;
    }
    bring_outside_changes();
    give_pending_output();
    has_run_ = true;
    // Accepted work must not run twice: that it began is durable before it does. An id that somebody was told
    // is never unknown afterwards.
    if (current_->wanted.accepted || current_->wanted.announced) shared_.records.save(current_->execution);
    // A server that dies leaves a record of what ran, unless that was over in a moment anyway.
    record_us_ = begin_us + kRecordAfterUs;
    current_->feed->add(Started{current_->execution.woke, begin_us});
    auto language =
        current_->execution.language == "bash" ? sandbox::Language::bash : sandbox::Language::python;
    run_started_us_ = clock.now_us();
    kernel_->execute(current_->execution.id.hex(), current_->execution.code, language);
    deadline_us_ = run_started_us_ + current_->wanted.timeout_s.value_or(info_.timeout_s) * kSecondUs;
    next_capture_us_ = next_look_us_ = run_started_us_ + kSecondUs;
  } catch (const Error& error) {
    fail(error);
  } catch (const std::exception& error) {
    fail(Error(Code::internal, error.what()));
  }
}

void LiveSession::bring_outside_changes() {
  for (const auto& sentence : keeper_.bring_outside_changes(capture_as(), [this] { return open_files(); }))
    outputs_->note(sentence);
}

void LiveSession::give_pending_output() {
  for (const auto& [stream, bytes] : std::exchange(pending_output_, {})) outputs_->text(stream, bytes);
  pending_bytes_ = 0;
}

CopyKeeper::OpenFiles LiveSession::open_files() const {
  CopyKeeper::OpenFiles files;
  if (kernel_)
    for (const auto& file : kernel_->session().files_open_for_writing())
      files.emplace(file.device, file.inode);
  return files;
}

void LiveSession::run_kernel_events() {
  try {
    kernel_->on_ready();
    std::vector<sandbox::KernelRequest> requests;
    requests.swap(requests_);
    for (const auto& request : requests) request.method == "tools" ? ask_for_tools(request) : answer(request);
  } catch (const std::exception& error) {
    log::error("a session's kernel failed", {{"session", info_.id.hex()}, {"error", error.what()}});
    kernel_->session().kill(sandbox::End::protocol, error.what());
  }
  if (ended_) {
    sandbox::Outcome outcome = *ended_;
    ended_.reset();
    was_killed_ = outcome.end != sandbox::End::exited;
    close_kernel();
    if (!current_) {
      go_to_sleep();
      return;
    }
    Outcome end = Outcome::crash;
    std::string message = outcome.reason;
    switch (outcome.end) {
      case sandbox::End::oom:
        end = Outcome::oom;
        break;
      case sandbox::End::exited:
        end = outcome.exit_code.value_or(0) == 0 ? Outcome::ok : Outcome::error;
        current_->execution.exit_code = outcome.exit_code;
        message = "the program ended its interpreter; variables are gone, files are kept";
        break;
      case sandbox::End::killed:
        end = stop_ == Stop::timeout ? Outcome::timeout : Outcome::interrupted;
        if (early_end_ && stop_ != Stop::timeout) end = early_end_->outcome;
        if (early_end_) message = early_end_->why + "; variables are gone, closed files are kept";
        if (retired_ || stopping_) message = stop_message();
        break;
      default:
        break;
    }
    finish(end, message);
    go_to_sleep();
    start_next();
    return;
  }
  if (done_ && current_) {
    Outcome end = done_->status == sandbox::CellStatus::ok      ? Outcome::ok
                  : done_->status == sandbox::CellStatus::error ? Outcome::error
                                                                : Outcome::interrupted;
    current_->execution.exit_code = done_->exit_code;
    std::string message;
    bool refused = has_new_refused_processes();
    if (stopping_ && end == Outcome::interrupted) {
      message = stop_message();
    } else if (stop_ == Stop::timeout) {
      end = Outcome::timeout;
      message = "it ran longer than its time-out and was interrupted; variables are still there";
    } else if (end == Outcome::error && refused) {
      end = Outcome::pids;
      message = "it tried to start more processes than the " +
                std::to_string(kernel_->session().spec().limits.processes_max) +
                " that a session may have at once; variables are still there";
    }
    done_.reset();
    finish(end, message);
    start_next();
  }
}

Settled LiveSession::capture_now(CopyKeeper::Extent extent) {
  return keeper_.capture(extent, capture_as(), [this] { return open_files(); });
}

// Another one where code has made something else of that name.
std::string LiveSession::output_folder() {
  CaptureAs as = capture_as();
  for (int count = 1;; ++count) {
    std::string path(kOutputsFolder);
    if (count > 1) path.append("-").append(std::to_string(count));
    auto here = keeper_.copy().look(path);
    auto there = shared_.keep.files().find(as.authority, keeper_.paths().workspace_path(path));
    bool taken =
        (here && here->kind != NodeKind::folder) || (there && there->kind != workspace::EntryKind::folder);
    if (!taken || count == kOutputNamesMax) return path;
  }
}

// The name that an output would have, or the next one that neither code nor another session of the folder
// has taken.
std::string LiveSession::free_output_name(const std::string& name) {
  CaptureAs as = capture_as();
  size_t dot = name.rfind('.');
  std::string folder = output_folder();
  for (int count = 1;; ++count) {
    std::string path = folder + "/" + name.substr(0, dot);
    if (count > 1) path.append("-").append(std::to_string(count));
    path.append(name.substr(dot));
    bool taken = keeper_.copy().look(path) ||
                 shared_.keep.files().find(as.authority, keeper_.paths().workspace_path(path));
    if (!taken || count == kOutputNamesMax) return path;
  }
}

// Images that were shown, and output that was too long for the answer, become files of the session.
void LiveSession::keep_outputs() {
  for (auto& file : outputs_->take_files()) {
    std::string path = free_output_name(file.name);
    auto fill = [&](int fd) {
      if (!file.spilled) return write_all(fd, as_bytes(file.bytes), path);
      std::vector<std::byte> buffer(1 << 20);
      uint64_t offset = 0;
      for (size_t got; (got = read_at(file.spilled->get(), buffer, offset, path)) > 0; offset += got)
        write_all(fd, Bytes(buffer).first(got), path);
    };
    try {
      keeper_.copy().write_file(path, fill, {.mode = 0644, .mtime_us = 0, .replace = false});
      std::string meant = std::string(kOutputsFolder) + "/" + file.name;
      if (file.spilled && path != meant)
        outputs_->note(meant + " was taken already, so it is kept as " + path + ".");
      if (file.output_index < 0) continue;
      if (auto* bundle = bundle_of(outputs_->outputs()[static_cast<size_t>(file.output_index)]))
        bundle->file = keeper_.paths().workspace_path(path);
    } catch (const Error& error) {
      settled_.not_kept.push_back(
          {keeper_.paths().workspace_path(path), UnkeptReason::conflict, error.message(), false});
    }
  }
}

void LiveSession::finish(Outcome outcome, std::string message) {
  const Clock& clock = shared_.keep.ground().clock;
  deadline_us_ = kill_us_ = next_capture_us_ = next_look_us_ = record_us_ = 0;
  Execution& execution = current_->execution;
  TimeUs ran_us = clock.now_us();
  execution.timings["run_us"] = ran_us - run_started_us_;
  auto failed = [&](std::string_view why) {
    message += (message.empty() ? "" : "; ") + ("not everything could be kept: " + std::string(why));
    settled_.not_kept.push_back({info_.folder, UnkeptReason::error, std::string(why), false});
  };
  try {
    outputs_->flush();
    keep_outputs();
    // As it will be in its record, which becomes durable with its files.
    execution.status = ExecutionStatus::done;
    execution.outcome = outcome;
    execution.message = message;
    execution.outputs = outputs_->outputs();
    execution.ended_us = ran_us;
    settled_.append(capture_now(kernel_ ? CopyKeeper::Extent::touched : CopyKeeper::Extent::all));
  } catch (const Error& error) {
    failed(error.message());
  } catch (const std::exception& error) {
    failed(error.what());
  }
  // Nothing runs any more: once this is answered, the copy holds nothing that a power cut could take.
  if (!kernel_) keeper_.close(capture_as());
  execution.files = std::move(settled_);
  execution.timings["keep_us"] = clock.now_us() - ran_us;
  execution.outputs = outputs_->take_outputs();
  execution.status = ExecutionStatus::done;
  execution.outcome = outcome;
  execution.message = std::move(message);
  execution.ended_us = clock.now_us();
  active_us_ = execution.ended_us;
  drop_tools();
  auto feed = current_->feed;
  save(*current_);
  if (has_recovered_) shared_.told_later(info_.id);
  feed->finish(std::move(execution));
  current_.reset();
  outputs_.reset();
  --queued_;
  next_quiet_look_us_ = awake_ ? clock.now_us() + kSecondUs : 0;
  // What a capture made is saved with it. Not at once what remains: it costs a sync of the disk, the next
  // cell may wait already, and such a row only costs a comparison.
  if (save_manifest_us_ == 0) save_manifest_us_ = clock.now_us() + kSaveManifestAfterUs;
}

void LiveSession::fail(const Error& error) {
  // Nothing ran; what is there of the copy is kept when the session goes to sleep. A sandbox that was not
  // started whole is of no use: nothing would hear of its end.
  if (outputs_) outputs_->note(error.message());
  deadline_us_ = kill_us_ = next_capture_us_ = next_look_us_ = record_us_ = 0;
  Execution& execution = current_->execution;
  execution.status = ExecutionStatus::done;
  execution.outcome = Outcome::crash;
  execution.message = "the session could not run it: " + error.message();
  if (outputs_) execution.outputs = outputs_->take_outputs();
  execution.ended_us = shared_.keep.ground().clock.now_us();
  log::error("an execution could not start", {{"session", info_.id.hex()}, {"error", error.message()}});
  save(*current_);
  current_->feed->finish(std::move(execution));
  current_.reset();
  outputs_.reset();
  --queued_;
  if (!awake_) go_to_sleep();
}

void LiveSession::on_output(sandbox::Stream stream, std::string_view bytes) {
  if (outputs_) return outputs_->text(stream, bytes);
  // Between cells.
  if (pending_bytes_ >= shared_.options.output_bytes_max) return;
  bytes = bytes.substr(0, shared_.options.output_bytes_max - pending_bytes_);
  pending_bytes_ += bytes.size();
  if (!pending_output_.empty() && pending_output_.back().first == stream)
    pending_output_.back().second.append(bytes);
  else
    pending_output_.emplace_back(stream, bytes);
}
void LiveSession::on_display(sandbox::Display display) {
  if (outputs_) outputs_->display(display);
}
void LiveSession::on_clear_output() {
  if (outputs_) outputs_->clear();
}
void LiveSession::on_result(sandbox::CellResult result) {
  if (outputs_) outputs_->result(result);
}
void LiveSession::on_error(sandbox::CellError error) {
  cell_failed_ = true;
  if (outputs_) outputs_->error(error);
}
void LiveSession::on_done(sandbox::CellDone done) { done_ = std::move(done); }
void LiveSession::on_request(sandbox::KernelRequest request) { requests_.push_back(std::move(request)); }
void LiveSession::on_ended(const sandbox::Outcome& outcome) { ended_ = outcome; }

}  // namespace sk::interpreter
