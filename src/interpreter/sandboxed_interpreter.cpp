#include "interpreter/sandboxed_interpreter.h"

#include <filesystem>
#include <future>

#include "base/error.h"
#include "base/hash.h"
#include "base/log.h"
#include "interpreter/copy/added_files.h"
#include "interpreter/copy/copy_cache.h"
#include "interpreter/run/kernel_loop.h"
#include "interpreter/run/live_session.h"
#include "interpreter/run/record_saver.h"
#include "interpreter/run/session_loads.h"
#include "interpreter/sessions/admission.h"
#include "interpreter/sessions/eviction.h"
#include "interpreter/sessions/new_session.h"
#include "interpreter/sessions/registry.h"
#include "interpreter/sessions/repeats.h"
#include "interpreter/sessions/rescue.h"
#include "interpreter/sessions/session_directory.h"

namespace sk::interpreter {

namespace {

// The key of work that is done for nobody in particular.
constexpr Id kServer{};
constexpr size_t kStrandsMax = 1'000'000;
constexpr size_t kCallbackThreads = 4;
constexpr std::string_view kNamesHelp = "Memory for the names and marks of files in working copies";
constexpr int64_t kEvictionUs = 60 * kSecondUs;
// Time for keeping the last files of all sessions when the server stops.
constexpr int64_t kKeepAtStopMostUs = 10 * kSecondUs;
constexpr std::chrono::milliseconds kInterruptMost{kInterruptGraceUs / 1000 + 1000};

}  // namespace

struct SandboxedInterpreter::Impl : std::enable_shared_from_this<SandboxedInterpreter::Impl> {
  Impl(workspace::Keep& the_keep, sandbox::SandboxHost& the_host, InterpreterOptions wanted, Metrics& metrics)
      : keep(the_keep),
        host(the_host),
        options(std::move(wanted)),
        records(keep.context()),
        watcher({.folders_per_copy_max = options.watched_folders_max}),
        pool(options.threads, {.running_per_key_max = options.threads_per_principal_max,
                               .waiting_per_key_max = kStrandsMax,
                               .waiting_max = kStrandsMax}),
        callbacks(kCallbackThreads, kStrandsMax),
        saver(records, callbacks),
        names(options.copy_memory_bytes, metrics.gauge("sandkeep_copy_memory_bytes", kNamesHelp)),
        disk_guard({.data_root = WorkingCopy::prepare_parent(options.directory),
                    .reserve_bytes = options.reserve_of_disk()}),
        copies({options.directory, options.copy_keep_s, options.disk_reserve_bytes}, records),
        thumbnails(keep, host, options.directory),
        copy_context{keep,
                     records,
                     watcher,
                     options.directory,
                     {host.file_owner().uid, host.file_owner().gid},
                     options.file_bytes_max,
                     boot_or_process(options.boot_id),
                     [this] { return hurries.load(); },
                     options.disk_bytes_max,
                     options.reserve_of_disk(),
                     &names},
        services{keep, options, records, copy_context, disk_guard, pool, {}, {}, {}, {}, {}, {}, false},
        awake_gauge(metrics.gauge("sandkeep_sessions_awake", "Sessions with a running interpreter")),
        executions_total(metrics.counter("sandkeep_executions_total", "Executions that were accepted")) {
    services.start_kernel = [this](const sandbox::SessionSpec& spec, sandbox::KernelEvents& events) {
      return start_in_sandbox(host, spec, events);
    };
    services.watch_fd = [this](int fd, std::weak_ptr<LiveSession> session) {
      loop.watch(fd, [session = std::move(session)] {
        if (auto alive = session.lock()) alive->poll();
      });
    };
    services.rearm_fd = [this](int fd) { loop.rearm(fd); };
    services.forget_fd = [this](int fd) { loop.forget(fd); };
    services.save_later = [this](const SessionInfo& session, const Execution& execution) {
      saver.save(session, execution);
    };
    services.told_later = [this](const SessionInfo& session) { saver.mark_told(session); };
    loop.start([this] { tick(); });
  }

