// Entries of the server by path or by pattern, and how they look as rows.
#pragma once

#include <vector>

#include "cli/client/remote.h"
#include "cli/frame/columns.h"

namespace sk::cli {

// The entry at that very path; else, when the path has wildcards, all entries that match. Throws
// Error(not_found) when there is none.
std::vector<Json> find_or_glob(Remote& remote, const RemotePath& where);

// The entries that match the pattern in `where.path`, one after another.
void for_each_match(Remote& remote, const RemotePath& where,
                    const std::function<void(const Json& entry)>& take);

}  // namespace sk::cli
