// logout: deletes the saved login.
#include <unistd.h>

#include <cerrno>

#include "cli/commands/commands.h"
#include "cli/frame/columns.h"

namespace sk::cli {

namespace {

ExitCode run_logout(Invocation& call) {
  auto path = login_file_path(call.environment);
  bool was_there = !path.empty() && unlink(path.c_str()) == 0;
  if (!was_there && !path.empty() && errno != ENOENT) throw system_error("cannot remove " + path, errno);
  call.print({{"removed", was_there}},
             was_there ? "deleted the saved login; the key still works until it is revoked"
                       : "there was no saved login");
  return ExitCode::ok;
}

}  // namespace

Command logout_command() {
  return {
      .name = "logout",
      .arguments = "",
      .summary = "deletes the saved login",
      .about = "",
      .options = {},
      .positional_max = 0,
      .examples = {"sandkeep logout"},
      .run = run_logout,
      .reads = Reads::local,
  };
}

}  // namespace sk::cli
