#include "interpreter/interpreter.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <filesystem>
#include <future>
#include <thread>
#include <unordered_map>

#include "base/error.h"
#include "base/log.h"
#include "interpreter/added_files.h"
#include "interpreter/copy_cache.h"
#include "interpreter/live_session.h"
#include "interpreter/new_session.h"
#include "interpreter/only_copies.h"
#include "interpreter/session_book.h"
#include "interpreter/sleepers.h"
#include "workspace/path.h"

namespace sk::interpreter {

namespace {

constexpr int64_t kEvictionUs = 60 * kSecondUs;
constexpr auto kTick = std::chrono::milliseconds(100);
constexpr size_t kCodeBytesMax = 8 << 20;

std::string safe_name(std::string_view name) {
  std::string out;
  for (char c : name) out += c == '/' || static_cast<unsigned char>(c) < 32 ? '-' : c;
  return out.substr(0, 100);
}

std::string folder_of(const std::string& path) {
  std::filesystem::create_directories(path);
  WorkingCopy::clear_aside(path);
  return path;
}

}  // namespace

struct Interpreter::Impl : std::enable_shared_from_this<Interpreter::Impl> {
  Impl(workspace::Keep& the_keep, sandbox::SandboxHost& the_host, InterpreterOptions wanted, Metrics& metrics)
      : keep(the_keep),
        host(the_host),
        options(std::move(wanted)),
        records(keep.ground()),
        pool(options.threads, 1'000'000),
        saver(1, 100'000),
        disk_guard({.data_root = folder_of(options.directory), .reserve_bytes = options.disk_reserve_bytes}),
        copies({options.directory, options.copy_keep_s, options.disk_reserve_bytes}, records),
        thumbnails(keep, host, options.directory),
        shared{keep, host, options, records, watcher, disk_guard, pool, {}, {}, {}, {}},
        awake_gauge(metrics.gauge("sandkeep_sessions_awake", "Sessions with a running interpreter")),
        executions_total(metrics.counter("sandkeep_executions_total", "Executions that were accepted")),
        epoll(::epoll_create1(EPOLL_CLOEXEC)),
        wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    shared.watch_fd = [this](int fd, std::weak_ptr<LiveSession> session) {
      {
        std::lock_guard lock(fds_mutex);
        by_fd[fd] = std::move(session);
      }
      epoll_event event{EPOLLIN | EPOLLONESHOT, {.fd = fd}};
      ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &event);
    };
    shared.rearm_fd = [this](int fd) {
      epoll_event event{EPOLLIN | EPOLLONESHOT, {.fd = fd}};
      ::epoll_ctl(epoll.get(), EPOLL_CTL_MOD, fd, &event);
    };
    shared.forget_fd = [this](int fd) {
      ::epoll_ctl(epoll.get(), EPOLL_CTL_DEL, fd, nullptr);
      std::lock_guard lock(fds_mutex);
      by_fd.erase(fd);
    };
    shared.save_later = [this](const Execution& execution) {
      saver.submit_always([this, execution] {
        try {
          records.save(execution);
        } catch (const Error& error) {
          log::error("an execution's record could not be saved", {{"error", error.message()}});
        }
      });
    };
    epoll_event event{EPOLLIN, {.fd = wake.get()}};
    ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, wake.get(), &event);
    loop = std::thread([this] { run_loop(); });
  }

  void run_loop() {
    auto next_tick = std::chrono::steady_clock::now() + kTick;
    while (!stopping) {
      epoll_event events[64];
      auto wait =
          std::chrono::duration_cast<std::chrono::milliseconds>(next_tick - std::chrono::steady_clock::now())
              .count();
      int count = ::epoll_wait(epoll.get(), events, 64, static_cast<int>(std::max<int64_t>(0, wait)));
      for (int i = 0; i < count; ++i) {
        std::shared_ptr<LiveSession> session;
        {
          std::lock_guard lock(fds_mutex);
          auto found = by_fd.find(events[i].data.fd);
          if (found != by_fd.end()) session = found->second.lock();
        }
        if (session) session->poll();
      }
      if (std::chrono::steady_clock::now() < next_tick) continue;
      next_tick = std::chrono::steady_clock::now() + kTick;
      tick();
    }
  }

  void tick() {
    TimeUs now_us = keep.ground().clock.now_us();
    int64_t awake = 0;
    for (auto& session : all_live()) {
      session->tick(now_us);
      if (session->awake()) ++awake;
      if (session->must_warn(now_us)) tell(*session, "session.expiring", now_us);
      int64_t idle_us = session->info().idle_s * kSecondUs;
      bool idle = !session->busy() && idle_us > 0 && now_us - session->active_us() > idle_us;
      bool over = !session->busy() && !session->awake() && now_us - session->active_us() > 60 * kSecondUs;
      int64_t awake_max_us = session->info().awake_max_s * kSecondUs;
      bool long_awake = !session->busy() && session->awake() && awake_max_us > 0 &&
                        now_us - session->awake_since_us() > awake_max_us;
      if (idle || over || long_awake) {
        if ((idle || long_awake) && session->awake()) tell(*session, "session.sleep", now_us);
        {
          std::lock_guard lock(mutex);
          if (session->busy()) continue;
          live.erase(session->info().id);
          ending.insert({session->info().id, session});
        }
        session->put_to_sleep([this, id = session->info().id] {
          std::lock_guard lock(mutex);
          ending.erase(id);
          ended.notify_all();
        });
      }
    }
    awake_gauge.set(awake);
    if (now_us < next_eviction_us || evicting.exchange(true)) return;
    next_eviction_us = now_us + std::min(kEvictionUs, options.copy_keep_s * kSecondUs);
    pool.submit_always([this] { evict_next(); });
  }

  // Removes copies that may go, one after the other. A session whose copy goes wakes afterwards.
  void evict_next() {
    auto in_use = [this](const Id& id) {
      std::lock_guard lock(mutex);
      return live.contains(id) || ending.contains(id);
    };
    std::shared_ptr<LiveSession> session;
    while (!stopping && !session) {
      auto found = copies.next(keep.ground().clock.now_us(), in_use);
      if (!found) break;
      std::lock_guard lock(mutex);
      if (live.contains(found->id) || ending.contains(found->id)) continue;
      session = LiveSession::make(shared, *found);
      ending.insert({found->id, session});
    }
    if (!session) {
      evicting = false;
      return;
    }
    session->evict([this, info = session->info()](bool evicted) {
      if (!evicted) copies.spare(info);
      {
        std::lock_guard lock(mutex);
        ending.erase(info.id);
        ended.notify_all();
      }
      pool.submit_always([this] { evict_next(); });
    });
  }

  // On the record, so that whoever follows the workspace's events hears of it.
  void tell(const LiveSession& session, const char* kind, TimeUs now_us) {
    TimeUs expires_us = std::max(now_us, session.active_us() + session.info().idle_s * kSecondUs);
    saver.submit_always([this, info = session.info(), kind, expires_us] {
      try {
        records.tell(info, kind, expires_us);
      } catch (const Error& error) {
        log::error("a session's event could not be recorded", {{"error", error.message()}});
      }
    });
  }

  std::vector<std::shared_ptr<LiveSession>> all_live() {
    std::lock_guard lock(mutex);
    std::vector<std::shared_ptr<LiveSession>> result;
    for (auto& [id, session] : live) result.push_back(session);
    return result;
  }

  std::optional<SessionInfo> find_if_any(const workspace::Actor& actor, const Id& id) {
    // What a live session is, it knows itself; a deleted one is not among them.
    std::optional<SessionInfo> found;
    {
      std::lock_guard lock(mutex);
      auto alive = live.find(id);
      if (alive != live.end()) found = alive->second->info();
    }
    if (!found) found = records.find(id);
    if (!found || !is_of(*found, actor)) return std::nullopt;
    std::lock_guard lock(mutex);
    add_live_facts(*found);
    return found;
  }

  SessionInfo find(const workspace::Actor& actor, const Id& id) {
    auto found = find_if_any(actor, id);
    if (!found) throw no_session(id);
    return *found;
  }

  // What the record learns only later. With `mutex` held.
  void add_live_facts(SessionInfo& info) {
    auto& from = live.contains(info.id) ? live : ending;
    auto alive = from.find(info.id);
    if (alive == from.end()) return;
    info.active_us = alive->second->active_us();
    info.execution_count = alive->second->execution_count();
    if (alive->second->awake_since_us() != 0) info.woke_us = alive->second->awake_since_us();
    if (alive->second->awake()) info.status = Status::running;
  }

  // What ended before this call is in the catalog after it.
  void flush_records() {
    auto done = std::make_shared<std::promise<void>>();
    saver.submit_always([done] { done->set_value(); });
    done->get_future().wait();
  }

  // The live one, made when there is none; waits while an earlier one is going to sleep, since two must not
  // share a copy.
  std::shared_ptr<LiveSession> bring_to_life(const workspace::Actor& actor, const SessionInfo& info) {
    std::unique_lock lock(mutex);
    ended.wait(lock, [&] { return !ending.contains(info.id); });
    auto found = live.find(info.id);
    // Held: the caller lets go of it once it has something to do.
    if (found != live.end()) {
      found->second->hold();
      return found->second;
    }
    size_t mine = 0, all = 0;
    for (auto& [id, session] : live) {
      ++all;
      if (session->info().owner == actor.principal) ++mine;
    }
    auto refuse = [&](std::string what) {
      return Error(Code::too_many_requests, std::move(what))
          .hint("Wait until one goes to sleep, or delete one with DELETE /api/v1/sessions/{id}.");
    };
    // Sleep costs the other session its variables; a refusal would cost this caller its answer.
    if (mine >= options.sessions_per_principal_max && !make_room(actor.principal, actor.principal))
      throw refuse("you have " + std::to_string(mine) + " sessions awake, which is the limit");
    if (mine < options.sessions_per_principal_max && all >= options.sessions_max &&
        !make_room(actor.principal, std::nullopt))
      throw refuse("the server has " + std::to_string(all) + " sessions awake, which is the limit");
    auto made = LiveSession::make(shared, *records.find(info.id));
    live.emplace(info.id, made);
    made->hold();
    return made;
  }

  // Puts a session to sleep, to make room for another. Called with the mutex held; false when there is none.
  bool make_room(const Id& guest, const std::optional<Id>& owner) {
    auto longest = choose_sleeper(live, guest, owner, options.sessions_max, keep.ground().clock.now_us());
    if (!longest) return false;
    Id id = longest->info().id;
    live.erase(id);
    ending.insert({id, longest});
    longest->put_to_sleep([this, id] {
      std::lock_guard lock(mutex);
      ending.erase(id);
      ended.notify_all();
    });
    return true;
  }

  void end(const Id& id) {
    std::shared_ptr<LiveSession> session;
    {
      std::unique_lock lock(mutex);
      ended.wait(lock, [&] { return !ending.contains(id); });
      auto found = live.find(id);
      if (found == live.end()) return;
      session = found->second;
      live.erase(found);
      ending.insert({id, session});
    }
    session->put_to_sleep([this, id] {
      std::lock_guard lock(mutex);
      ending.erase(id);
      ended.notify_all();
    });
    session.reset();
    std::unique_lock lock(mutex);
    ended.wait(lock, [&] { return !ending.contains(id); });
  }

  // Throws when the copy of a session that sleeps holds what is nowhere else, also after another try.
  void refuse_only_copies(const SessionInfo& info) {
    std::shared_ptr<LiveSession> session = LiveSession::make(shared, info);
    {
      std::unique_lock lock(mutex);
      ended.wait(lock, [&] { return !ending.contains(info.id); });
      if (live.contains(info.id)) throw Error(Code::conflict, "the session is in use again");
      ending.insert({info.id, session});
    }
    auto answer = std::make_shared<std::promise<std::optional<std::vector<NotKept>>>>();
    session->find_only_copies([this, id = info.id, answer](auto found) {
      {
        std::lock_guard lock(mutex);
        ending.erase(id);
        ended.notify_all();
      }
      answer->set_value(std::move(found));
    });
    auto found = answer->get_future().get();
    if (!found)
      throw Error(Code::unavailable, "the last files of the session could not be kept, so it was not deleted")
          .hint("The server's log says why. Try again when that is mended.");
    if (!found->empty()) throw only_copies_error(*found);
  }

  void stop() {
    if (stopping.exchange(true)) return;
    uint64_t one = 1;
    [[maybe_unused]] auto written = ::write(wake.get(), &one, sizeof one);
    loop.join();
    std::vector<Id> ids;
    {
      std::lock_guard lock(mutex);
      for (auto& [id, session] : live) ids.push_back(id);
    }
    for (const Id& id : ids) end(id);
    thumbnails.stop();
    pool.stop();
    saver.stop();
  }

  workspace::Keep& keep;
  sandbox::SandboxHost& host;
  const InterpreterOptions options;
  Records records;
  Watcher watcher;
  WorkerPool pool;
  WorkerPool saver;
  sandbox::DiskGuard disk_guard;
  CopyCache copies;
  Thumbnails thumbnails;
  Shared shared;
  Gauge& awake_gauge;
  Counter& executions_total;
  Fd epoll, wake;
  std::atomic<bool> stopping{false};
  std::mutex fds_mutex;
  std::unordered_map<int, std::weak_ptr<LiveSession>> by_fd;  // guarded by fds_mutex
  std::mutex mutex;
  std::condition_variable ended;
  std::unordered_map<Id, std::shared_ptr<LiveSession>> live;    // guarded by mutex
  std::unordered_map<Id, std::shared_ptr<LiveSession>> ending;  // guarded by mutex
  std::atomic<bool> evicting{false};
  TimeUs next_eviction_us = 0;  // the loop's
  std::thread loop;
};

