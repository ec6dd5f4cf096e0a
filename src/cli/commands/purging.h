// Shared by commands that delete something for ever: the confirmation, and what they print.
#pragma once

#include <string>

#include "cli/frame/command.h"

namespace sk::cli {

extern const Option kYes;

// Error(bad_request) without --yes. `what` is what would be deleted.
void need_yes(const Invocation& call, const std::string& what);
// The same, but on a terminal asks for the name of what would be deleted instead. Error(bad_request) for
// another answer.
void need_yes_or_name(const Invocation& call, const std::string& what, const std::string& name);

// Prints the server's PurgeResult.
void print_purged(const Invocation& call, const Json& result);

}  // namespace sk::cli