  void tick() {
    TimeUs now_us = keep.context().clock.now_us();
    if (is_due(hurry_us, now_us)) hurries = true;
    int64_t awake = 0;
    bool looks = now_us >= next_background_look_us;
    if (looks) next_background_look_us = now_us + kSecondUs;
    for (auto& session : registry.all()) {
      session->tick(now_us);
      if (session->awake()) ++awake;
      if (session->must_warn(now_us)) tell(*session, "session.expiring", now_us);
      auto overstays = [&] {
        return looks && overstays_in_background(*session, now_us, options.background_time_max_s);
      };
      if (!must_end(*session, now_us) && !overstays()) continue;
      auto lease = registry.try_acquire(session->info().id);
      // Another thread may have ended it, or given it work, before this one had the lease.
      if (!lease || lease->live() != session || session->busy()) continue;
      bool is_idle = must_end(*session, now_us);
      if (!is_idle && !overstays()) continue;
      if (!is_idle) sleep_notes.add(session->info().id, background_note(options.background_time_max_s));
      if (session->awake()) tell(*session, "session.sleep", now_us);
      end_later(std::move(*lease));
    }
    awake_gauge.set(awake);
    if (now_us < next_eviction_us || evicting.exchange(true)) return;
    next_eviction_us = now_us + std::min(kEvictionUs, options.copy_keep_s * kSecondUs);
    pool.submit_always(kServer, [this] { evict_copies(); });
  }

  // Evicts copies one after the other. A session without a copy gets a new one when it wakes.
  void evict_copies() {
    auto in_use = [this](const Id& id) { return registry.phase(id) != Phase::asleep; };
    try {
      while (!stopping) {
        auto found = copies.next(keep.context().clock.now_us(), in_use);
        if (!found) break;
        auto lease = registry.try_acquire(found->id);
        // Used since, or deleted: its copy must not be touched.
        auto now = lease && !lease->live() ? records.find(found->id) : std::nullopt;
        if (!now || now->deleted_us || !CopyKeeper(copy_context, *now).evict(capture_as(*now)))
          copies.spare(*found);
      }
    } catch (const std::exception& error) {
      log::error("working copies could not be evicted; the next round tries again",
                 {{"error", error.what()}});
    }
    evicting = false;
  }

  // Writes to the journal, so that clients that follow the workspace's events see it.
  void tell(const LiveSession& session, const char* kind, TimeUs now_us) {
    TimeUs expires_us = std::max(now_us, session.active_us() + session.info().idle_s * kSecondUs);
    saver.tell(session.info(), kind, expires_us);
  }

  // Of an actor, or of an authority.
  template <class Owner>
  std::optional<SessionInfo> find_if_any(const Owner& owner, const Id& id) {
    // A live session has its own record; deleted sessions are not live.
    auto live = registry.find(id);
    auto found = live ? std::optional(live->info()) : records.find(id);
    if (!found || !is_of(*found, owner)) return std::nullopt;
    add_live_facts(*found);
    return found;
  }

  SessionInfo find(const workspace::Authority& authority, const Id& id) {
    if (auto found = find_if_any(authority, id)) return *found;
    throw no_session(id);
  }

  // Adds facts that the record gets only later.
  void add_live_facts(SessionInfo& info) {
    auto live = registry.find_any(info.id);
    if (!live) return;
    info.active_us = live->active_us();
    info.execution_count = live->execution_count();
    if (live->awake_since_us() != 0) info.woke_us = live->awake_since_us();
    if (live->awake()) info.status = SessionStatus::running;
  }

  // Returns the live session of a lease; creates it if needed. It counts as busy until the reserved execution
  // is done.
  std::shared_ptr<LiveSession> bring_to_life(Registry::Lease& lease, const Id& guest) {
    if (auto live = lease.live()) {
      live->reserve();
      return live;
    }
    // Under the lease, so that the session cannot be deleted before it wakes. The next number follows the
    // last recorded one: a session that is asleep has no unwritten records (see end()).
    auto info = records.find(lease.id());
    if (!info) throw no_session(lease.id());
    if (info->deleted_us) throw deleted_error();
    size_t max = keep.access().limits_of(guest).sessions_max.value_or(options.sessions_per_principal_max);
    check_only_copies(records, *info, max);
    auto place = admission.admit(guest, max, info->memory_bytes);
    records.claim(*info);
    auto made = LiveSession::make(services, *info);
    made->note_at_wake(sleep_notes.take(info->id));
    made->reserve();
    lease.wake(made);
    return made;
  }

  // Ends the lease's live session, if any. The result comes when the session is asleep and its records are
  // written: the next owner's claim would refuse them. The lease is released if nobody takes the result.
  Later<Registry::Lease> end(Registry::Lease lease, LiveSession::Why why) {
    auto live = lease.live();
    if (!live) return lease;
    lease.begin_end();
    Promise<Registry::Lease> ended;
    auto held = std::make_shared<Registry::Lease>(std::move(lease));
    live->retire(why, [this, held, ended] {
      saver.after(held->id(), [held, ended] {
        held->end();
        ended.set(std::move(*held));
      });
    });
    return ended.later();
  }

