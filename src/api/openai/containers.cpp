// Containers: sessions under OpenAI's name, including sessions of other dialects.
#include "api/vendor/containers.h"
#include "api/common/await.h"
#include "api/common/conditions.h"
#include "api/common/need_interpreter.h"
#include "api/openai/expiry.h"
#include "api/openai/openai.h"
#include "api/openai/shapes.h"
#include "api/vendor/ignored.h"
#include "base/path.h"
#include "base/text.h"

namespace sk::api::openai {

namespace {

using http::Reply;
using interpreter::SessionInfo;

constexpr size_t kNameBytesMax = 100;

Error wrong(std::string_view field, std::string message) {
  return Error(Code::bad_request, std::move(message)).with("field", std::string(field));
}

void check_network_policy(const Json& policy, std::vector<std::string>& ignored) {
  if (policy.empty()) return;
  static const Fields kFields = {
      {.name = "type", .about = "", .required = true, .choices = {"disabled", "allowlist"}},
      {.name = "allowed_domains", .type = FieldType::text_list, .about = ""},
      {.name = "domain_secrets", .type = FieldType::object_list, .about = ""}};
  Body body(kFields, policy, "network_policy.", &ignored);
  if (body.need_text("type") == "allowlist")
    throw wrong("network_policy", "code in a container has no network here, so no domain can be allowed")
        .hint(
            "Omit network_policy, or set {\"type\": \"disabled\"}. Provide the data that the code needs as "
            "files.");
}

uint64_t read_memory(const Call& call, const std::string& text) {
  uint64_t bytes = *parse_size(text);
  uint64_t most = call.app.settings.session_memory_max_bytes;
  if (bytes > most)
    throw wrong("memory_limit",
                "a container may have at most " + human_size(most) + " of memory on this server")
        .hint("Request less, or ask the operator to raise session-memory-max-bytes.");
  return bytes;
}

// Finds the files before the container is created; each must exist.
std::vector<workspace::Version> find_files(Call& call) {
  std::vector<workspace::Version> found;
  for (const auto& text : call.body.texts("file_ids")) {
    auto id = file_id_from(text);
    auto file = id ? call.app.given_files.find(call.actor, *id) : std::nullopt;
    if (!file) throw wrong("file_ids", "there is no file '" + text.substr(0, 100) + "'");
    found.push_back(std::move(file->version));
  }
  return found;
}

// Copies files under their own names. A second file of the same name becomes "name (2)", so that both exist.
std::vector<workspace::Change> copies_of(const std::vector<workspace::Version>& files, const SessionInfo& to,
                                         const workspace::Conditions& conditions) {
  std::vector<workspace::Change> copies;
  for (const auto& file : files) {
    workspace::CopyChange copy;
    copy.from_workspace = file.workspace;
    copy.from_version = file.id;
    copy.to = path_in_workspace(to, split_path(file.path).second);
    copy.on_existing = workspace::OnExisting::rename;
    copy.conditions = conditions;
    copy.detail = detail_of_put(to);
    copies.emplace_back(std::move(copy));
  }
  return copies;
}

// Deletes the container again unless finish() was called.
class Unfinished {
 public:
  Unfinished(Call& call, const Id& container) : call_(call), container_(container) {}
  Unfinished(const Unfinished&) = delete;
  ~Unfinished() {
    if (!container_) return;
    try {
      call_.app.interpreter
          .remove(session_authority(call_.app, call_.actor, container_), container_,
                  interpreter::Interpreter::OnUnkept::discard)
          .then([](const Result<Done>&) {});
    } catch (const Error&) {
      // The container stays, asleep and empty, until somebody deletes it.
    }
  }
  void finish() { container_ = {}; }

