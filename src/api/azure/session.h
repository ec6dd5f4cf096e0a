// What every call of a pool is about: its family, its session, and files as code in the session sees them.
#pragma once

#include <optional>
#include <string>

#include "api/common/call.h"
#include "interpreter/types.h"

namespace sk::api::azure {

// The two shapes of answers.
enum class Family { a, b };

// By `api-version`; without one, `otherwise`.
Family family_of(const Call& call, Family otherwise);

// The path before the call's own end: one namespace of identifiers each.
std::string pool_of(const Call& call);
// "https://host/azure/pool", for links that answers carry.
std::string pool_url(const Call& call);

// The `identifier` of the query, else `fallback`. Error(bad_request) for none, and for what is not 1 to 256
// printable characters.
std::string identifier_of(const Call& call, const std::optional<std::string>& fallback = {});

// nullopt where the identifier was never used, or its session was deleted.
std::optional<interpreter::SessionInfo> find_session(const Call& call);
// Error(not_found) instead.
interpreter::SessionInfo need_session(const Call& call);
// Made on first use.
interpreter::SessionInfo use_session(const Call& call, const std::string& identifier);

workspace::Authority open_workspace(Call& call, const interpreter::SessionInfo& session,
                                    workspace::Right right);

// "report.csv", "/mnt/data/report.csv" or, below a `path` such as "/mnt/data/plots", its name → where it is
// in the workspace. Error(bad_request) for what lies outside /mnt/data.
std::string workspace_path(const interpreter::SessionInfo& session, std::string_view name);
std::string workspace_path(const interpreter::SessionInfo& session, std::string_view folder,
                           std::string_view name);
// And back: relative to /mnt/data.
std::string session_path(const interpreter::SessionInfo& session, std::string_view path);

}  // namespace sk::api::azure
