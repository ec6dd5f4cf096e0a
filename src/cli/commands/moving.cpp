#include "cli/commands/moving.h"

#include "cli/client/fields.h"

namespace sk::cli {

const std::vector<Option> kOnExistingOptions = {
    {"replace", 0, "", "if something is there, replace it (it goes to the trash, or becomes an old version)"},
    {"rename", 0, "", "if something is there, take a free name beside it: \"name (2)\""},
};

std::string on_existing(const Arguments& arguments) {
  if (arguments.has("replace") && arguments.has("rename"))
    throw Error(Code::bad_request, "give --replace or --rename, not both");
  return arguments.has("replace") ? "replace" : arguments.has("rename") ? "rename" : "refuse";
}

void for_each_source(const Invocation& call, Remote& remote,
                     const std::function<void(const RemotePath& from, const RemotePath& to)>& one) {
  auto sources = call.arguments.positional;
  auto target = parse_remote_path(sources.back());
  sources.pop_back();
  bool into = target.as_folder || sources.size() > 1;
  if (!into) {
    auto entry = find_entry(remote, target);
    into = entry && text_field(*entry, "kind") == "folder";
  }
  for (const auto& source : sources) {
    auto from = parse_remote_path(source);
    if (from.is_root()) throw Error(Code::bad_request, "'" + source + "' names no file or folder");
    auto to = target;
    if (into) to.path = join_remote(target.path, last_name(from.path));
    one(from, to);
  }
}

}  // namespace sk::cli
