// Shared by the lock commands: acquiring a lock, with a wait that may take several requests.
#pragma once

#include "cli/client/connect.h"

namespace sk::cli {

extern const std::vector<Option> kLockOptions;

// Acquires a lock by the command's options. Error(locked) with the holder when the wait ends.
Json acquire_lock(const Invocation& call, Remote& remote, const RemotePath& where);
// Returns --ttl in seconds; default 300.
int64_t lock_ttl_s(const Arguments& arguments);

}  // namespace sk::cli
