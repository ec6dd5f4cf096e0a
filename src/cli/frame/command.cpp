#include "cli/frame/command.h"

#include <algorithm>

#include "base/text.h"

namespace sk::cli {

const std::vector<Option> kWriteOptions = {
    {"lock", 0, "TOKEN", "a lock that you hold; may be repeated; else $SANDKEEP_LOCK, which 'lock run' sets"},
    {"if-match", 0, "VERSION",
     "only if this version id is the current one ('*': only if something is there)"},
    {"fence", 0, "NUMBER", "the fencing number of your lock: refused when somebody has held a later one"},
};

std::vector<Option> with_write_options(std::vector<Option> own) {
  own.insert(own.end(), kWriteOptions.begin(), kWriteOptions.end());
  return own;
}

namespace {
bool declares(const Command& command, std::string_view name) {
  return std::any_of(command.options.begin(), command.options.end(),
                     [&](const Option& option) { return option.name == name; });
}
}  // namespace

Target Invocation::target() const {
  return choose_target(arguments, environment, read_login(login_file_path(environment)));
}

std::string Invocation::variable(std::string_view name) const {
  auto at = environment.find(name);
  return at == environment.end() ? std::string() : at->second;
}

WriteConditions Invocation::conditions(Remote& remote, const RemotePath& where) const {
  WriteConditions out;
  if (declares(command, "lock")) {
    out.lock_tokens = arguments.values("lock");
    auto token = variable("SANDKEEP_LOCK");
    auto its_workspace = variable("SANDKEEP_LOCK_WORKSPACE");
    bool holds_here =
        its_workspace.empty() || (!token.empty() && remote.workspace_id_of(where) == its_workspace);
    if (out.lock_tokens.empty() && !token.empty() && holds_here) out.lock_tokens.push_back(token);
  }
  if (declares(command, "if-match")) out.if_match = arguments.values("if-match");
  if (declares(command, "if-new")) out.if_new = arguments.has("if-new");
  if (declares(command, "fence")) out.fence = arguments.number("fence", 0, INT64_MAX);
  return out;
}

void Invocation::print(const Json& value, const std::string& human) const {
  terminal.line(json() ? to_text(value) : human);
}

std::vector<Option> Command::all_options() const {
  auto out = options;
  if (reads == Reads::client) out.insert(out.end(), kTargetOptions.begin(), kTargetOptions.end());
  out.push_back({"json", 0, "", "JSON instead of text: an object, or one per line"});
  out.push_back({"help", 'h', "", "this text"});
  return out;
}

std::string_view Command::family() const {
  auto space = name.find(' ');
  return space == std::string_view::npos ? std::string_view() : name.substr(0, space);
}

}  // namespace sk::cli
