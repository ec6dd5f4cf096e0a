// serve: runs the server in the foreground until a signal ends it.
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>

#include "base/log.h"
#include "base/version.h"
#include "cli/commands/commands.h"
#include "cli/commands/greeting.h"
#include "cli/commands/serve.h"
#include "server/server.h"

namespace sk::cli {

namespace {

// The children of the server are the helper that starts sandboxes and the one that reads types of content;
// neither ends before it. Other children are waited for by those who started them.
bool has_lost_its_helper() {
  siginfo_t child{};
  return ::waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) == 0 && child.si_pid != 0;
}

// The signals that end the server. They are blocked before any thread starts, so that only wait() receives
// them.
class EndSignals {
 public:
  EndSignals() {
    sigemptyset(&set_);
    for (int number : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&set_, number);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
  }
  // Waits for a signal and returns its name. A second signal then ends the process immediately; nothing that
  // was answered is lost.
  std::string_view wait() {
    int number = 0;
    do sigwait(&set_, &number);
    while (number == SIGCHLD && !has_lost_its_helper());
    for (int each : {SIGINT, SIGTERM, SIGHUP}) std::signal(each, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &set_, nullptr);
    return number == SIGCHLD  ? kLostHelper
           : number == SIGINT ? "SIGINT"
           : number == SIGHUP ? "SIGHUP"
                              : "SIGTERM";
  }
  static constexpr std::string_view kLostHelper = "SIGCHLD";

 private:
  sigset_t set_{};
};

// Raises the soft limit of open files. Every connection and open blob takes a descriptor; the usual limit of
// 1024 exists for programs that use select().
void raise_open_files_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

bool is_loopback(const std::string& host) {
  return host.starts_with("127.") || host == "::1" || host == "localhost";
}

void warn_of_plain_http(const server::Settings& settings, bool tls) {
  if (tls || is_loopback(settings.listen.host) || settings.public_url.starts_with("https://")) return;
  log::warn(
      "other machines can reach this server, and keys are sent to it unencrypted; use --tls self-signed, or "
      "a proxy with TLS",
      {{"listen", settings.listen.host}});
}

std::string key_from(const server::Settings& settings, const Environment& environment) {
  if (!settings.root_key_file.empty()) return "$(head -n 1 " + shell_word(settings.root_key_file) + ")";
  auto at = environment.find("SANDKEEP_ROOT_KEY");
  return at != environment.end() && !at->second.empty() ? "$SANDKEEP_ROOT_KEY" : "";
}

std::string_view limits_word(server::Listening::Code code) {
  using Code = server::Listening::Code;
  return code == Code::none ? "no code runs" : code == Code::exact_limits ? "exact" : "approximate";
}

std::string about_code(server::Listening::Code code) {
  using Code = server::Listening::Code;
  if (code == Code::none) return "does not run here; the log says why";
  return code == Code::approximate_limits
             ? "approximate limits on memory and processes ('sandkeep doctor' shows how to make them exact)"
             : "";
}

void greet(const Invocation& call, const server::Settings& settings, const server::Listening& server) {
  auto path = call.environment.find("PATH");
  auto text = greeting({.url = server.url,
                        .public_url = settings.public_url,
                        .data_folder = settings.data,
                        .made_key = server.first_key.made,
                        .key_file = server.first_key.file,
                        .key_from = key_from(settings, call.environment),
                        .authority_file = server.authority_file,
                        .code = about_code(server.code),
                        .program = program_name(path == call.environment.end() ? "" : path->second)});
  try {
    call.terminal.out(text);
    call.terminal.flush();
  } catch (const Error& error) {
    log::warn("the start-up message could not be written", {{"error", error.message()}});
  }
}

// The printed commands are pasted into other shells in other folders.
void make_absolute(std::string& path) {
  if (path.empty()) return;
  path = std::filesystem::absolute(path).lexically_normal().string();
  if (path.size() > 1 && path.ends_with('/')) path.pop_back();
}

server::Settings read_settings(const Invocation& call) {
  try {
    auto settings = server::load_settings(call.words, call.environment);
    make_absolute(settings.data);
    make_absolute(settings.root_key_file);
    return settings;
  } catch (const Error& error) {
    if (error.advice() != info(error.code()).advice) throw;
    throw Error(error.code(), error.message()).hint("'sandkeep serve --help' lists the settings.");
  }
}

ExitCode run_serve(Invocation& call) { return serve(call, nullptr); }

}  // namespace

ExitCode serve(Invocation& call, const api::mcp::Extension* mcp_extension) {
  auto settings = read_settings(call);
  log::configure(settings.log_level, settings.log_format);
  EndSignals signals;
  raise_open_files_limit();
  bool is_broken = false;
  server::run(settings, call.clock, mcp_extension, [&](const server::Listening& server) {
    warn_of_plain_http(settings, server.url.starts_with("https://"));
    log::info("ready", {{"version", kVersion},
                        {"url", server.url},
                        {"data", settings.data},
                        {"limits", limits_word(server.code)}});
    greet(call, settings, server);
    auto name = signals.wait();
    is_broken = name == EndSignals::kLostHelper;
    if (is_broken) log::error("a helper process has ended, and the server cannot work without it");
    log::info("stopping: running requests may finish; another signal stops the server at once",
              {{"signal", name}});
  });
  log::write_folded();
  log::info("stopped");
  if (is_broken)
    throw Error(Code::unavailable, "a helper process was killed, so the server stopped")
        .hint("Start it again; systemd and Docker can do that by themselves.");
  return ExitCode::ok;
}

Command serve_command() {
  return {
      .name = "serve",
      .arguments = "[SETTING…]",
      .summary = "runs the server, in the foreground",
      .about =
          "Needs no settings: it creates its data folder, a first key and a first workspace, and prints "
          "'ready URL' when it answers, then commands to paste. After SIGTERM or Ctrl-C, running requests "
          "finish, then the server stops.",
      .options = {},
      .examples = {"sandkeep serve",
                   "sandkeep serve --data /srv/sandkeep --listen 0.0.0.0:8420 --tls self-signed"},
      .run = run_serve,
      .reads = Reads::settings,
      .settings_help = server::describe_settings_help,
  };
}

}  // namespace sk::cli
