// Sessions and versions under the names that other vendors' APIs give them: a session is a container
// ("cntr_…"), a version a file of it ("cfile_…") and a file of its own ("file-…"). All are one id in several
// spellings.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/app.h"
#include "interpreter/types.h"
#include "workspace/purposes.h"

namespace sk::api {

inline constexpr std::string_view kContainerPrefix = "cntr_";
inline constexpr std::string_view kContainerFilePrefix = "cfile_";
inline constexpr std::string_view kFilePrefix = "file-";
inline constexpr std::string_view kMountPoint = "/mnt/data/";

// nullopt for anything else. A file is taken in either spelling, since clients mix them up.
std::optional<Id> container_id_from(std::string_view text);
std::optional<Id> file_id_from(std::string_view text);

// The container with that id, also a deleted one. Error(not_found) when the actor has none.
interpreter::SessionInfo need_container(App& app, const workspace::Actor& actor, std::string_view id);

// The same; a deleted one is Error(not_found) that says where its files are.
interpreter::SessionInfo need_living_container(App& app, const workspace::Actor& actor, std::string_view id);

// Asleep because nobody used it for as long as it was to wait, or because it was awake for as long as it may
// be: other vendors' word for that is expired.
bool is_expired(const interpreter::SessionInfo& container, TimeUs now_us);

// The file of a container that has this id ("cfile_…" or "file-…"), whatever became of it since: overwritten,
// renamed, trashed, its container expired or deleted. nullopt when it is none of the container's files, and
// when its id was retracted; Error(gone) when it was purged.
std::optional<workspace::GivenFile> find_container_file(App& app, const workspace::Actor& actor,
                                                        const interpreter::SessionInfo& container,
                                                        std::string_view id);
// The same by a version's id, however a dialect spells it.
std::optional<workspace::GivenFile> find_session_file(App& app, const workspace::Actor& actor,
                                                      const interpreter::SessionInfo& session,
                                                      const Id& version);

// What a version's source says of a file that is put into the container: with it, the file stays one of the
// container's wherever it is moved.
Json detail_of_put(const interpreter::SessionInfo& container);

// Where code sees it: "/mnt/data/plots/a.png".
std::string path_in_container(const interpreter::SessionInfo& container, const workspace::Version& version);
// Where a file of that name goes, in the workspace; "/mnt/data/" before it is dropped. Error(bad_request) for
// names that lead out of the folder.
std::string path_in_workspace(const interpreter::SessionInfo& container, std::string_view name);

}  // namespace sk::api
