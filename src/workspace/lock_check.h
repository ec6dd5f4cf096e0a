// Whether locks let a write pass; private to this room.
#pragma once

#include "workspace/change_run.h"
#include "workspace/types.h"

namespace sk::workspace {

// Locks of the workspace that have not run out, with `token_hash` in Lock::token as raw bytes.
std::vector<Lock> live_locks(catalog::Statements& statements, const Id& workspace, TimeUs now_us);
void check_locks(catalog::Statements& statements, const Id& workspace, TimeUs now_us, std::string_view path,
                 Touches touches, const Conditions& conditions);
// 423 with who holds it, until when and what for.
[[noreturn]] void throw_locked(const Lock& lock);

}  // namespace sk::workspace