  // The same for a caller that goes on without the session. The lease is released when the session is asleep.
  void end_later(Registry::Lease lease) {
    end(std::move(lease), LiveSession::Why::asked).then([](const Result<Registry::Lease>&) {});
  }

  // Acquires the lease and ends the session.
  Later<Registry::Lease> acquire_asleep(const Id& session) {
    return registry.acquire(session).chain(
        [this](Registry::Lease lease) { return end(std::move(lease), LiveSession::Why::asked); });
  }

  // Goes on with the lease on the principal's threads, for work that would occupy a request's.
  Later<Registry::Lease> on_pool(const Id& principal, Registry::Lease lease) {
    Promise<Registry::Lease> promise;
    auto held = std::make_shared<Registry::Lease>(std::move(lease));
    pool.submit_always(principal, [promise, held] { promise.set(std::move(*held)); });
    return promise.later();
  }

  // Gives an execution to its session, and wakes the session if it is asleep. `earlier`: an execution that
  // was accepted before a restart, with its id and number.
  Later<RunningExecution> queue(const workspace::Authority& authority, const Id& session, NewExecution wanted,
                                std::optional<Execution> earlier) {
    need_write(authority);
    return registry.acquire(session).map([this, authority, wanted = std::move(wanted),
                                          earlier = std::move(earlier)](Registry::Lease lease) mutable {
      return queue_now(std::move(lease), authority, std::move(wanted), std::move(earlier));
    });
  }

  RunningExecution queue_now(std::optional<Registry::Lease> lease, const workspace::Authority& authority,
                             NewExecution wanted, std::optional<Execution> earlier) {
    const Id session = lease->id();
    if (auto known = repeats.find(session, lease->live().get(), wanted)) return *known;
    if (!earlier) keep.quotas().check_room_for_records(authority, wanted.code.size());
    auto live = bring_to_life(*lease, authority.author().principal);
    bool is_queued = false;
    std::shared_ptr<void> reserved(nullptr, [&](void*) {
      if (!is_queued) live->unreserve();
    });
    live->admit(authority);
    const SessionInfo& info = live->info();
    if (!earlier) check_queue(*live, options.queue_max, keep.context().clock.now_us());
    QueuedExecution queued;
    if (earlier) {
      queued.execution = std::move(*earlier);
    } else {
      queued.execution.id = keep.context().ids.next();
      queued.execution.session = session;
      queued.execution.author = authority.author().principal;
      queued.execution.language = wanted.language;
      queued.execution.code = wanted.code;
      queued.execution.created_us = keep.context().clock.now_us();
      queued.execution.added = add_files(keep, authority, info, wanted.files);
      queued.execution.number = live->next_number();
      wanted.accepted = wanted.accepted || !wanted.idempotency_key.empty();
      if (wanted.accepted) records.save_accepted(authority, info, queued.execution, wanted);
    }
    queued.wanted = std::move(wanted);
    queued.author = authority.author();
    queued.key = authority.actor().key();
    queued.path_scope = authority.path_scope();
    queued.feed = std::make_shared<ExecutionFeed>(output_budget);
    RunningExecution running{queued.execution.id, queued.execution.number, queued.feed, queued.execution};
    executions_total.add();
    is_queued = true;
    lease.reset();  // the session is busy now, and the start of a cell must not block other callers
    live->enqueue(std::move(queued));
    return running;
  }

  // Deletes a session that is asleep.
  void remove_asleep(const Registry::Lease& lease, const workspace::Authority& authority, OnUnkept unkept) {
    auto info = records.find(lease.id());
    if (!info || info->deleted_us) return;
    CopyKeeper keeper(copy_context, *info);
    if (unkept == OnUnkept::refuse && keeper.exists() && records.copy_state(lease.id()).dirty) {
      auto found = keeper.look_for_only_copies(capture_as(*info)).only_copies;
      if (!found)
        throw Error(Code::unavailable,
                    "the last files of the session could not be kept, so it was not deleted")
            .advise(Advice::retry_or_ask_operator);
      if (!found->empty()) throw only_copies_error(*found);
    }
    records.mark_deleted(authority, *info, keep.context().clock.now_us());
    keeper.remove();
  }