Interpreter::Interpreter(workspace::Keep& keep, sandbox::SandboxHost& host, InterpreterOptions options,
                         Metrics& metrics)
    : impl_(std::make_shared<Impl>(keep, host, std::move(options), metrics)) {}

Interpreter::~Interpreter() { impl_->stop(); }
void Interpreter::stop() { impl_->stop(); }

void Interpreter::recover() {
  impl_->records.end_interrupted_executions(impl_->keep.ground().clock.now_us());
  for (auto& info : impl_->records.dirty_sessions()) {
    if (!std::filesystem::exists(impl_->options.directory + "/" + info.id.hex())) continue;
    auto session = LiveSession::make(impl_->shared, info);
    {
      std::lock_guard lock(impl_->mutex);
      impl_->ending.insert({info.id, session});
    }
    session->recover([impl = impl_.get(), id = info.id] {
      std::lock_guard lock(impl->mutex);
      impl->ending.erase(id);
      impl->ended.notify_all();
    });
  }
  std::unique_lock lock(impl_->mutex);
  impl_->ended.wait(lock, [&] { return impl_->ending.empty(); });
}

SessionInfo Interpreter::create(const workspace::Actor& actor, const NewSession& wanted) {
  auto& keep = impl_->keep;
  auto workspace = wanted.workspace.empty()
                       ? keep.workspaces().open_default(actor, workspace::Right::write)
                       : keep.workspaces().enter(actor, wanted.workspace, workspace::Right::write);
  const auto& options = impl_->options;
  SessionInfo info;
  info.id = keep.ground().ids.next();
  info.workspace = workspace.id;
  info.owner = actor.principal;
  settle_wishes(info, wanted, options);
  info.runtime = impl_->host.need_runtime(wanted.runtime);
  info.folder =
      wanted.folder
          ? workspace::clean_path(*wanted.folder)
          : workspace::clean_path("sessions/" + safe_name(info.name) + "-" + info.id.hex().substr(24));
  auto existing = info.folder.empty() ? std::nullopt : keep.files().find(workspace, info.folder);
  if (existing && existing->kind != workspace::EntryKind::folder)
    throw Error(Code::conflict, "'" + info.folder + "' is a file, so a session cannot have it as its folder")
        .hint("Choose another folder.");
  info.added = add_files(keep, actor, workspace, info, wanted.files);
  info.created_us = info.active_us = keep.ground().clock.now_us();
  impl_->records.insert(info);
  return info;
}

