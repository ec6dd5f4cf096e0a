// Shared by mv and cp: target paths, and the behaviour if a target exists.
#pragma once

#include "cli/client/connect.h"

namespace sk::cli {

extern const std::vector<Option> kOnExistingOptions;
// Returns "refuse", "replace" or "rename", from --replace and --rename.
std::string on_existing(const Arguments& arguments);

// Calls `one(from, to)` for every source. As with cp, sources are put into a target that is a folder.
void for_each_source(const Invocation& call, Remote& remote,
                     const std::function<void(const RemotePath& from, const RemotePath& to)>& one);

}  // namespace sk::cli
