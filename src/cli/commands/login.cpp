// login: saves a server and a key.
#include <termios.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/client/fields.h"
#include "cli/commands/commands.h"
#include "cli/frame/columns.h"

namespace sk::cli {

namespace {

// Disables terminal echo while a secret is typed.
class NoEcho {
 public:
  explicit NoEcho(int fd) : fd_(fd), active_(tcgetattr(fd, &before_) == 0) {
    if (!active_) return;
    auto silent = before_;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    tcsetattr(fd_, TCSAFLUSH, &silent);
  }
  ~NoEcho() {
    if (active_) tcsetattr(fd_, TCSAFLUSH, &before_);
  }
  NoEcho(const NoEcho&) = delete;
  NoEcho& operator=(const NoEcho&) = delete;

 private:
  const int fd_;
  termios before_{};
  const bool active_;
};

std::string ask_for_key(const Invocation& call) {
  if (call.terminal.in_is_tty()) {
    call.terminal.status("Key: ");
    NoEcho silent(call.terminal.in_fd());
    auto key = read_line(call.terminal.in_fd());
    call.terminal.status("");
    return key;
  }
  return read_line(call.terminal.in_fd());
}

ExitCode run_login(Invocation& call) {
  Target target = choose_target(call.arguments, call.environment, std::nullopt);
  if (!call.arguments.positional.empty()) target.server = clean_server_url(call.positional(0));
  target.is_guess = false;
  if (target.key.empty()) target.key = ask_for_key(call);
  if (target.key.empty())
    throw Error(Code::bad_request, "no key was given").hint("Type it, pipe it in, or set SANDKEEP_KEY.");

  // Check the login before saving it.
  Remote remote(target);
  auto me = remote.call("GET", "/api/v1/me");
  if (target.workspace.empty()) target.workspace = default_workspace(me);
  remote.call("GET", "/api/v1/workspaces/" + percent_encode(target.workspace));
  auto path = login_file_path(call.environment);
  auto ca_file = target.ca_file.empty() ? "" : std::filesystem::absolute(target.ca_file).string();
  write_login(path, {target.server, target.key, target.workspace, ca_file});
  auto name = text_field(object_field(me, "principal"), "name");
  call.print({{"server", target.server}, {"workspace", target.workspace}, {"file", path}, {"me", me}},
             "signed in to " + target.server + " as " + printable(name) + "; saved in " + printable(path));
  return ExitCode::ok;
}

}  // namespace

Command login_command() {
  return {
      .name = "login",
      .arguments = "[URL]",
      .summary = "saves a server and a key",
      .about =
          "Asks for the key (or reads it from standard input, --key or $SANDKEEP_KEY), checks it, and saves "
          "both in ~/.config/sandkeep/config.toml with mode 0600. With --workspace, also saves the default "
          "workspace. The first key of a server is in root.key in its data folder.",
      .options = {},
      .positional_max = 1,
      .examples = {"sandkeep login https://keep.example.org",
                   "sandkeep login < ~/.local/share/sandkeep/root.key"},
      .run = run_login,
  };
}

}  // namespace sk::cli
