#include "api/vendor/containers.h"

#include "api/common/need_interpreter.h"
#include "base/error.h"
#include "base/path.h"

namespace sk::api {

std::optional<Id> container_id_from(std::string_view text) {
  return Id::from_prefixed(text, kContainerPrefix);
}

std::optional<Id> file_id_from(std::string_view text) {
  auto id = Id::from_prefixed(text, kContainerFilePrefix);
  return id ? id : Id::from_prefixed(text, kFilePrefix);
}

interpreter::SessionInfo need_container(App& app, const workspace::Actor& actor, std::string_view text) {
  auto id = container_id_from(text);
  auto found = id ? session_directory(app).find(actor, *id) : std::nullopt;
  if (!found)
    throw Error(Code::not_found, "there is no container '" + std::string(text.substr(0, 100)) + "'")
        .hint("Ids look like cntr_ and 32 hexadecimal digits; list your containers to see them.");
  return *found;
}

interpreter::SessionInfo need_living_container(App& app, const workspace::Actor& actor,
                                               std::string_view text) {
  auto container = need_container(app, actor, text);
  if (container.status == interpreter::SessionStatus::deleted)
    throw Error(Code::not_found, "the container was deleted")
        .hint("Its files are kept: by their ids, and in the workspace's folder '" + container.folder + "'.");
  return container;
}

bool is_expired(const interpreter::SessionInfo& container, TimeUs now_us) {
  if (container.status != interpreter::SessionStatus::asleep) return false;
  bool unused = container.idle_s > 0 && now_us - container.active_us >= container.idle_s * kSecondUs;
  bool worn_out = container.awake_max_s > 0 && container.woke_us &&
                  now_us - *container.woke_us >= container.awake_max_s * kSecondUs;
  return unused || worn_out;
}

std::optional<GivenFile> find_container_file(App& app, const workspace::Actor& actor,
                                             const interpreter::SessionInfo& container,
                                             std::string_view text) {
  auto id = file_id_from(text);
  return id ? find_session_file(app, actor, container, *id) : std::nullopt;
}

std::optional<GivenFile> find_session_file(App& app, const workspace::Actor& actor,
                                           const interpreter::SessionInfo& session, const Id& id) {
  auto found = app.given_files.find(actor, id);
  if (!found || found->version.workspace != session.workspace) return std::nullopt;
  const auto& version = found->version;
  // A file moved out of the folder still belongs to the container in which an execution or a client created
  // it.
  bool here =
      is_within(version.path, session.folder) ||
      version.source.detail.value("session_id", "") == session.id.with_prefix(workspace::prefix::session);
  return here ? found : std::nullopt;
}

Json detail_of_put(const interpreter::SessionInfo& container) {
  return {{"session_id", container.id.with_prefix(workspace::prefix::session)}};
}

std::string path_in_container(const interpreter::SessionInfo& container, const workspace::Version& version) {
  std::string path(kMountPoint);
  if (container.folder.empty()) return path.append(version.path);
  if (!is_within(version.path, container.folder)) return path.append(split_path(version.path).second);
  return path.append(version.path, container.folder.size() + 1);
}

std::string path_in_workspace(const interpreter::SessionInfo& container, std::string_view name) {
  if (name.starts_with(kMountPoint)) name.remove_prefix(kMountPoint.size());
  return clean_file_path(join_path(container.folder, clean_file_path(name)));
}

}  // namespace sk::api
