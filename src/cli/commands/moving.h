// What mv and cp share: where things go, and what happens to what is there.
#pragma once

#include "cli/client/connect.h"

namespace sk::cli {

extern const std::vector<Option> kOnExistingOptions;
// "refuse", "replace" or "rename", from --replace and --rename.
std::string on_existing(const Arguments& arguments);

// Calls `one(from, to)` for every source; as the cp of a shell does, a target that is a folder gets them put
// into it.
void for_each_source(const Invocation& call, Remote& remote,
                     const std::function<void(const RemotePath& from, const RemotePath& to)>& one);

}  // namespace sk::cli
