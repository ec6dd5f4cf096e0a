// Copies files and folders of any workspace that the caller may read into a session's folder.
#pragma once

#include "interpreter/types.h"
#include "workspace/keep.h"

namespace sk::interpreter {

constexpr size_t kAddedFilesMax = 1'000;

// Copies all of them into the session's folder in one transaction, without copying bytes. Of two with the
// same name, the second gets another name. Returns pairs of requested path and new path, in order.
// Error(not_found) when one does not exist or the caller may not read it; nothing is copied then. Any thread.
std::vector<std::pair<std::string, std::string>> add_files(workspace::Keep& keep,
                                                           const workspace::Authority& into,
                                                           const SessionInfo& session,
                                                           const std::vector<AddedFile>& files);

}  // namespace sk::interpreter
