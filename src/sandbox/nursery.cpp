#include "sandbox/nursery.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "sandbox/steady.h"

namespace sk::sandbox {

namespace {

constexpr int kStepTimeoutMs = 10'000;  // for steps that take a millisecond, on an overloaded machine
constexpr int kZygoteTimeoutMs = 60'000;
constexpr uint64_t kProcessesHeadroom = 64;
constexpr uint64_t kDataHeadroomBytes = 256 << 20;  // size of the zygote's own data
// Without a memory controller, nothing counts what the kernel holds for open files: 8 KiB for a pipe of a
// user who has many. These limits together bound that to 512 MiB per session.
constexpr uint64_t kUncountedOpenFilesMax = 512, kUncountedProcessesMax = 128;
// The kernel doubles the buffer that a socket asks for, and lets one more message of that size in.
constexpr uint64_t kSocketBufferFactor = 4;
constexpr uint64_t kSocketBufferBytes = 212'992;  // Linux's default

void set_non_blocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

// Returns the limit on the buffers of one socket on this host, in bytes.
uint32_t socket_bytes_max() {
  Fd file(::open("/proc/sys/net/core/wmem_max", O_RDONLY | O_CLOEXEC));
  char text[32];
  auto count = file ? ::read(file.get(), text, sizeof text) : -1;
  auto bytes = count > 0 ? parse_unsigned(trim({text, static_cast<size_t>(count)})) : std::nullopt;
  return static_cast<uint32_t>(kSocketBufferFactor *
                               std::min<uint64_t>(bytes.value_or(kSocketBufferBytes), 1 << 28));
}

bool is_bind_name(const std::string& name) {
  return !name.empty() && name.size() < SK_BIND_NAME_MAX && name != "." && name != ".." && name != "data" &&
         name.find('/') == std::string::npos && name.find('\0') == std::string::npos;
}

// Makes the session's init answer the calls that the filter leaves to a listener.
void count_refusals(SessionParts& parts, const Fd& listener) {
  parts.refusals = std::make_shared<const Fd>(::memfd_create("sandkeep-refusals", MFD_CLOEXEC));
  if (!*parts.refusals) throw system_error("cannot make an anonymous file", errno);
  sk_control control{SK_CONTROL_REFUSALS, 0, 0};
  const int fds[] = {listener.get(), parts.refusals->get()};
  if (!send_packet(parts.control.get(), control, fds))
    throw Error(Code::unavailable, "sandbox: the session's first process ended");
}

Fd open_folder(const std::string& path) {
  if (!path.starts_with('/')) throw Error(Code::bad_request, "not an absolute path: " + path);
  return open_file(path, O_PATH | O_DIRECTORY | O_NOFOLLOW);
}

}  // namespace

Nursery::Nursery(Options options, Shared shared)
    : options_(std::move(options)),
      shared_(shared),
      started_(
          shared.metrics.counter("sandkeep_sandbox_sessions_started_total", "Sandboxes that were started.")),
      started_cold_(shared.metrics.counter("sandkeep_sandbox_cold_starts_total",
                                           "Of those, the ones for which the pool was empty.")),
      zygotes_started_(
          shared.metrics.counter("sandkeep_sandbox_zygotes_started_total", "Zygotes that were started.")),
      refused_calls_(
          shared.metrics.counter("sandkeep_sandbox_refused_calls_total",
                                 "System calls that sandboxes refused because they need privileges.")),
      start_time_(shared.metrics.histogram("sandkeep_sandbox_start_seconds", "Time to start a sandbox.")),
      pooled_(shared.metrics.gauge("sandkeep_sandbox_pooled", "Sandboxes that wait to be used.")),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!wake_) throw system_error("cannot make an eventfd", errno);
  launcher_ = std::make_shared<Launcher>(shared_.privileged.start_launcher(options_.plan));
  keeper_ = std::thread([this] { keep(); });
}

Nursery::~Nursery() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake();
  keeper_.join();
}

bool Nursery::wait_ready(int timeout_ms) {
  MutexLock lock(mutex_);
  return zygote_ready_.wait_for(lock, std::chrono::milliseconds(timeout_ms),
                                [this]() SK_REQUIRES(mutex_) { return zygote_ != nullptr; });
}

