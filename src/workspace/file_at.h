// Version lookups for other rooms, inside their own transactions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "catalog/database.h"
#include "workspace/types.h"

namespace sk::workspace {

// Returns the version that was the head of the file at `path` at `time_us`, even if the file was overwritten,
// moved or trashed since. nullopt if there was none or it was purged.
std::optional<Version> version_at(catalog::Statements& statements, const Id& workspace, std::string_view path,
                                  TimeUs time_us);

// nullopt if it does not exist or was purged.
std::optional<Version> find_version(catalog::Statements& statements, const Id& id);

}  // namespace sk::workspace
