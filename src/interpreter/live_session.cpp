#include "interpreter/live_session.h"

#include <filesystem>

#include "base/error.h"
#include "base/log.h"
#include "workspace/path.h"

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
      count_(info_.execution_count) {
  has_run_ = info_.execution_count > 0;
}

std::shared_ptr<LiveSession> LiveSession::make(Shared& shared, SessionInfo info) {
  auto session = std::make_shared<LiveSession>(shared, std::move(info));
  session->strand_.owned_by(session);
  return session;
}

LiveSession::~LiveSession() { close_kernel(); }

void LiveSession::enqueue(QueuedExecution execution) {
  ++queued_;
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
    queue_.push_back(std::move(*execution));
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
      waiting.execution.status = "done";
      waiting.execution.end = "interrupted";
      waiting.execution.message = "it was cancelled before it started";
      waiting.execution.ended_us = shared_.keep.ground().clock.now_us();
      --queued_;
      shared_.save_later(waiting.execution);
      waiting.feed->finish(std::move(waiting.execution));
      return;
    }
  });
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
  if (!manifest_) return;
  try {
    manifest_->save();
  } catch (const Error& error) {
    log::warn("a manifest could not be saved", {{"error", error.message()}});
  }
}

void LiveSession::put_to_sleep(std::function<void()> then) {
  strand_.post([this, self = shared_from_this(), then = std::move(then)] {
    if (current_ && kernel_) {
      kernel_->session().kill(sandbox::End::killed, "interrupted");
      if (kernel_->session().wait_ended(5'000))
        while (kernel_ && current_ && !kernel_->has_ended()) run_kernel_events();
    }
    while (!queue_.empty()) {
      QueuedExecution waiting = std::move(queue_.front());
      queue_.pop_front();
      waiting.execution.status = "done";
      waiting.execution.end = "interrupted";
      waiting.execution.message = "the session was ended before it started";
      --queued_;
      shared_.save_later(waiting.execution);
      waiting.feed->finish(std::move(waiting.execution));
    }
    go_to_sleep();
    then();
  });
}

void LiveSession::recover(std::function<void()> then) {
  strand_.post([this, self = shared_from_this(), then = std::move(then)] {
    try {
      attach_copy();
      bring_copy_up_to_date();
      go_to_sleep();
    } catch (const std::exception& error) {
      log::error(
          "a session's files could not be looked through after a restart; its next execution tries again",
          {{"session", info_.id.hex()}, {"error", error.what()}});
    }
    then();
  });
}

void LiveSession::find_only_copies(std::function<void(std::optional<std::vector<NotKept>>)> then) {
  strand_.post([this, self = shared_from_this(), then = std::move(then)] {
    try {
      attach_copy();
      CopyState state = shared_.records.copy_state(info_.id);
      if (state.identity == copy_->identity()) {  // else nobody knows what is in it
        manifest_->load();
        synced_seq_ = state.synced_seq;
        go_to_sleep();
      }
    } catch (const std::exception& error) {
      log::error("a session's files could not be looked through",
                 {{"session", info_.id.hex()}, {"error", error.what()}});
    }
    then(only_copies_);
  });
}

void LiveSession::evict(std::function<void(bool evicted)> then) {
  strand_.post([this, self = shared_from_this(), then = std::move(then)] {
    bool evicted = false;
    try {
      std::string directory = shared_.options.directory + "/" + info_.id.hex();
      if (std::filesystem::exists(directory)) {
        attach_copy();
        CopyState state = shared_.records.copy_state(info_.id);
        if (state.identity == copy_->identity()) {  // else nobody knows what is in it
          manifest_->load();
          synced_seq_ = state.synced_seq;
          evicted = go_to_sleep();
        }
      } else {
        evicted = true;
      }
      if (evicted) {
        shared_.records.forget_copy(info_.id);
        auto owner = shared_.host.file_owner();
        if (std::filesystem::exists(directory))
          WorkingCopy(directory, Owner{owner.uid, owner.gid}).remove_all();
      }
    } catch (const std::exception& error) {
      log::error("a working copy could not be removed",
                 {{"session", info_.id.hex()}, {"error", error.what()}});
    }
    then(evicted);
  });
}

CaptureAs LiveSession::capture_as() {
  CaptureAs as;
  if (current_) {
    as.actor = current_->actor;
  } else {
    as.actor.principal = info_.owner;
    as.actor.name = "session " + info_.name;
  }
  // The session was opened with the right to write; its captures do not depend on the scope of the key that
  // happens to run it.
  as.workspace.id = info_.workspace;
  as.workspace.role = workspace::Right::write;
  as.source.kind = "execution";
  as.source.detail = {{"session_id", info_.id.with_prefix(workspace::prefix::session)}};
  if (current_)
    as.source.detail["execution_id"] = current_->execution.id.with_prefix(workspace::prefix::execution);
  return as;
}

void LiveSession::attach_copy() {
  auto owner = shared_.host.file_owner();
  copy_ = std::make_unique<WorkingCopy>(shared_.options.directory + "/" + info_.id.hex(),
                                        Owner{owner.uid, owner.gid});
  manifest_ = std::make_unique<Manifest>(shared_.keep.ground(), info_.id);
  capture_ = std::make_unique<Capture>(shared_.keep, *copy_, *manifest_, info_.folder,
                                       shared_.options.file_bytes_max);
  sync_ = std::make_unique<Sync>(shared_.keep, *copy_, *manifest_, *capture_, info_.folder);
}

// The copy, brought up to date from both sides: what code left in it is kept first, then what others changed
// comes in.
void LiveSession::bring_copy_up_to_date() {
  CopyState state = shared_.records.copy_state(info_.id);
  CaptureAs as = capture_as();
  bool same_copy = state.identity == copy_->identity();
  if (!same_copy) {
    // Another directory than the manifest describes: nothing in it, or missing from it, means anything.
    manifest_->load();
    manifest_->clear();
    synced_seq_ = sync_->bring_all(as.workspace);
  } else {
    manifest_->load();
    if (state.dirty) {
      Touched all;
      all.everything = true;
      settled_.append(capture_->settle(all, {}, as));
    }
    synced_seq_ = sync_->bring_changes(as.workspace, state.synced_seq);
  }
  manifest_->save();
  if (!same_copy || !state.dirty) {
    // A sync of the disk, which the start of a sandbox need not wait for; the first byte of code does.
    copy_recorded_ = std::async(std::launch::async, [&records = shared_.records, id = info_.id,
                                                     now = CopyState{true, copy_->identity(), synced_seq_}] {
      records.save_copy_state(id, now);
    });
  }
}

void LiveSession::wake() {
  attach_copy();
  sandbox::SessionSpec spec;
  spec.id = info_.id.hex();
  spec.data_dir = copy_->directory();
  spec.limits.memory_bytes = info_.memory_bytes;
  spec.limits.file_bytes_max = kApparentBytesMax;
  spec.runtime = info_.runtime;
  // It sees the folder; that its files come while it starts does not matter before code runs.
  auto starting = std::async(std::launch::async, [&] { return shared_.host.start(spec); });
  bring_copy_up_to_date();
  shared_.watcher.add(info_.id, *copy_);
  outside_changes_ = true;
  subscription_ = shared_.keep.feed().subscribe(info_.workspace, [this] { outside_changes_ = true; });
  kernel_ = std::make_unique<sandbox::Kernel>(starting.get(), static_cast<sandbox::KernelEvents&>(*this));
  std::vector<std::pair<std::string, std::string>> environment;
  for (const auto& [name, value] : info_.environment.items())
    environment.emplace_back(name, value.get<std::string>());
  if (!environment.empty()) kernel_->configure(environment);
  end_why_.clear();
  processes_refused_ = 0;
  crowded_looks_ = 0;
  // Stopped at once, on the guard's thread, since this strand may be busy reading what fills the disk.
  auto over = [this, weak = weak_from_this(), session = &kernel_->session()](const std::string& why) {
    session->freeze();
    if (auto self = weak.lock()) strand_.post([this, self, why] { end_for("disk", why); });
  };
  disk_ticket_ = shared_.disk_guard.watch(copy_->directory(),
                                          {shared_.options.disk_bytes_max, shared_.options.files_max}, over);
  if (copy_recorded_.valid()) copy_recorded_.get();
  shared_.watch_fd(kernel_->poll_fd(), weak_from_this());
  awake_since_us_ = shared_.keep.ground().clock.now_us();
  awake_ = true;
}

void LiveSession::close_kernel() {
  if (!kernel_) return;
  disk_ticket_.reset();
  shared_.forget_fd(kernel_->poll_fd());
  kernel_.reset();
  awake_ = false;
}

bool LiveSession::go_to_sleep() {
  if (kernel_) {
    kernel_->session().kill(sandbox::End::killed, "asleep");
    if (!kernel_->session().wait_ended(10'000))
      log::error("a sandbox did not end", {{"session", info_.id.hex()}});
    close_kernel();
  }
  subscription_ = {};
  if (!copy_) return true;
  bool all_kept = false;
  only_copies_.reset();
  try {
    if (copy_recorded_.valid()) copy_recorded_.get();
    Touched all;
    all.everything = true;
    auto not_kept = capture_->settle(all, {}, capture_as()).not_kept;
    all_kept = not_kept.empty();
    manifest_->save();
    std::erase_if(not_kept, [](const NotKept& item) { return !item.only_copy; });
    // What was left out of the copy is looked for again from the beginning.
    int64_t synced_seq = sync_->has_skipped() ? 0 : synced_seq_;
    shared_.records.save_copy_state(info_.id, {!not_kept.empty(), copy_->identity(), synced_seq});
    only_copies_ = std::move(not_kept);
    shared_.records.save_activity(info_.id, active_us_, count_);
  } catch (const std::exception& error) {
    all_kept = false;
    log::error("a session's last files could not be kept; its copy stays and is looked through again",
               {{"session", info_.id.hex()}, {"error", error.what()}});
  }
  shared_.watcher.remove(info_.id);
  sync_.reset();
  capture_.reset();
  manifest_.reset();
  copy_.reset();
  return all_kept;
}

void LiveSession::start_next() {
  while (!current_ && !queue_.empty()) {
    QueuedExecution next = std::move(queue_.front());
    queue_.pop_front();
    start(next);
  }
}

void LiveSession::start(QueuedExecution& next) {
  const Clock& clock = shared_.keep.ground().clock;
  TimeUs begin_us = clock.now_us();
  next.execution.status = "running";
  next.execution.started_us = begin_us;
  next.execution.timings["queue_us"] = begin_us - next.execution.created_us;
  current_ = std::move(next);
  settled_ = {};
  done_.reset();
  ended_.reset();
  cell_failed_ = false;
  stop_ = Stop::none;
  captures_ = 0;
  interrupts_ = 1;
  outputs_ = std::make_unique<OutputCollector>(*current_->feed, current_->execution.number,
                                               shared_.options.output_bytes_max,
                                               shared_.options.spill_bytes_max, shared_.options.directory);
  try {
    if (!kernel_) {
      current_->execution.woke = has_run_;
      wake();
      current_->execution.timings["wake_us"] = clock.now_us() - begin_us;
    }
    bring_outside_changes();
    has_run_ = true;
    // A server that dies leaves a record of what ran, unless that was over in a moment anyway.
    record_us_ = begin_us + kRecordAfterUs;
    current_->feed->add("started", {{"id", current_->execution.id.with_prefix(workspace::prefix::execution)},
                                    {"woke", current_->execution.woke},
                                    {"started_at", to_iso8601(begin_us)}});
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
  if (outside_changes_.exchange(false) || sync_->has_skipped()) {
    try {
      synced_seq_ = sync_->bring_changes(capture_as().workspace, synced_seq_);
      manifest_->save();
    } catch (...) {
      outside_changes_ = true;
      throw;
    }
  }
  for (const auto& sentence : sync_->take_untold()) outputs_->note(sentence);
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
    close_kernel();
    if (!current_) {
      go_to_sleep();
      return;
    }
    std::string end = "crash", message = outcome.reason;
    switch (outcome.end) {
      case sandbox::End::oom:
        end = "oom";
        break;
      case sandbox::End::exited:
        end = outcome.exit_code.value_or(0) == 0 ? "ok" : "error";
        current_->execution.exit_code = outcome.exit_code;
        message = "the program ended its interpreter; variables are gone, files are kept";
        break;
      case sandbox::End::killed:
        end = stop_ == Stop::timeout ? "timeout" : end_why_.empty() ? "interrupted" : outcome.reason;
        if (!end_why_.empty()) message = end_why_ + "; variables are gone, closed files are kept";
        break;
      default:
        break;
    }
    finish(end, message);
    go_to_sleep();
    start_next();
  } else if (done_ && current_) {
    std::string end = done_->status == sandbox::CellStatus::ok      ? "ok"
                      : done_->status == sandbox::CellStatus::error ? "error"
                                                                    : "interrupted";
    current_->execution.exit_code = done_->exit_code;
    std::string message;
    bool refused = has_new_refused_processes();
    if (stop_ == Stop::timeout) {
      end = "timeout";
      message = "it ran longer than its time-out and was interrupted; variables are still there";
    } else if (end == "error" && refused) {
      end = "pids";
      message = "it tried to start more processes than the " +
                std::to_string(kernel_->session().spec().limits.processes_max) +
                " that a session may have at once; variables are still there";
    }
    done_.reset();
    finish(end, message);
    start_next();
  }
}

Settled LiveSession::capture_now(bool everything) {
  Touched touched = shared_.watcher.take(info_.id);
  touched.everything = touched.everything || everything;
  if (touched.empty() && !capture_->has_refused()) return {};
  std::set<std::pair<uint64_t, uint64_t>> open_files;
  if (kernel_ && (touched.opened || touched.everything || !touched.paths.empty()))
    for (const auto& file : kernel_->session().files_open_for_writing())
      open_files.emplace(file.device, file.inode);
  Settled settled;
  try {
    settled = capture_->settle(touched, open_files, capture_as());
  } catch (...) {
    Touched again;
    again.everything = true;
    shared_.watcher.put_back(info_.id, again);
    throw;
  }
  if (!open_files.empty()) {
    // Still being written: look again next time, whether or not an event says so.
    Touched again;
    again.opened = true;
    shared_.watcher.put_back(info_.id, again);
  }
  return settled;
}

// The name that an output would have, or the next one that neither code nor another session of the folder
// has taken.
std::string LiveSession::free_output_name(const std::string& name) {
  CaptureAs as = capture_as();
  size_t dot = name.rfind('.');
  for (int count = 1;; ++count) {
    std::string path = std::string(kOutputsFolder) + "/" + name.substr(0, dot);
    if (count > 1) path.append("-").append(std::to_string(count));
    path.append(name.substr(dot));
    bool taken = copy_->look(path) || shared_.keep.files().find(as.workspace, capture_->workspace_path(path));
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
      copy_->write_file(path, fill, {.mode = 0644, .mtime_us = 0, .replace = false});
      if (file.spilled && !path.ends_with("/" + file.name))
        outputs_->note("outputs/" + file.name + " was there already, so it is kept as " + path + ".");
      if (file.output_index >= 0)
        outputs_->outputs()[static_cast<size_t>(file.output_index)]["file"] = capture_->workspace_path(path);
    } catch (const Error& error) {
      settled_.not_kept.push_back({capture_->workspace_path(path), "conflict", error.message(), false});
    }
  }
}

void LiveSession::finish(std::string end, std::string message) {
  const Clock& clock = shared_.keep.ground().clock;
  deadline_us_ = kill_us_ = next_capture_us_ = next_look_us_ = record_us_ = 0;
  Execution& execution = current_->execution;
  TimeUs ran_us = clock.now_us();
  execution.timings["run_us"] = ran_us - run_started_us_;
  try {
    outputs_->flush();
    keep_outputs();
    settled_.append(capture_now(kernel_ == nullptr));
  } catch (const Error& error) {
    message += (message.empty() ? "" : "; ") + ("not everything could be kept: " + error.message());
    settled_.not_kept.push_back({info_.folder, "error", error.message(), false});
  }
  execution.files = std::move(settled_);
  execution.timings["keep_us"] = clock.now_us() - ran_us;
  execution.outputs = outputs_->take_outputs();
  execution.status = "done";
  execution.end = std::move(end);
  execution.message = std::move(message);
  execution.ended_us = clock.now_us();
  active_us_ = execution.ended_us;
  drop_tools();
  auto feed = current_->feed;
  shared_.save_later(execution);
  feed->finish(std::move(execution));
  current_.reset();
  outputs_.reset();
  --queued_;
  // What a capture made is saved with it. Not at once what remains: it costs a sync of the disk, the next
  // cell may wait already, and such a row only costs a comparison.
  if (save_manifest_us_ == 0) save_manifest_us_ = clock.now_us() + kSaveManifestAfterUs;
}

void LiveSession::fail(const Error& error) {
  // Nothing ran; what is there of the copy is kept when the session goes to sleep.
  outputs_->note(error.message());
  deadline_us_ = kill_us_ = next_capture_us_ = next_look_us_ = record_us_ = 0;
  Execution& execution = current_->execution;
  execution.status = "done";
  execution.end = "crash";
  execution.message = "the session could not run it: " + error.message();
  execution.outputs = outputs_->take_outputs();
  execution.ended_us = shared_.keep.ground().clock.now_us();
  log::error("an execution could not start", {{"session", info_.id.hex()}, {"error", error.message()}});
  shared_.save_later(execution);
  current_->feed->finish(std::move(execution));
  current_.reset();
  outputs_.reset();
  --queued_;
  if (!kernel_) go_to_sleep();
}

void LiveSession::on_output(sandbox::Stream stream, std::string_view bytes) {
  if (outputs_) outputs_->text(stream, bytes);
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
