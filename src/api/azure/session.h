// The subject of a call: its family, its pool and session, and files as code in the session sees them. Any
// thread.
#pragma once

#include <optional>
#include <string>

#include "api/common/call.h"
#include "interpreter/types.h"

namespace sk::api::azure {

// The two families of calls and answers.
enum class Family { a, b };

// Determines the family by `api-version`; without one, returns `otherwise`.
Family family_of(const Call& call, Family otherwise);

// Returns the path before the call's own end. Each pool is a separate namespace of identifiers.
std::string pool_of(const Call& call);
// Returns "https://host/azure/pool", for links in answers.
std::string pool_url(const Call& call);

// Returns the `identifier` of the query, else `fallback`. Error(bad_request) when both are missing, or when
// it is not 1 to 256 printable characters.
std::string identifier_of(const Call& call, const std::optional<std::string>& fallback = {});

// Returns nullopt when the identifier was never used, or its session was deleted.
std::optional<interpreter::SessionInfo> find_session(const Call& call);
// Error(not_found) instead of nullopt.
interpreter::SessionInfo need_session(const Call& call);
// Creates the session on first use.
interpreter::SessionInfo use_session(const Call& call, const std::string& identifier);

workspace::Authority open_workspace(Call& call, const interpreter::SessionInfo& session,
                                    workspace::Right right);

// Converts "report.csv", "/mnt/data/report.csv", or a name below a folder such as "/mnt/data/plots", to a
// path in the workspace. Error(bad_request) for paths outside of /mnt/data.
std::string workspace_path(const interpreter::SessionInfo& session, std::string_view name);
std::string workspace_path(const interpreter::SessionInfo& session, std::string_view folder,
                           std::string_view name);
// The reverse: returns the path relative to /mnt/data.
std::string session_path(const interpreter::SessionInfo& session, std::string_view path);

}  // namespace sk::api::azure
