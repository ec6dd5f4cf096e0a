// Finds entries on the server by path or by pattern.
#pragma once

#include <vector>

#include "cli/client/remote.h"
#include "cli/frame/columns.h"

namespace sk::cli {

// Returns the entry at exactly that path; if there is none and the path has wildcards, all entries that
// match. Error(not_found) if there are none.
std::vector<Json> find_or_glob(Remote& remote, const RemotePath& where);

// Calls `take` for each entry that matches the pattern in `where.path`.
void for_each_match(Remote& remote, const RemotePath& where,
                    const std::function<void(const Json& entry)>& take);

}  // namespace sk::cli
