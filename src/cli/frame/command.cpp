#include "cli/frame/command.h"

#include <algorithm>

#include "base/text.h"

namespace sk::cli {

const std::vector<Option> kTargetOptions = {
    {"server", 0, "URL", "the server; default: $SANDKEEP_SERVER, else the saved login"},
    {"key", 0, "KEY",
     "the key; prefer $SANDKEEP_KEY or a saved login, because others can see a program's flags"},
    {"workspace", 'w', "WS", "the workspace of a PATH without WS:; default: $SANDKEEP_WORKSPACE"},
    {"ca-file", 0, "FILE", "an authority to trust in addition to the system's; default: $SANDKEEP_CA_FILE"},
};

const std::vector<Option> kWriteOptions = {
    {"lock", 0, "TOKEN",
     "the token of a lock that you hold; repeatable; default: $SANDKEEP_LOCK, which 'lock run' sets"},
    {"if-match", 0, "VERSION", "only if this version id is the current one ('*': only if the path exists)"},
    {"fence", 0, "NUMBER", "the fencing number of your lock; the write is refused if there was a later lock"},
};

std::vector<Option> with_write_options(std::vector<Option> own) {
  own.insert(own.end(), kWriteOptions.begin(), kWriteOptions.end());
  return own;
}

bool Invocation::declares(std::string_view option) const {
  return std::any_of(command.options.begin(), command.options.end(),
                     [&](const Option& each) { return each.name == option; });
}

std::string Invocation::variable(std::string_view name) const {
  auto at = environment.find(name);
  return at == environment.end() ? std::string() : at->second;
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
