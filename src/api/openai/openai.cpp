#include "api/openai/openai.h"

#include "api/vendor/containers.h"
#include "api/vendor/ignored.h"

namespace sk::api::openai {

Operation operation(const OpenAiMount& mount, std::string method, const std::string& path,
                    const std::string& id) {
  Operation out;
  out.method = std::move(method);
  out.pattern = mount.prefix + path;
  out.id = mount.tag + "_" + id;
  out.tag = "openai";
  out.summary = "OpenAI's " + id;
  // Azure's clients send it with every request. All versions behave the same here.
  out.query = {{.name = "api-version", .about = "Ignored."}};
  out.hidden = out.lenient = out.opens_locks = true;
  return out;
}

interpreter::SessionInfo container_of(Call& call) {
  auto container = need_container(call.app, call.actor, call.request.param("container"));
  call.request.mounted_folder = container.folder;
  return container;
}

interpreter::SessionInfo living_container_of(Call& call) {
  auto container = need_living_container(call.app, call.actor, call.request.param("container"));
  call.request.mounted_folder = container.folder;
  return container;
}

CallHandler telling_ignored(CallHandler handler) {
  return [handler = std::move(handler)](Call& call) {
    auto reply = handler(call);
    add_ignored(reply, call.ignored);
    return reply;
  };
}

void add_routes(Routes& routes, const OpenAiMount& mount) {
  add_container_routes(routes, mount);
  add_container_file_routes(routes, mount);
  add_exec_routes(routes, mount);
  add_file_routes(routes, mount);
  add_upload_routes(routes, mount);
}

}  // namespace sk::api::openai
