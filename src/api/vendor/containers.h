// Maps sessions and versions to the terms of other vendors' APIs. A session is a container ("cntr_…"). A
// version is a container file ("cfile_…") or a file ("file-…"). All spellings hold the same id. Any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/app.h"
#include "api/vendor/given_files.h"
#include "interpreter/types.h"

namespace sk::api {

inline constexpr std::string_view kContainerPrefix = "cntr_";
inline constexpr std::string_view kContainerFilePrefix = "cfile_";
inline constexpr std::string_view kFilePrefix = "file-";
inline constexpr std::string_view kMountPoint = "/mnt/data/";

// Return nullopt for other text. file_id_from() accepts both file prefixes, because clients mix them up.
std::optional<Id> container_id_from(std::string_view text);
std::optional<Id> file_id_from(std::string_view text);

// Returns the container with this id, even if deleted. Error(not_found) when the actor has none.
interpreter::SessionInfo need_container(App& app, const workspace::Actor& actor, std::string_view id);

// As above, but a deleted container is Error(not_found), which says where its files are.
interpreter::SessionInfo need_living_container(App& app, const workspace::Actor& actor, std::string_view id);

// Returns whether the container is asleep after its idle timeout or its maximum awake time. Other vendors
// call this expired.
bool is_expired(const interpreter::SessionInfo& container, TimeUs now_us);

// Finds a file of a container by id ("cfile_…" or "file-…"). Also finds it after the file was overwritten,
// renamed or trashed, and after its container expired or was deleted. Returns nullopt when the container has
// no such file, or when the id was retracted. Error(gone) when the file was purged.
std::optional<GivenFile> find_container_file(App& app, const workspace::Actor& actor,
                                             const interpreter::SessionInfo& container, std::string_view id);
// The same, by a parsed version id.
std::optional<GivenFile> find_session_file(App& app, const workspace::Actor& actor,
                                           const interpreter::SessionInfo& session, const Id& version);

// Source detail for a file that is put into the container. It keeps the file associated with the container
// after a move.
Json detail_of_put(const interpreter::SessionInfo& container);

// The path that code sees: "/mnt/data/plots/a.png".
std::string path_in_container(const interpreter::SessionInfo& container, const workspace::Version& version);
// Returns the path in the workspace for a file of that name; strips a leading "/mnt/data/".
// Error(bad_request) for names that leave the folder.
std::string path_in_workspace(const interpreter::SessionInfo& container, std::string_view name);

}  // namespace sk::api