std::shared_ptr<Zygote> Nursery::current_zygote() {
  if (!wait_ready(kZygoteTimeoutMs))
    throw Error(Code::unavailable, "Python did not start in the sandbox").advise(Advice::read_log);
  MutexLock lock(mutex_);
  if (!zygote_) throw Error(Code::unavailable, "the sandbox's zygote has ended");
  return zygote_;
}

std::shared_ptr<Launcher> Nursery::current_launcher() {
  MutexLock lock(mutex_);
  return launcher_;
}

std::unique_ptr<Session> Nursery::start(SessionSpec spec) {
  auto began_us = steady_us();
  if (shared_.findings.layer_bits & SK_LAYER_MEMORY_WATCH) {
    spec.limits.open_files_max = std::min(spec.limits.open_files_max, kUncountedOpenFilesMax);
    spec.limits.processes_max = std::min(spec.limits.processes_max, kUncountedProcessesMax);
  }
  for (;;) {
    auto parts = take_ready();
    bool pooled = parts != nullptr;
    if (!pooled) parts = prepare(Zygote::Urgency::somebody_waits);
    try {
      open_gate(*parts, spec);
    } catch (const Error& error) {
      bool had_ended = wait_readable(parts->init_pidfd.get(), 0);
      dispose(std::move(parts));
      if (pooled && had_ended) continue;  // it died in the pool: retry with another
      throw;
    }
    taken_us_ = steady_us();
    wake();  // refills the pool
    started_.add();
    if (!pooled) started_cold_.add();
    start_time_.observe_us(steady_us() - began_us);
    return std::make_unique<Session>(spec, std::move(parts), *this);
  }
}

std::unique_ptr<SessionParts> Nursery::take_ready() {
  MutexLock lock(mutex_);
  if (pool_.empty()) return nullptr;
  auto parts = std::move(pool_.front());
  pool_.pop_front();
  pooled_.set(static_cast<int64_t>(pool_.size()));
  return parts;
}

std::unique_ptr<SessionParts> Nursery::prepare(Zygote::Urgency urgency) {
  auto parts = std::make_unique<SessionParts>();
  parts->zygote = current_zygote();
  auto launcher = current_launcher();
  parts->uid = shared_.ids.acquire();
  try {
    Pair control = packet_sockets();
    auto init = launcher->start_init(parts->uid, control.theirs.get());
    control.theirs.reset();
    parts->control = std::move(control.ours);
    parts->init_pid = init.pid;
    parts->init_pidfd = std::move(init.pidfd);
    parts->idmap = std::move(init.idmap);
    // The main process joins the namespaces in their current state, so init must have completed them.
    sk_init_report report{};
    std::vector<Fd> none;
    if (!receive_packet(parts->control.get(), report, none, kStepTimeoutMs))
      throw Error(Code::unavailable, "sandbox: the session's first process ended");
    if (report.fault.step != 0) throw Error(Code::internal, "sandbox: " + describe(report.fault));

    Pair gate = packet_sockets(), channel = stream_sockets(), output = output_pipe(), errors = output_pipe();
    const std::array fds = {parts->init_pidfd.get(), gate.theirs.get(), channel.theirs.get(),
                            output.theirs.get(), errors.theirs.get()};
    auto main = parts->zygote->fork(urgency, fds);
    ++forks_of_zygote_;
    parts->main_pid = main.pid;
    parts->main_pidfd = std::move(main.pidfd);
    parts->gate = std::move(gate.ours);
    parts->channel = std::move(channel.ours);
    parts->output = std::move(output.ours);
    parts->errors = std::move(errors.ours);
    for (int fd : {parts->channel.get(), parts->output.get(), parts->errors.get()}) set_non_blocking(fd);

    parts->cgroup = shared_.cgroups.make();
    parts->cgroup->add(parts->main_pid);
    sk_control watch{SK_CONTROL_WATCH, 0, 0};
    int main_pidfd = parts->main_pidfd.get();
    if (!send_packet(parts->control.get(), watch, std::span(&main_pidfd, 1)))
      throw Error(Code::unavailable, "sandbox: the session's first process ended");
  } catch (...) {
    dispose(std::move(parts));
    throw;
  }
  return parts;
}

void Nursery::limit_io(Cgroup& cgroup, const SessionSpec& spec) {
  auto disk = disk_below(spec.data_dir);
  if (!disk || (!shared_.cgroups.has("io") && !shared_.cgroups.has("blkio"))) {
    log::warn(
        "session_io_bytes_per_s has no effect: no io controller, or the data folder is not on one disk");
    return;
  }
  cgroup.limit_io(*disk, spec.limits.io_bytes_per_s);
}

