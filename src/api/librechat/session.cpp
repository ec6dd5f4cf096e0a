#include "api/librechat/session.h"

#include "api/common/need_interpreter.h"
#include "api/vendor/containers.h"
#include "base/json_reading.h"
#include "base/path.h"
#include "base/text.h"
#include "interpreter/sessions/aliases.h"

namespace sk::api::librechat {

namespace {

using interpreter::SessionInfo;

constexpr std::string_view kDataFolder = "/mnt/data/";
constexpr size_t kHintBytesMax = 256;

Error no_file() {
  return Error(Code::not_found, "File not found")
      .hint("You have no file with this id in this session. GET /files/{session} lists its files.");
}

std::optional<SessionInfo> find_session(const Call& call, std::string_view id) {
  auto parsed = Id::from_base64url21(id);
  return parsed ? session_directory(call.app).find(call.actor, *parsed) : std::nullopt;
}

bool is_upload(const SessionInfo& session) {
  return session.labels.is_object() && session.labels.contains("librechat_upload");
}

interpreter::NewSession new_session() {
  interpreter::NewSession wanted;
  wanted.name = "librechat";
  return wanted;
}

// Upload sessions only provide files. Code must not run in them, because all users of an agent share its
// files.
bool may_run_in(const std::optional<SessionInfo>& session) {
  return session && session->status != interpreter::SessionStatus::deleted && !is_upload(*session);
}

}  // namespace

std::string language_of(const std::string& name) {
  auto lower = ascii_lower(name);
  if (lower == "py" || lower == "python" || lower == "python3") return "python";
  if (lower == "bash" || lower == "sh" || lower == "shell") return "bash";
  throw Error(Code::bad_request, "Unsupported language: " + name)
      .with("field", std::string("lang"))
      .hint("This server runs py and bash.");
}

SessionInfo need_session(const Call& call, std::string_view id) {
  auto found = find_session(call, id);
  if (!found) throw Error(Code::not_found, "Session not found").hint("You have no session with this id.");
  call.request.mounted_folder = found->folder;
  return *found;
}

workspace::Version need_version(Call& call, const SessionInfo& session, std::string_view id) {
  auto parsed = Id::from_base64url21(id);
  auto file = parsed ? find_session_file(call.app, call.actor, session, *parsed) : std::nullopt;
  if (!file) throw no_file();
  return file->version;
}

bool is_read_only(const SessionInfo& session) {
  if (!is_upload(session)) return false;
  const Json& upload = session.labels.at("librechat_upload");  // any text, when a client set this label
  return upload.is_object() && upload.contains("read_only") && upload.at("read_only") == true;
}

FileRefs read_refs(const Body& body) {
  FileRefs refs;
  for (const auto& file : body.objects("files")) {
    FileRef ref{text_in(file, "storage_session_id"), text_in(file, "id"), text_in(file, "name")};
    refs.current = refs.current || !ref.session.empty() || file.contains("kind");
    if (ref.session.empty()) ref.session = text_in(file, "session_id");
    if (ref.name.starts_with(kDataFolder)) ref.name = ref.name.substr(kDataFolder.size());
    refs.all.push_back(std::move(ref));
  }
  return refs;
}

ChosenSession choose_session(const Call& call, const Body& body, const FileRefs& refs) {
  auto& interpreter = need_interpreter(call.app);
  if (auto id = body.text("session_id")) {
    if (auto named = find_session(call, *id); may_run_in(named)) return {*named};
  }
  if (auto hint = body.text("runtime_session_hint"); hint && !hint->empty()) {
    if (hint->size() > kHintBytesMax)
      throw Error(Code::bad_request, "'runtime_session_hint' may have at most 256 bytes")
          .with("field", std::string("runtime_session_hint"));
    interpreter::Aliases aliases(call.app.keep, interpreter);
    auto authority = call.app.keep.workspaces().open_default(call.actor);
    bool known = aliases.find(authority, "librechat", *hint).has_value();
    return {aliases.find_or_create(authority, "librechat", *hint, new_session()), !known};
  }
  std::optional<SessionInfo> latest;
  for (const auto& ref : refs.all) {
    auto one = find_session(call, ref.session);
    if (may_run_in(one) && (!latest || one->active_us > latest->active_us)) latest = one;
  }
  if (latest) return {*latest};
  auto authority = call.app.keep.workspaces().open_default(call.actor, workspace::Right::write);
  return {interpreter.create(authority, new_session()), true};
}

// Whether the time is over that a Files API gave the file. False for one that is not there, which attach()
// reports.
static bool is_expired(const Call& call, const Id& version) {
  try {
    return call.app.keep.retractions().find(call.actor, version) &&
           !call.app.given_files.find(call.actor, version);
  } catch (const Error&) {
    return false;
  }
}

std::vector<interpreter::Attached> attach(const Call& call, const SessionInfo& session,
                                          const FileRefs& refs) {
  std::vector<interpreter::Attachment> wanted;
  for (const auto& ref : refs.all) {
    // An invalid id becomes the zero id, for which attach() reports a problem with the file's name.
    Id version = Id::from_base64url21(ref.id).value_or(Id{});
    if (is_expired(call, version)) version = Id{};
    wanted.push_back({version, ref.name.empty() ? "file-" + ref.id : ref.name});
  }
  if (wanted.empty()) return {};
  auto authority = call.app.keep.workspaces().open(
      call.actor, session.workspace.with_prefix(workspace::prefix::workspace), workspace::Right::write);
  return interpreter::Attachments(call.app.keep).attach(authority, session, wanted);
}

std::string name_in(const SessionInfo& session, std::string_view path) {
  if (session.folder.empty() || !is_within(path, session.folder)) return std::string(path);
  return std::string(path.substr(std::min(path.size(), session.folder.size() + 1)));
}

}  // namespace sk::api::librechat
