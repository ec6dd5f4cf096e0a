#include "cli/client/connect.h"

#include "cli/client/login_file.h"
#include "cli/client/target.h"

namespace sk::cli {

Target target_of(const Invocation& call) {
  return choose_target(call.arguments, call.environment, read_login(login_file_path(call.environment)));
}

Remote connect(const Invocation& call) { return Remote(target_of(call)); }

WriteConditions write_conditions(const Invocation& call, Remote& remote, const RemotePath& where) {
  WriteConditions out;
  if (call.declares("lock")) {
    out.lock_tokens = call.arguments.values("lock");
    auto token = call.variable("SANDKEEP_LOCK");
    auto its_workspace = call.variable("SANDKEEP_LOCK_WORKSPACE");
    bool holds_here =
        its_workspace.empty() || (!token.empty() && remote.workspace_id_of(where) == its_workspace);
    if (out.lock_tokens.empty() && !token.empty() && holds_here) out.lock_tokens.push_back(token);
  }
  if (call.declares("if-match")) out.if_match = call.arguments.values("if-match");
  if (call.declares("if-new")) out.if_new = call.arguments.has("if-new");
  if (call.declares("fence")) out.fence = call.arguments.number("fence", 0, INT64_MAX);
  return out;
}

}  // namespace sk::cli