Thumbnails& Interpreter::thumbnails() { return impl_->thumbnails; }

SessionInfo Interpreter::get(const workspace::Actor& actor, const Id& session) {
  return impl_->find(actor, session);
}

std::optional<SessionInfo> Interpreter::find(const workspace::Actor& actor, const Id& session) {
  return impl_->find_if_any(actor, session);
}

std::vector<SessionInfo> Interpreter::list(const workspace::Actor& actor, const SessionQuery& query) {
  auto sessions = impl_->records.list(actor.principal, actor.only_workspace, query);
  std::lock_guard lock(impl_->mutex);
  for (auto& info : sessions) impl_->add_live_facts(info);
  return sessions;
}

std::vector<SessionInfo> Interpreter::list(const workspace::Actor& actor, const Id& before, size_t limit) {
  SessionQuery query;
  query.after = before;
  query.limit = limit;
  return list(actor, query);
}

void Interpreter::remove(const workspace::Actor& actor, const Id& session, Unkept unkept) {
  if (actor.read_only) throw Error(Code::forbidden, "a read-only key cannot delete sessions");
  SessionInfo info = impl_->find(actor, session);
  if (info.status == Status::deleted) return;
  impl_->end(session);
  std::string directory = impl_->options.directory + "/" + session.hex();
  bool has_copy = std::filesystem::exists(directory);
  CopyState copy = impl_->records.copy_state(session);
  if (unkept == Unkept::refuse && copy.dirty && !copy.identity.empty() && has_copy)
    impl_->refuse_only_copies(*impl_->records.find(session));
  impl_->records.mark_deleted(session, impl_->keep.ground().clock.now_us());
  auto owner = impl_->host.file_owner();
  if (has_copy) remove_copy(directory, {owner.uid, owner.gid});
}