  void close() {
    services.closing = true;
    for (auto& session : registry.all()) session->close_queue();
  }

  void await_executions(std::chrono::milliseconds limit) {
    std::vector<std::shared_ptr<ExecutionFeed>> running;
    for (auto& session : registry.all())
      for (auto& one : session->unfinished()) running.push_back(one.feed);
    await_all(running, limit);
  }

  void end_sessions() {
    services.closing = true;
    registry.close();
    // Interrupts first, like cancel(), so that code can close its files. Code that ignores it is killed.
    std::vector<std::shared_ptr<ExecutionFeed>> running;
    for (auto& session : registry.all()) {
      session->interrupt_for_stop();
      for (auto& one : session->unfinished()) running.push_back(one.feed);
    }
    await_all(running, kInterruptMost);
    hurry_us = keep.context().clock.now_us() + kKeepAtStopMostUs;
    // Ends all sessions concurrently.
    auto live = registry.all();
    std::vector<Later<Registry::Lease>> ended;
    for (auto& session : live)
      ended.push_back(
          registry.acquire(session->info().id, Registry::Place::always).chain([this](Registry::Lease lease) {
            return end(std::move(lease), LiveSession::Why::server_stops);
          }));
    for (auto& one : ended) one.get();
  }

  void stop() {
    if (stopping.exchange(true)) return;
    rescue.stop();  // sessions' strands run until the pool stops
    end_sessions();
    loop.stop();
    thumbnails.stop();
    pool.stop();
    saver.stop();
    callbacks.stop();
    copies.sync();
  }

