#include "interpreter/run/session_requests.h"

#include "base/error.h"
#include "base/path.h"
#include "base/text.h"

namespace sk::interpreter {

namespace {

constexpr size_t kVersionsTold = 100;

// The path relative to /mnt/data. Names that are not UTF-8 come as base64.
std::optional<std::string> local_path(const Json& params) {
  if (auto found = params.find("path"); found != params.end()) return found->get<std::string>();
  auto found = params.find("path_base64");
  if (found == params.end()) return std::nullopt;
  auto bytes = from_base64(found->get<std::string>());
  if (!bytes) throw Error(Code::bad_request, "the path is not base64");
  return bytes;
}

// A path that this capture refused, and its reason.
struct Refusal {
  NotKept why;
};

void refuse_unkept(const Settled& settled, const std::string& workspace_path) {
  for (const auto& item : settled.not_kept)
    if (item.path == workspace_path) throw Refusal{item};
}

std::string link_to(const RequestContext& context, const workspace::Version& version) {
  return context.base_url + workspace::Links::path_of(version);
}

Json describe(const RequestContext& context, const workspace::Version& version) {
  return {{"path", version.path},
          {"version_id", version.id.with_prefix(workspace::prefix::version)},
          {"number", version.number},
          {"size", version.size},
          {"sha256", version.sha256.hex()},
          {"created_at", to_iso8601(version.created_us)},
          {"link", link_to(context, version)}};
}

Json fetch(const RequestContext& context, const Json& params) {
  CopyKeeper& keeper = context.keeper;
  // Keeps the current file of that name before replacing it.
  Settled settled = context.capture();
  auto entry = context.keep.files().get(context.authority, params.at("workspace_path").get<std::string>());
  if (entry.kind != workspace::EntryKind::file)
    throw Error(Code::bad_request, "fetch needs a file, not a folder");
  bool here = is_within(entry.path, context.folder);
  std::string path =
      here ? keeper.paths().disk_path(entry.path) : unescape_name(split_path(entry.path).second);
  if (auto asked = local_path(params)) {
    here = here && *asked == path;
    path = *asked;
  }
  refuse_unkept(settled, keeper.paths().workspace_path(path));  // also refuses names that could not be kept
  const ManifestRow* row = keeper.manifest().find(path);
  auto before = row != nullptr ? std::optional(*row) : std::nullopt;
  keeper.sync().materialise(entry, path);
  // Under this name it is a new file, or a change of the existing one.
  if (!here) keeper.manifest().erase(path);
  if (!here && before) {
    before->ctime_ns = before->seen_us = 0;
    keeper.manifest().set(path, *before);
  }
  return "/mnt/data/" + escape_name(path);
}

Json answer(const RequestContext& context, const std::string& method, const Json& params) {
  if (method == "fetch") return fetch(context, params);
  auto path = local_path(params);
  if (!path) throw Error(Code::bad_request, "a path is needed");
  Settled settled = context.capture();
  std::string workspace_path = context.keeper.paths().workspace_path(*path);
  if (method != "versions") refuse_unkept(settled, workspace_path);
  auto& files = context.keep.files();
  auto entry = files.get(context.authority, workspace_path);
  auto versions =
      files.versions(context.authority, entry.id, "", method == "versions" ? kVersionsTold : 1).items;
  if (versions.empty()) throw Error(Code::bad_request, "this is a folder");
  if (method == "keep") return describe(context, versions[0]);
  if (method == "link") return link_to(context, versions[0]);
  if (method == "versions") {
    Json list = Json::array();
    for (const auto& version : versions) list.push_back(describe(context, version));
    return list;
  }
  throw Error(Code::not_found, "there is no method '" + method + "'");
}

}  // namespace

RequestAnswer answer_request(const RequestContext& context, const sandbox::KernelRequest& request) {
  try {
    return answer(context, request.method, request.params);
  } catch (const Error& error) {
    return RequestRefused{std::string(sk::info(error.code()).name), error.message()};
  } catch (const Refusal& refusal) {
    return RequestRefused{std::string(name_of(refusal.why.reason)),
                          "it could not be kept: " + refusal.why.message.text()};
  } catch (const Json::exception&) {
    return RequestRefused{"bad_request", "the request's parameters do not match this method"};
  }
}

}  // namespace sk::interpreter