void Interpreter::sleep(const workspace::Actor& actor, const Id& session) {
  if (actor.read_only) throw Error(Code::forbidden, "a read-only key cannot end sessions");
  impl_->find(actor, session);
  impl_->end(session);
}

RunningExecution Interpreter::execute(const workspace::Actor& actor, const Id& session, NewExecution wanted) {
  if (actor.read_only) throw Error(Code::forbidden, "a read-only key cannot run code");
  SessionInfo info = impl_->find(actor, session);
  if (info.status == Status::deleted)
    throw Error(Code::gone, "the session was deleted")
        .hint("Create another one; its files are in the workspace.");
  if (wanted.language != "python" && wanted.language != "bash")
    throw Error(Code::bad_request, "language must be 'python' or 'bash'");
  if (!is_utf8(wanted.code)) throw Error(Code::bad_request, "the code is not UTF-8");
  if (wanted.code.size() > kCodeBytesMax)
    throw Error(Code::too_large, "the code has more than 8 MiB")
        .hint("Put data into files, and read them from the code.");
  if (wanted.timeout_s && (*wanted.timeout_s < 1 || *wanted.timeout_s > impl_->options.timeout_max_s))
    throw Error(Code::bad_request,
                "timeout_s must lie between 1 and " + std::to_string(impl_->options.timeout_max_s));
  auto workspace = impl_->keep.workspaces().enter(
      actor, info.workspace.with_prefix(workspace::prefix::workspace), workspace::Right::write);
  auto live = impl_->bring_to_life(actor, info);
  std::shared_ptr<void> held(nullptr, [live](void*) { live->let_go(); });
  if (live->queued() > impl_->options.queue_max)
    throw Error(Code::too_many_requests,
                "the session has " + std::to_string(live->queued() - 1) + " executions waiting")
        .hint("Wait for some of them.");
  QueuedExecution queued;
  queued.execution.id = impl_->keep.ground().ids.next();
  queued.execution.session = session;
  queued.execution.author = actor.principal;
  queued.execution.language = wanted.language;
  queued.execution.code = wanted.code;
  queued.execution.created_us = impl_->keep.ground().clock.now_us();
  queued.execution.added = add_files(impl_->keep, actor, workspace, info, wanted.files);
  queued.wanted = std::move(wanted);
  queued.actor = actor;
  queued.feed = std::make_shared<ExecutionFeed>();
  queued.execution.number = live->next_number();
  RunningExecution running{queued.execution.id, queued.execution.number, queued.feed, queued.execution};
  impl_->executions_total.add();
  live->enqueue(std::move(queued));
  return running;
}

