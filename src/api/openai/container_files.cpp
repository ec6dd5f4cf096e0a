// Files of a container. A list has the newest version of each file. An id names one version forever.
#include "api/common/conditions.h"
#include "api/common/download.h"
#include "api/openai/form.h"
#include "api/openai/openai.h"
#include "api/openai/shapes.h"
#include "api/vendor/containers.h"
#include "base/path.h"

namespace sk::api::openai {

namespace {

using http::Reply;
using interpreter::SessionInfo;
using workspace::Right;
using workspace::Version;

// The bytes of an id never change, but access must be checked on each request.
constexpr std::string_view kCacheControl = "private, no-cache";

workspace::Authority workspace_of(Call& call, const SessionInfo& container, Right right) {
  return call.open_workspace(container.workspace.with_prefix(workspace::prefix::workspace), right);
}

// Finds a file by id. Where the mount allows it, also by name, which means the newest version.
Version file_of(Call& call, const SessionInfo& container, const OpenAiMount& mount) {
  const auto& text = call.request.param("file");
  if (auto found = find_container_file(call.app, call.actor, container, text)) return found->version;
  if (mount.files_by_name && !file_id_from(text)) {
    auto workspace = workspace_of(call, container, Right::read);
    auto entry = call.app.keep.files().find(workspace, path_in_workspace(container, text));
    if (entry && entry->kind == workspace::EntryKind::file)
      return *call.app.keep.files().find_version(workspace, entry->head);
  }
  throw Error(Code::not_found, "the container has no file '" + text.substr(0, 300) + "'")
      .hint("List the container's files to see their ids.");
}

Reply file_reply(Call& call, const SessionInfo& container, const Version& version) {
  return Reply::json(container_file_json(container, version, call.request.base_url));
}

Reply copy_file(Call& call, const SessionInfo& container, const std::string& file_id) {
  auto id = file_id_from(file_id);
  auto file = id ? call.app.given_files.find(call.actor, *id) : std::nullopt;
  if (!file)
    throw Error(Code::not_found, "there is no file '" + file_id.substr(0, 100) + "'")
        .with("field", "file_id");
  workspace::CopyChange copy;
  copy.from_workspace = file->version.workspace;
  copy.from_version = file->version.id;
  copy.to = path_in_workspace(container, split_path(file->version.path).second);
  copy.on_existing = workspace::OnExisting::replace;
  copy.conditions = conditions_from_headers(call.request.headers);
  copy.detail = detail_of_put(container);
  auto workspace = workspace_of(call, container, Right::write);
  // Returns the existing file when the container already has this version.
  auto there = call.app.keep.files().find(workspace, copy.to);
  if (there && there->head == *id) return file_reply(call, container, file->version);
  auto result = call.app.keep.files().apply_one(workspace, std::move(copy));
  return file_reply(call, container, *result.version);
}

Reply put_file(Call& call, const SessionInfo& container, Form& form, const FormRules& rules) {
  auto file_id = form.fields.find("file_id");
  if (!form.filename && file_id != form.fields.end()) return copy_file(call, container, file_id->second);
  need_file(form, rules);
  form.change.path = path_in_workspace(container, *form.filename);
  form.change.source.detail = detail_of_put(container);
  form.change.conditions = conditions_from_headers(call.request.headers);
  auto result =
      call.app.keep.files().apply_one(workspace_of(call, container, Right::write), std::move(form.change));
  return file_reply(call, container, *result.version);
}

std::unique_ptr<http::BodySink> create_file(std::shared_ptr<Call> call) {
  auto container = living_container_of(*call);
  workspace_of(*call, container, Right::write);  // refuses read-only actors before the body is sent
  if (is_form(call->request)) {
    FormRules rules{.file_field = "file", .fields = {"file_id"}, .bytes_max = {}};
    return std::make_unique<FormSink>(std::move(call), rules, [container, rules](Call& asked, Form& form) {
      return put_file(asked, container, form, rules);
    });
  }
  static const Fields kFields = {{.name = "file_id", .about = "", .required = true}};
  return std::make_unique<JsonSink>(std::move(call), kFields, [container](Call& asked, const Body& body) {
    return copy_file(asked, container, body.need_text("file_id"));
  });
}

Reply list_files(Call& call) {
  auto query = list_query(call, 20, 100);
  auto container = living_container_of(call);
  workspace::HeadQuery wanted;
  wanted.folder = container.folder;
  wanted.order = query.order;
  wanted.limit = query.limit + 1;
  if (query.after) {
    auto id = file_id_from(*query.after);
    if (!id) throw Error(Code::bad_request, "'after' must be the id of a file").with("field", "after");
    wanted.after = *id;
  }
  auto found = call.app.keep.files().heads(workspace_of(call, container, Right::read), wanted);
  return Reply::json(list_json(found, query.limit, [&](const Version& version) {
    return container_file_json(container, version, call.request.base_url);
  }));
}

Reply get_content(Call& call, const OpenAiMount& mount) {
  auto container = container_of(call);
  auto version = file_of(call, container, mount);
  call.note("read", version.id.with_prefix(workspace::prefix::version));
  return download(call.app, call.request, version,
                  {.attachment = true, .cache_control = std::string(kCacheControl)});
}

Reply delete_file(Call& call, const OpenAiMount& mount) {
  auto container = container_of(call);
  auto version = file_of(call, container, mount);
  call.app.keep.retractions().retract(call.actor, version.id, lock_tokens_from_headers(call.request.headers));
  return Reply::json({{"id", version.id.with_prefix(kContainerFilePrefix)},
                      {"object", "container.file.deleted"},
                      {"deleted", true}});
}

}  // namespace

void add_container_file_routes(Routes& routes, const OpenAiMount& mount) {
  const std::string files = "/containers/{container}/files";
  auto create = operation(mount, "POST", files, "create_container_file");
  create.body_kind = BodyKind::bytes_or_multipart;
  create.conditional_write = true;
  routes.add_streaming(std::move(create), create_file);

  auto list = operation(mount, "GET", files, "list_container_files");
  list.query = list.query + list_fields();
  routes.add(std::move(list), telling_ignored(list_files));

  routes.add(operation(mount, "GET", files + "/{file}", "get_container_file"),
             telling_ignored([mount](Call& call) {
               auto container = container_of(call);
               return file_reply(call, container, file_of(call, container, mount));
             }));
  routes.add(operation(mount, "GET", files + "/{file}/content", "get_container_file_content"),
             telling_ignored([mount](Call& call) { return get_content(call, mount); }));
  routes.add(operation(mount, "DELETE", files + "/{file}", "delete_container_file"),
             telling_ignored([mount](Call& call) { return delete_file(call, mount); }));
}

}  // namespace sk::api::openai