 private:
  Call& call_;
  Id container_;
};

interpreter::NewSession wanted_session(Call& call, const OpenAiMount& mount) {
  interpreter::NewSession wanted;
  wanted.name = call.body.need_text("name");
  if (wanted.name.size() > kNameBytesMax)
    throw wrong("name", "a container's name may have at most " + std::to_string(kNameBytesMax) + " bytes");
  if (auto memory = call.body.text("memory_limit")) wanted.memory_bytes = read_memory(call, *memory);
  auto minutes = read_expiry(call.body.object("expires_after"), kContainerExpiry, call.ignored);
  wanted.idle_s = minutes ? std::optional(*minutes * 60) : mount.idle_s;
  wanted.awake_max_s = mount.awake_max_s;
  check_network_policy(call.body.object("network_policy"), call.ignored);
  return wanted;
}

Reply create_container(Call& call, const OpenAiMount& mount) {
  auto& interpreter = need_interpreter(call.app);
  auto wanted = wanted_session(call, mount);
  auto files = find_files(call);
  auto container = interpreter.create(
      call.app.keep.workspaces().open_default(call.actor, workspace::Right::write), wanted);
  if (!files.empty()) {
    Unfinished guard(call, container.id);
    auto workspace = call.open_workspace(container.workspace.with_prefix(workspace::prefix::workspace),
                                         workspace::Right::write);
    call.app.keep.files().apply(workspace,
                                copies_of(files, container, lock_tokens_from_headers(call.request.headers)));
    guard.finish();
  }
  return Reply::json(container_json(container, call.app.clock.now_us()));
}

Reply list_containers(Call& call) {
  auto query = list_query(call, 20, 100);
  interpreter::SessionQuery wanted;
  wanted.name = call.query.text("name").value_or("");
  wanted.order = query.order;
  wanted.limit = query.limit + 1;
  if (query.after) {
    auto id = container_id_from(*query.after);
    if (!id) throw wrong("after", "'after' must be the id of a container");
    wanted.after = *id;
  }
  auto found = session_directory(call.app).list(call.actor, wanted);
  return Reply::json(list_json(found, query.limit, [&](const SessionInfo& container) {
    return container_json(container, call.app.clock.now_us());
  }));
}

Reply delete_container(Call& call) {
  auto container = living_container_of(call);
  auto& interpreter = need_interpreter(call.app);
  call.hold_connection();
  auto removed = interpreter.remove(session_authority(call.app, call.actor, container.id), container.id,
                                    unkept_by(call.query));
  return when_known<Done>(call, removed, [id = container.id, ignored = call.ignored](const Done&) {
    auto reply = Reply::json(
        {{"id", id.with_prefix(kContainerPrefix)}, {"object", "container.deleted"}, {"deleted", true}});
    add_ignored(reply, ignored);
    return reply;
  });
}

}  // namespace

void add_container_routes(Routes& routes, const OpenAiMount& mount) {
  auto create = operation(mount, "POST", "/containers", "create_container");
  create.body_kind = BodyKind::json;
  create.body = {
      {.name = "name", .about = "A name for people. It need not be unique.", .required = true},
      {.name = "file_ids", .type = FieldType::text_list, .about = "Files to copy into the container."},
      {.name = "expires_after", .type = FieldType::object, .about = "anchor, minutes"},
      {.name = "memory_limit",
       .about = "Memory limit of the container.",
       .choices = {"1g", "4g", "16g", "64g"}},
      {.name = "network_policy", .type = FieldType::object, .about = "Only `disabled`."}};
  routes.add(std::move(create),
             telling_ignored([mount](Call& call) { return create_container(call, mount); }));

  auto list = operation(mount, "GET", "/containers", "list_containers");
  list.query = list.query + list_fields() + Fields{{.name = "name", .about = "Exactly this name."}};
  routes.add(std::move(list), telling_ignored(list_containers));

  routes.add(operation(mount, "GET", "/containers/{container}", "get_container"),
             telling_ignored([](Call& call) {
               return Reply::json(container_json(living_container_of(call), call.app.clock.now_us()));
             }));
  auto remove = operation(mount, "DELETE", "/containers/{container}", "delete_container");
  remove.query = std::move(remove.query) + force_field();
  routes.add(std::move(remove), delete_container);
}

}  // namespace sk::api::openai
