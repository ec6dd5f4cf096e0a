// Versions as other rooms look them up inside a transaction of their own.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "catalog/database.h"
#include "workspace/types.h"

namespace sk::workspace {

// The version that was a file's head at `time_us`, when the file lay at `path` then: also when it has been
// overwritten, moved or trashed since. nullopt when there was none, or it was purged.
std::optional<Version> version_at(catalog::Statements& statements, const Id& workspace, std::string_view path,
                                  TimeUs time_us);

// nullopt when there is none, or it was purged.
std::optional<Version> find_version(catalog::Statements& statements, const Id& id);

}  // namespace sk::workspace