  workspace::Keep& keep;
  sandbox::SandboxHost& host;
  const InterpreterOptions options;
  Records records;
  Watcher watcher;
  FairPool pool;         // by principal
  WorkerPool callbacks;  // short work: callers that waited for a lease
  RecordSaver saver;
  const std::shared_ptr<OutputBudget> output_budget =
      std::make_shared<OutputBudget>(options.output_memory_bytes);
  MemoryBudget names;  // of the files in working copies
  sandbox::DiskGuard disk_guard;
  CopyCache copies;
  Thumbnails thumbnails;
  const CopyContext copy_context;
  SessionServices services;
  Gauge& awake_gauge;
  Counter& executions_total;
  std::atomic<bool> stopping{false};
  Registry registry{callbacks, options.queue_max};
  Admission admission{{registry, options, keep.context().clock, host.sessions_memory_max(),
                       [this](Registry::Lease lease) { end_later(std::move(lease)); }, held_now, &names}};
  SleepNotes sleep_notes;
  Rescue rescue{keep, records, registry, copy_context};
  Repeats repeats{records, saver, keep.context().clock};
  std::atomic<bool> evicting{false};
  TimeUs next_eviction_us = 0;         // used by the loop's thread
  TimeUs next_background_look_us = 0;  // used by the loop's thread
  std::atomic<bool> hurries{false};    // the server has been stopping for a while
  std::atomic<TimeUs> hurry_us{0};     // 0: the server is not stopping
  KernelLoop loop;
};

SandboxedInterpreter::SandboxedInterpreter(workspace::Keep& keep, sandbox::SandboxHost& host,
                                           InterpreterOptions options, Metrics& metrics)
    : impl_(std::make_shared<Impl>(keep, host, std::move(options), metrics)) {}

SandboxedInterpreter::~SandboxedInterpreter() { impl_->stop(); }
void SandboxedInterpreter::close() { impl_->close(); }
void SandboxedInterpreter::await_executions(std::chrono::milliseconds most) { impl_->await_executions(most); }
void SandboxedInterpreter::end_sessions() { impl_->end_sessions(); }
void SandboxedInterpreter::stop() { impl_->stop(); }
void SandboxedInterpreter::note_unanswered(const Id& execution) { impl_->repeats.note_unanswered(execution); }

bool SandboxedInterpreter::has_exact_limits() const { return impl_->host.report().limits_are_exact; }

bool SandboxedInterpreter::can_have_thumbnail(const workspace::Version& version) const {
  return Thumbnails::can_have(version);
}

void SandboxedInterpreter::make_thumbnail(const workspace::Version& version, Thumbnails::OnMade on_made) {
  impl_->thumbnails.get(version, std::move(on_made));
}

InterpreterLoad SandboxedInterpreter::load() const {
  return {.sessions = loads_of(impl_->registry.all(), impl_->registry.ending()),
          .sessions_max = impl_->options.sessions_max,
          .threads = impl_->pool.load(),
          .pools = {{"callbacks", impl_->callbacks.load()},
                    {"records", impl_->saver.load()},
                    {"thumbnails", impl_->thumbnails.load()}},
          .output_bytes = impl_->output_budget->used(),
          .output_bytes_max = impl_->options.output_memory_bytes};
}

void SandboxedInterpreter::recover() {
  impl_->records.end_interrupted_executions(impl_->keep.context().clock.now_us());
  std::vector<std::future<void>> done;
  for (auto& info : impl_->records.dirty_sessions()) {
    auto task = std::make_shared<std::packaged_task<void()>>([impl = impl_.get(), info]() mutable {
      auto lease = impl->registry.acquire(info.id).get();
      if (!CopyKeeper(impl->copy_context, info).exists()) return;
      try {
        impl->records.claim(info);
        CopyKeeper keeper(impl->copy_context, info);
        keeper.recover(capture_as(info));
      } catch (const std::exception& error) {
        log::error("a session's files could not be compared after a restart; its next execution retries",
                   {{"session", info.id.hex()}, {"error", error.what()}});
      }
    });
    done.push_back(task->get_future());
    impl_->pool.submit_always(info.owner, [task] { (*task)(); });
  }
  for (auto& one : done) one.get();
  for (auto& info : impl_->copies.of_deleted_sessions())
    impl_->pool.submit_always(info.owner,
                              [impl = impl_.get(), info] { CopyKeeper(impl->copy_context, info).remove(); });
}

void SandboxedInterpreter::resume_accepted() {
  auto& keep = impl_->keep;
  for (auto& [execution, wanted, key, scope] : impl_->records.accepted()) {
    auto session = impl_->records.find(execution.session);
    if (!session) continue;
    wanted.accepted = true;
    // Until it has its right again, a failure means that the right ended while the server was stopped.
    execution.outcome = Outcome::revoked;
    try {
      auto actor = keep.access().recorded_actor(identity::ReplayKey(), execution.author, key);
      auto authority =
          keep.workspaces()
              .enter(actor, session->workspace.with_prefix(prefix::workspace), workspace::Right::write)
              .limited_to(scope);
      execution.outcome.reset();
      impl_->queue(authority, execution.session, std::move(wanted), execution).get();
    } catch (const Error& error) {
      execution.status = ExecutionStatus::done;
      execution.outcome = execution.outcome.value_or(Outcome::interrupted);
      execution.message =
          "it was accepted before the server stopped and cannot be run now: " + error.message();
      execution.ended_us = keep.context().clock.now_us();
      impl_->records.save(*session, execution);
    }
  }
}

SessionInfo SandboxedInterpreter::create(const workspace::Authority& authority, const NewSession& wanted) {
  need_write(authority);
  auto& keep = impl_->keep;
  const auto& options = impl_->options;
  SessionInfo info;
  info.id = keep.context().ids.next();
  info.workspace = authority.workspace_id();
  info.owner = authority.author().principal;
  fill_from_request(info, wanted, options);
  info.runtime = impl_->host.need_runtime(wanted.runtime);
  info.folder = folder_of(info, wanted, authority.path_scope());
  authority.need_at(workspace::Right::write, info.folder);
  auto existing = info.folder.empty() ? std::nullopt : keep.files().find(authority, info.folder);
  if (existing && existing->kind != workspace::EntryKind::folder)
    throw Error(Code::conflict, quoted_path(info.folder) + " is a file, so it cannot be a session's folder")
        .advise(Advice::choose_other_folder);
  info.added = add_files(keep, authority, info, wanted.files);
  info.created_us = info.active_us = keep.context().clock.now_us();
  impl_->records.insert(authority, info);
  return info;
}

std::optional<SessionInfo> SandboxedInterpreter::find(const workspace::Actor& actor, const Id& session) {
  return impl_->find_if_any(actor, session);
}

std::vector<SessionInfo> SandboxedInterpreter::list(const workspace::Actor& actor,
                                                    const SessionQuery& query) {
  auto sessions = impl_->records.list(actor.principal(), actor.only_workspace(), query);
  for (auto& info : sessions) impl_->add_live_facts(info);
  return sessions;
}

Later<Done> SandboxedInterpreter::remove(const workspace::Authority& authority, const Id& session,
                                         OnUnkept unkept) {
  refuse_read_only(authority, "delete sessions");
  if (impl_->find(authority, session).status == SessionStatus::deleted) return Done{};
  // A refused call changes nothing: code keeps running.
  auto may = unkept == OnUnkept::refuse ? impl_->rescue.refuse_if_unkept(session) : Later<Done>(Done{});
  // Holds one lease until the end, so that the session cannot wake before its copy is gone.
  return may.chain([impl = impl_.get(), session](Done) { return impl->acquire_asleep(session); })
      .chain([impl = impl_.get(), authority](Registry::Lease lease) {
        return impl->on_pool(authority.author().principal, std::move(lease));
      })
      .map([impl = impl_.get(), authority, unkept](const Registry::Lease& lease) {
        impl->remove_asleep(lease, authority, unkept);
        return Done{};
      });
}

Later<Done> SandboxedInterpreter::sleep(const workspace::Authority& authority, const Id& session) {
  refuse_read_only(authority, "end sessions");
  impl_->find(authority, session);
  return impl_->acquire_asleep(session).map([](const Registry::Lease&) { return Done{}; });
}

Later<Interpreter::Retried> SandboxedInterpreter::retry_unkept(const workspace::Authority& authority,
                                                               const Id& session) {
  refuse_read_only(authority, "change files");
  if (impl_->find(authority, session).status == SessionStatus::deleted) throw deleted_error();
  need_write(authority);
  return impl_->rescue.retry(authority, session);
}

Later<RunningExecution> SandboxedInterpreter::execute(const workspace::Authority& authority,
                                                      const Id& session, NewExecution wanted) {
  refuse_read_only(authority, "run code");
  if (impl_->find(authority, session).status == SessionStatus::deleted) throw deleted_error();
  if (impl_->services.closing)
    throw Error(Code::unavailable, "the server is stopping").advise(Advice::retry_when_back);
  check(wanted, impl_->options);
  return impl_->queue(authority, session, std::move(wanted), std::nullopt);
}

bool SandboxedInterpreter::cancel(const workspace::Authority& authority, const Id& session,
                                  const Id& execution) {
  refuse_read_only(authority, "cancel executions");
  auto running = find_running(authority, session, execution);
  if (!running) {
    if (!find_execution(authority, session, execution))
      throw Error(Code::not_found, "the session has no such execution");
    return false;
  }
  if (running->feed->finished()) return false;
  auto live = impl_->registry.find(session);
  if (!live) return false;
  live->cancel(execution);
  return true;
}

bool SandboxedInterpreter::answer_tools(const workspace::Authority& authority, const Id& session,
                                        const Id& execution, int64_t event, Json results) {
  refuse_read_only(authority, "answer for tools");
  impl_->find(authority, session);
  auto live = impl_->registry.find(session);
  return live && live->answer_tools(execution, event, std::move(results));
}

std::optional<RunningExecution> SandboxedInterpreter::find_running(const workspace::Authority& authority,
                                                                   const Id& session, const Id& execution) {
  impl_->find(authority, session);
  auto live = impl_->registry.find_any(session);
  return live ? live->find(execution) : std::nullopt;
}

void SandboxedInterpreter::forget_finished(const Id& workspace, TimeUs before_us) {
  for (auto& live : impl_->registry.all())
    if (live->info().workspace == workspace) live->forget_finished(before_us);
}

std::optional<Execution> SandboxedInterpreter::find_execution(const workspace::Authority& authority,
                                                              const Id& session, const Id& execution) {
  if (auto running = find_running(authority, session, execution); running && running->feed->finished())
    return running->feed->result();
  return impl_->saver.find_execution(session, execution);
}

ExportedHistory SandboxedInterpreter::export_history(const workspace::Authority& authority, const Id& session,
                                                     ExportFormat format) {
  SessionInfo info = impl_->find(authority, session);
  return interpreter::export_history(
      info, format, impl_->options.directory,
      [&](int64_t after, size_t limit) { return impl_->saver.executions_after(session, after, limit); });
}

workspace::Page<Execution> SandboxedInterpreter::executions(const workspace::Authority& authority,
                                                            const Id& session, int64_t before, size_t limit) {
  impl_->find(authority, session);
  return impl_->saver.list_executions(session, before, {limit, impl_->options.list_bytes_max});
}

std::vector<KeptFile> SandboxedInterpreter::kept_files(const workspace::Authority& authority,
                                                       const Id& session, const Id& execution, int64_t after,
                                                       size_t limit) {
  return kept_page(find_execution(authority, session, execution), after, limit);
}

}  // namespace sk::interpreter