bool Interpreter::cancel(const workspace::Actor& actor, const Id& session, const Id& execution) {
  if (actor.read_only) throw Error(Code::forbidden, "a read-only key cannot cancel executions");
  auto running = find_running(actor, session, execution);
  if (!running) {
    if (!find_execution(actor, session, execution))
      throw Error(Code::not_found, "the session has no such execution");
    return false;
  }
  if (running->feed->finished()) return false;
  std::shared_ptr<LiveSession> live;
  {
    std::lock_guard lock(impl_->mutex);
    auto found = impl_->live.find(session);
    if (found == impl_->live.end()) return false;
    live = found->second;
  }
  live->cancel(execution);
  return true;
}

bool Interpreter::answer_tools(const workspace::Actor& actor, const Id& session, const Id& execution,
                               Json results) {
  if (actor.read_only) throw Error(Code::forbidden, "a read-only key cannot answer for tools");
  impl_->find(actor, session);
  std::shared_ptr<LiveSession> live;
  {
    std::lock_guard lock(impl_->mutex);
    auto found = impl_->live.find(session);
    if (found == impl_->live.end()) return false;
    live = found->second;
  }
  return live->answer_tools(execution, std::move(results));
}

std::optional<RunningExecution> Interpreter::find_running(const workspace::Actor& actor, const Id& session,
                                                          const Id& execution) {
  impl_->find(actor, session);
  std::lock_guard lock(impl_->mutex);
  auto found = impl_->live.find(session);
  return found == impl_->live.end() ? std::nullopt : found->second->find(execution);
}