void Nursery::open_gate(SessionParts& parts, const SessionSpec& spec) {
  auto launcher = current_launcher();
  sk_go go{};
  const bool watches_memory = shared_.findings.layer_bits & SK_LAYER_MEMORY_WATCH;
  go.uid = parts.uid;
  go.tmp_bytes = spec.limits.tmp_bytes;
  go.file_bytes_max = spec.limits.file_bytes_max;
  go.open_files_max = spec.limits.open_files_max;
  // The control group counts exactly and reports. The resource limit only matters where there is none.
  go.processes_max = spec.limits.processes_max + (shared_.cgroups.has("pids") ? kProcessesHeadroom : 0);
  if (watches_memory) {
    go.data_bytes_max = spec.limits.memory_bytes + kDataHeadroomBytes;
    go.cpu_s_max = spec.limits.cpu_s_max;
  }
  if (spec.binds.size() > SK_BINDS_MAX)
    throw Error(Code::bad_request, "more than " + std::to_string(SK_BINDS_MAX) + " read-only folders");
  go.bind_count = static_cast<uint32_t>(spec.binds.size());

  std::vector<Fd> mounts;
  Fd data = open_folder(spec.data_dir);
  struct stat info{};
  if (::fstat(data.get(), &info) != 0) throw system_error("cannot look at " + spec.data_dir, errno);
  if (info.st_uid != shared_.ids.plan().owner_uid)
    throw Error(Code::internal, spec.data_dir + " belongs to user " + std::to_string(info.st_uid) +
                                    ", not to " + std::to_string(shared_.ids.plan().owner_uid) +
                                    ": code could not write to it");
  mounts.push_back(
      launcher->open_tree(spec.data_dir, data.get(), Launcher::Access::read_write, parts.idmap.get()));
  for (size_t i = 0; i < spec.binds.size(); ++i) {
    const auto& bind = spec.binds[i];
    if (!is_bind_name(bind.name))
      throw Error(Code::bad_request, "not a name for a folder in /mnt: " + bind.name);
    std::memcpy(go.bind_names[i], bind.name.data(), bind.name.size());
    Fd folder = open_folder(bind.host_path);
    mounts.push_back(
        launcher->open_tree(bind.host_path, folder.get(), Launcher::Access::read_only, parts.idmap.get()));
  }

  auto groups = parts.cgroup->enter_tenant(spec.tenant);
  SK_CHECK(groups.size() <= SK_GROUPS_MAX);
  go.group_count = static_cast<uint32_t>(groups.size());
  parts.cgroup->set_limits(spec.limits);
  if (spec.limits.io_bytes_per_s > 0) limit_io(*parts.cgroup, spec);
  sk_control memory{SK_CONTROL_MEMORY, socket_bytes_max(), spec.limits.memory_bytes};
  if (watches_memory && !send_packet(parts.control.get(), memory))
    throw Error(Code::unavailable, "sandbox: the session's first process ended");

  std::vector<int> fds;
  for (const auto& mount : mounts) fds.push_back(mount.get());
  for (const auto& group : groups) fds.push_back(group.get());
  sk_fault fault{};
  std::vector<Fd> listener;
  if (!send_packet(parts.gate.get(), go, fds) ||
      !receive_packet(parts.gate.get(), fault, listener, kStepTimeoutMs))
    throw Error(Code::unavailable, "sandbox: the session's main process ended");
  if (fault.step != 0) throw Error(Code::internal, "sandbox: " + describe(fault));
  if (!listener.empty()) count_refusals(parts, listener[0]);
  parts.gate.reset();
}

void Nursery::dispose(std::unique_ptr<SessionParts> parts) {
  if (parts->init_pidfd) ::syscall(SYS_pidfd_send_signal, parts->init_pidfd.get(), SIGKILL, nullptr, 0u);
  if (parts->cgroup) parts->cgroup->thaw();  // frozen processes cannot be killed
  for (Fd* fd :
       {&parts->control, &parts->gate, &parts->channel, &parts->output, &parts->errors, &parts->idmap})
    fd->reset();
  {
    MutexLock lock(mutex_);
    remains_.push_back(std::move(parts));
  }
  wake();
}

}  // namespace sk::sandbox
