// What the lock commands share: how a lock is asked for, and waited for longer than one request may take.
#pragma once

#include "cli/client/connect.h"

namespace sk::cli {

extern const std::vector<Option> kLockOptions;

// Acquires as the command's options say. Throws Error(locked), which tells who holds it, when the wait is
// over.
Json acquire_lock(const Invocation& call, Remote& remote, const RemotePath& where);
// --ttl in seconds, 300 unless given.
int64_t lock_ttl_s(const Arguments& arguments);

}  // namespace sk::cli
