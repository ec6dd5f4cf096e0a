#include "server/privileges.h"

#include <filesystem>

#include "base/error.h"
#include "blobs/blob_tree.h"
#include "sandbox/server_confinement.h"
#include "server/options.h"

namespace sk::server {

namespace {

void make_data_folder(const std::string& path) {
  try {
    blobs::make_directories_durably(path, 0777);
  } catch (const Error& error) {
    throw Error(Code::bad_request, "cannot create the data folder: " + error.message())
        .hint("Choose another folder with --data DIR.");
  }
}

PreparedSandbox prepare_sandbox(const Settings& settings) {
  if (settings.sandbox == SandboxMode::off)
    return {nullptr, std::nullopt, "this server runs no code: it was started with --sandbox=off"};
  try {
    auto options = sandbox_options(settings);
    std::filesystem::create_directories(options.data_root);
    return {nullptr, sandbox::prepare_host(std::move(options), sandbox::Privileges::in_helper), ""};
  } catch (const Error& error) {
    return {nullptr, std::nullopt, error.message()};
  } catch (const std::filesystem::filesystem_error& error) {
    return {nullptr, std::nullopt, error.what()};
  }
}

}  // namespace

PreparedSandbox prepare_and_confine(const Settings& settings) {
  make_data_folder(settings.data);
  auto types =
      std::make_unique<sandbox::TypeReader>();  // first, so that its processes inherit no descriptors
  auto out = prepare_sandbox(settings);
  out.types = std::move(types);
  sandbox::confine_server(
      {.data_folder = settings.data,
       .control_groups = out.host ? out.host->cgroups->folders() : std::vector<std::string>(),
       .listens_below_1024 = settings.listen.port > 0 && settings.listen.port < 1024});
  return out;
}

}  // namespace sk::server