std::optional<Execution> Interpreter::find_execution(const workspace::Actor& actor, const Id& session,
                                                     const Id& execution) {
  if (auto running = find_running(actor, session, execution); running && running->feed->finished())
    return running->feed->result();
  return impl_->records.find_execution(session, execution);
}

ExportedHistory Interpreter::export_history(const workspace::Actor& actor, const Id& session,
                                            ExportFormat format) {
  SessionInfo info = impl_->find(actor, session);
  impl_->flush_records();
  constexpr int64_t kPage = 20;
  int64_t at = 0;
  std::deque<Execution> page;
  return interpreter::export_history(
      info, format, impl_->options.directory, [&]() -> std::optional<Execution> {
        if (page.empty()) {
          for (auto& execution : impl_->records.executions_after(session, at, kPage))
            page.push_back(execution);
          if (page.empty()) return std::nullopt;
          at = page.back().number;
        }
        Execution next = std::move(page.front());
        page.pop_front();
        return next;
      });
}

std::vector<Execution> Interpreter::executions(const workspace::Actor& actor, const Id& session,
                                               int64_t before, size_t limit) {
  impl_->find(actor, session);
  impl_->flush_records();
  return impl_->records.list_executions(session, before, limit);
}

std::vector<KeptFile> Interpreter::kept_files(const workspace::Actor& actor, const Id& session,
                                              const Id& execution, int64_t after, size_t limit) {
  auto found = find_execution(actor, session, execution);
  if (!found) throw Error(Code::not_found, "the session has no such execution");
  const auto& kept = found->files.kept;
  std::vector<KeptFile> result;
  for (size_t i = static_cast<size_t>(std::max<int64_t>(0, after)); i < kept.size() && result.size() < limit;
       ++i)
    result.push_back(kept[i]);
  return result;
}

}  // namespace sk::interpreter
