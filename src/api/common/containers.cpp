#include "api/common/containers.h"

#include "base/error.h"
#include "workspace/path.h"

namespace sk::api {

std::optional<Id> container_id_from(std::string_view text) {
  return Id::from_prefixed(text, kContainerPrefix);
}

std::optional<Id> file_id_from(std::string_view text) {
  auto id = Id::from_prefixed(text, kContainerFilePrefix);
  return id ? id : Id::from_prefixed(text, kFilePrefix);
}

interpreter::Interpreter& need_interpreter(App& app) {
  if (app.interpreter == nullptr)
    throw Error(Code::unavailable, app.why_no_sessions)
        .hint("The message says what is missing on the server; ask its operator.");
  return *app.interpreter;
}

interpreter::SessionInfo need_container(App& app, const workspace::Actor& actor, std::string_view text) {
  auto id = container_id_from(text);
  auto found = id ? need_interpreter(app).find(actor, *id) : std::nullopt;
  if (!found)
    throw Error(Code::not_found, "there is no container '" + std::string(text.substr(0, 100)) + "'")
        .hint("Ids look like cntr_ and 32 hexadecimal digits; list your containers to see them.");
  return *found;
}

interpreter::SessionInfo need_living_container(App& app, const workspace::Actor& actor,
                                               std::string_view text) {
  auto container = need_container(app, actor, text);
  if (container.status == interpreter::Status::deleted)
    throw Error(Code::not_found, "the container was deleted")
        .hint("Its files are kept: by their ids, and in the workspace's folder '" + container.folder + "'.");
  return container;
}

bool is_expired(const interpreter::SessionInfo& container, TimeUs now_us) {
  return container.status == interpreter::Status::asleep && container.idle_s > 0 &&
         now_us - container.active_us >= container.idle_s * kSecondUs;
}

std::optional<workspace::GivenFile> find_container_file(App& app, const workspace::Actor& actor,
                                                        const interpreter::SessionInfo& container,
                                                        std::string_view text) {
  auto id = file_id_from(text);
  auto found = id ? app.keep.purposes().find(actor, *id) : std::nullopt;
  if (!found || found->version.workspace != container.workspace) return std::nullopt;
  const auto& version = found->version;
  // A file that was moved out of the folder is still the one that an execution wrote or a client put there.
  auto session = version.source.detail.value("session_id", "");
  bool here = workspace::is_within(version.path, container.folder) ||
              session == container.id.with_prefix(workspace::prefix::session);
  return here ? found : std::nullopt;
}

std::string path_in_container(const interpreter::SessionInfo& container, const workspace::Version& version) {
  std::string path(kMountPoint);
  if (container.folder.empty()) return path.append(version.path);
  if (!workspace::is_within(version.path, container.folder))
    return path.append(workspace::split_path(version.path).second);
  return path.append(version.path, container.folder.size() + 1);
}

std::string path_in_workspace(const interpreter::SessionInfo& container, std::string_view name) {
  if (name.starts_with(kMountPoint)) name.remove_prefix(kMountPoint.size());
  return workspace::clean_file_path(workspace::join_path(container.folder, workspace::clean_file_path(name)));
}

}  // namespace sk::api
