// What code in a session asks for through `import sandkeep`, with the session's own rights.
#include "base/error.h"
#include "base/path.h"
#include "base/text.h"
#include "interpreter/live_session.h"

namespace sk::interpreter {

namespace {

// Relative to /mnt/data. Names that are no text come in base64.
std::optional<std::string> local_path(const Json& params) {
  if (auto found = params.find("path"); found != params.end()) return found->get<std::string>();
  auto found = params.find("path_base64");
  if (found == params.end()) return std::nullopt;
  auto bytes = from_base64(found->get<std::string>());
  if (!bytes) throw Error(Code::bad_request, "the path is not base64");
  return bytes;
}

// A path that this capture refused, with the word that says why.
struct Refusal {
  NotKept why;
};

void refuse_unkept(const Settled& settled, const std::string& workspace_path) {
  for (const auto& item : settled.not_kept)
    if (item.path == workspace_path) throw Refusal{item};
}

}  // namespace

void LiveSession::answer(const sandbox::KernelRequest& request) {
  try {
    kernel_->reply(request.id, answer_request(request.method, request.params));
  } catch (const Error& error) {
    kernel_->refuse(request.id, sk::info(error.code()).name, error.message());
  } catch (const Refusal& refusal) {
    kernel_->refuse(request.id, name_of(refusal.why.reason), "it could not be kept: " + refusal.why.message);
  } catch (const Json::exception&) {
    kernel_->refuse(request.id, "bad_request", "the request's parameters are not what this method takes");
  }
}

// `import sandkeep` inside: with the session's own rights, for its own folder; fetch reads the rest of the
// workspace.
Json LiveSession::answer_request(const std::string& method, const Json& params) {
  if (!current_) throw Error(Code::conflict, "no cell is running");
  auto& keep = shared_.keep;
  CaptureAs as = capture_as();
  if (method == "fetch") {
    // What is here under that name is kept before it is replaced.
    Settled settled = capture_now(CopyKeeper::Extent::touched);
    Settled told = settled;
    settled_.append(std::move(settled));
    auto entry = keep.files().get(as.authority, params.at("workspace_path").get<std::string>());
    if (entry.kind != workspace::EntryKind::file)
      throw Error(Code::bad_request, "fetch takes a file, not a folder");
    bool here = is_within(entry.path, info_.folder);
    std::string path =
        here ? keeper_.paths().disk_path(entry.path) : unescape_name(split_path(entry.path).second);
    if (auto asked = local_path(params)) {
      here = here && *asked == path;
      path = *asked;
    }
    refuse_unkept(told, keeper_.paths().workspace_path(path));  // refuses names that could not be kept, too
    auto before = keeper_.manifest().find(path) != nullptr ? std::optional(*keeper_.manifest().find(path))
                                                           : std::nullopt;
    keeper_.sync().materialise(entry, path);
    // Under this name it is a new file, or a change of the one that was here.
    if (!here) keeper_.manifest().erase(path);
    if (!here && before) {
      before->ctime_ns = before->seen_us = 0;
      keeper_.manifest().set(path, *before);
    }
    return "/mnt/data/" + escape_name(path);
  }
  auto path = local_path(params);
  if (!path) throw Error(Code::bad_request, "a path is needed");
  Settled settled = capture_now(CopyKeeper::Extent::touched);
  Settled told = settled;
  settled_.append(std::move(settled));
  if (method != "versions") refuse_unkept(told, keeper_.paths().workspace_path(*path));
  auto entry = keep.files().get(as.authority, keeper_.paths().workspace_path(*path));
  auto versions = keep.files().versions(as.authority, entry.id, "", method == "versions" ? 100 : 1).items;
  if (versions.empty()) throw Error(Code::bad_request, "this is a folder");
  auto describe = [&](const workspace::Version& version) {
    return Json{{"path", version.path},
                {"version_id", version.id.with_prefix(workspace::prefix::version)},
                {"number", version.number},
                {"size", version.size},
                {"sha256", version.sha256.hex()},
                {"created_at", to_iso8601(version.created_us)},
                {"link", workspace::Links::path_of(version)}};
  };
  if (method == "keep") return describe(versions[0]);
  if (method == "link") return workspace::Links::path_of(versions[0]);
  if (method == "versions") {
    Json list = Json::array();
    for (const auto& version : versions) list.push_back(describe(version));
    return list;
  }
  throw Error(Code::not_found, "there is no method '" + method + "'");
}

}  // namespace sk::interpreter
