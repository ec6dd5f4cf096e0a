// Files and folders of any workspace that somebody may read, put into a session's folder for its code to use.
#pragma once

#include "interpreter/types.h"
#include "workspace/keep.h"

namespace sk::interpreter {

constexpr size_t kAddedFilesMax = 1'000;

// Copies all of them into the session's folder in one transaction; no bytes are copied. Two of one name are
// both there, the second under another name. What was asked for → where it is now, in order. Error(not_found)
// when one is not there or not the caller's to read; then none was copied. Any thread.
std::vector<std::pair<std::string, std::string>> add_files(workspace::Keep& keep,
                                                           const workspace::Authority& into,
                                                           const SessionInfo& session,
                                                           const std::vector<AddedFile>& files);

}  // namespace sk::interpreter
