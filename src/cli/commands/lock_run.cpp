// lock run: holds and renews a lock while a program runs, then releases it.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <thread>

#include "base/mutex.h"
#include "cli/client/fields.h"
#include "cli/commands/commands.h"
#include "cli/commands/locking.h"
#include "cli/frame/columns.h"

extern char** environ;

namespace sk::cli {

namespace {

// Renews after a third of the lock's lifetime, so that two consecutive failures do not lose it.
class Renewer {
 public:
  Renewer(const Invocation& call, Target target, RemotePath where, std::string token, int64_t ttl_s)
      : call_(call),
        remote_(std::move(target)),
        where_(std::move(where)),
        token_(std::move(token)),
        ttl_s_(ttl_s) {
    thread_ = std::thread([this] { renew_until_stopped(); });
  }
  ~Renewer() { stop(); }
  Renewer(const Renewer&) = delete;
  Renewer& operator=(const Renewer&) = delete;

  void stop() {
    {
      MutexLock guard(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

 private:
  void renew_until_stopped() {
    MutexLock lock(mutex_);
    while (!wake_.wait_for(lock, std::chrono::seconds(std::max<int64_t>(1, ttl_s_ / 3)),
                           [this]() SK_REQUIRES(mutex_) { return stopping_; })) {
      lock.unlock();
      try {
        remote_.call("POST", remote_.url(where_, "locks/renew"), {},
                     Json{{"token", token_}, {"ttl_s", ttl_s_}});
      } catch (const Error& error) {
        call_.terminal.note("sandkeep: the lock could not be renewed: " + printable(error.message()));
      }
      lock.lock();
    }
  }

  const Invocation& call_;
  Remote remote_;
  const RemotePath where_;
  const std::string token_;
  const int64_t ttl_s_;
  Mutex mutex_;
  ConditionVariable wake_;
  bool stopping_ SK_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

// Returns this process's environment with the lock's token and its workspace, for exec.
std::vector<std::string> environment_with(const std::string& token, const std::string& workspace_id) {
  constexpr std::string_view kToken = "SANDKEEP_LOCK=", kWorkspace = "SANDKEEP_LOCK_WORKSPACE=";
  std::vector<std::string> out;
  for (char** at = environ; *at != nullptr; ++at)
    if (std::string_view entry = *at; !entry.starts_with(kToken) && !entry.starts_with(kWorkspace))
      out.emplace_back(entry);
  out.push_back(std::string(kToken).append(token));
  out.push_back(std::string(kWorkspace).append(workspace_id));
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (auto& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

// Handles signals for the child process. Ctrl-C and Ctrl-\ reach the whole foreground group, so they are
// ignored here; SIGTERM and SIGHUP are forwarded. Create it before any other thread.
class SignalsForChild {
 public:
  SignalsForChild() : old_int_(std::signal(SIGINT, SIG_IGN)), old_quit_(std::signal(SIGQUIT, SIG_IGN)) {
    sigemptyset(&waited_);
    for (int number : {SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&waited_, number);
    pthread_sigmask(SIG_BLOCK, &waited_, &old_mask_);
  }
  ~SignalsForChild() {
    std::signal(SIGINT, old_int_);
    std::signal(SIGQUIT, old_quit_);
    pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr);
  }
  SignalsForChild(const SignalsForChild&) = delete;
  SignalsForChild& operator=(const SignalsForChild&) = delete;

  pid_t start(std::vector<std::string> words, std::vector<std::string> variables) const {
    auto argv = pointers(words);
    auto envp = pointers(variables);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t defaults;
    sigemptyset(&defaults);
    for (int number : {SIGINT, SIGQUIT, SIGPIPE}) sigaddset(&defaults, number);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setsigmask(&attributes, &old_mask_);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    pid_t child = 0;
    int err = posix_spawnp(&child, argv[0], nullptr, &attributes, argv.data(), envp.data());
    posix_spawnattr_destroy(&attributes);
    if (err == ENOENT)
      throw Error(Code::not_found, "there is no program '" + words[0] + "'").hint("Check its name and PATH.");
    if (err != 0) throw system_error("cannot run " + words[0], err);
    return child;
  }

  // Returns the exit code that a shell would show.
  int wait_for(pid_t child) const {
    for (;;) {
      int status = 0;
      if (waitpid(child, &status, WNOHANG) == child)
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      int number = sigwaitinfo(&waited_, nullptr);
      if (number == SIGTERM || number == SIGHUP) kill(child, number);
    }
  }

 private:
  void (*old_int_)(int);
  void (*old_quit_)(int);
  sigset_t waited_{}, old_mask_{};
};

ExitCode run_locked(Invocation& call) {
  if (call.arguments.rest.empty())
    throw Error(Code::bad_request,
                "'lock run' needs a program after '--': sandkeep lock run PATH -- PROGRAM…");
  auto remote = connect(call);
  auto where = parse_remote_path(call.positional(0));
  auto workspace_id = remote.workspace_id_of(where);
  auto lock = acquire_lock(call, remote, where);
  auto token = text_field(lock, "token");
  auto release = [&] { remote.call("POST", remote.url(where, "locks/release"), {}, Json{{"token", token}}); };
  int status = 0;
  try {
    SignalsForChild signals;
    Renewer renewer(call, remote.resolved_target(), where, token, lock_ttl_s(call.arguments));
    status = signals.wait_for(signals.start(call.arguments.rest, environment_with(token, workspace_id)));
  } catch (const Error&) {
    release();
    throw;
  }
  try {
    release();
  } catch (const Error& error) {
    // The program's result has priority. But if the lock was lost, its writes may conflict with another
    // holder's.
    call.terminal.note("sandkeep: the lock could not be released: " + printable(error.message()));
    if (status == 0) return exit_code_of(error.code());
  }
  return static_cast<ExitCode>(status);
}

}  // namespace

Command lock_run_command() {
  return {
      .name = "lock run",
      .arguments = "PATH -- PROGRAM [ARGUMENT…]",
      .summary = "runs a program while holding a lock",
      .about =
          "The lock is renewed while the program runs and released when it ends; the exit code is the "
          "program's. Inside, $SANDKEEP_LOCK holds the token and $SANDKEEP_LOCK_WORKSPACE the id of its "
          "workspace; commands of sandkeep use the token automatically when they write there.",
      .options = kLockOptions,
      .positional_min = 1,
      .positional_max = 1,
      .examples = {"sandkeep lock run data --wait 5m -- ./import.sh"},
      .run = run_locked,
      .takes_rest = true,
  };
}

}  // namespace sk::cli
