#include "cli/commands/moving.h"

#include "cli/client/fields.h"

namespace sk::cli {

const std::vector<Option> kOnExistingOptions = {
    {"replace", 0, "", "replace an existing target (it is moved to the trash, or becomes an old version)"},
    {"rename", 0, "", "if the target exists, use a free name: \"name (2)\""},
};

std::string on_existing(const Arguments& arguments) {
  if (arguments.has("replace") && arguments.has("rename"))
    throw Error(Code::bad_request, "use --replace or --rename, not both");
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
    if (from.is_root()) throw Error(Code::bad_request, "'" + source + "' is not a file or folder");
    auto to = target;
    if (into) to.path = join_remote(target.path, last_name(from.path));
    one(from, to);
  }
}

}  // namespace sk::cli
