#include "api/azure/session.h"

#include "base/path.h"
#include "base/text.h"
#include "interpreter/sessions/aliases.h"

namespace sk::api::azure {

namespace {

constexpr std::string_view kFirstOfFamilyB = "2024-10-02";
constexpr std::string_view kDataFolder = "/mnt/data";
constexpr size_t kIdentifierBytesMax = 256;
constexpr size_t kNameBytesMax = 80;  // of the session, and therefore of its folder

bool is_printable(std::string_view text) {
  for (char c : text)
    if (static_cast<unsigned char>(c) < 32 || c == 127) return false;
  return is_utf8(text);
}

std::string kind_of(const Call& call) { return "azure:" + pool_of(call); }

interpreter::Aliases aliases(const Call& call) {
  return interpreter::Aliases(call.app.keep, call.app.interpreter);
}

// Identifiers belong to the workspace that the key opens by default.
workspace::Authority home_of(const Call& call) { return call.app.keep.workspaces().open_default(call.actor); }

// Strips a leading /mnt/data from a path.
std::string_view inside(std::string_view path) {
  if (path == kDataFolder) return "";
  if (path.starts_with(kDataFolder) && path[kDataFolder.size()] == '/')
    return path.substr(kDataFolder.size() + 1);
  return path;
}

}  // namespace

Family family_of(const Call& call, Family otherwise) {
  auto version = call.query.text("api-version");
  if (!version || version->size() < kFirstOfFamilyB.size()) return otherwise;
  return version->substr(0, kFirstOfFamilyB.size()) < kFirstOfFamilyB ? Family::a : Family::b;
}

std::string pool_of(const Call& call) {
  std::string out;
  for (int n = 1;; ++n) {
    auto segment = call.request.params.find("p" + std::to_string(n));
    if (segment == call.request.params.end()) return out;
    out += "/" + percent_encode(segment->second);
  }
}

std::string pool_url(const Call& call) { return call.request.base_url + "/azure" + pool_of(call); }

std::string identifier_of(const Call& call, const std::optional<std::string>& fallback) {
  auto given = call.query.text("identifier");
  if (!given) given = fallback;
  if (!given || given->empty() || given->size() > kIdentifierBytesMax || !is_printable(*given))
    throw Error(Code::bad_request, "'identifier' must be 1 to 256 printable characters")
        .with("field", std::string("identifier"))
        .hint("Name the session in the query: ?identifier=NAME.");
  return *given;
}

std::optional<interpreter::SessionInfo> find_session(const Call& call) {
  auto found = aliases(call).find(home_of(call), kind_of(call), identifier_of(call));
  if (found) call.request.mounted_folder = found->folder;
  return found;
}

interpreter::SessionInfo need_session(const Call& call) {
  auto found = find_session(call);
  if (!found)
    throw Error(Code::not_found, "there is no session '" + identifier_of(call) + "' in this pool")
        .hint("A session exists after its first execution or upload.");
  return *found;
}

interpreter::SessionInfo use_session(const Call& call, const std::string& identifier) {
  interpreter::NewSession wanted;
  wanted.name = cut_text(identifier, kNameBytesMax);
  wanted.labels = {{"azure", {{"pool", pool_of(call)}, {"identifier", identifier}}}};
  // An existing session accepts files even when code execution is disabled.
  auto session = aliases(call).find_or_create(home_of(call), kind_of(call), identifier, wanted);
  call.request.mounted_folder = session.folder;
  return session;
}

workspace::Authority open_workspace(Call& call, const interpreter::SessionInfo& session,
                                    workspace::Right right) {
  return call.open_workspace(session.workspace.with_prefix(workspace::prefix::workspace), right);
}

std::string workspace_path(const interpreter::SessionInfo& session, std::string_view name) {
  return join_path(session.folder, clean_file_path(inside(name)));
}

std::string workspace_path(const interpreter::SessionInfo& session, std::string_view folder,
                           std::string_view name) {
  // A full path ignores `folder`.
  if (folder.empty() || inside(name) != name) return workspace_path(session, name);
  std::string path = join_path(clean_path(inside(folder)), std::string(name));
  return join_path(session.folder, clean_file_path(path));
}

std::string session_path(const interpreter::SessionInfo& session, std::string_view path) {
  if (session.folder.empty() || !is_within(path, session.folder)) return std::string(path);
  return std::string(path.substr(std::min(path.size(), session.folder.size() + 1)));
}

}  // namespace sk::api::azure
