// The start of a server that needs the privileges of its user, and their end.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "sandbox/host.h"
#include "sandbox/type_reader.h"
#include "server/settings.h"

namespace sk::server {

struct PreparedSandbox {
  std::unique_ptr<sandbox::TypeReader> types;
  std::optional<sandbox::PreparedHost> host;
  std::string why_not;  // without a host: the reason
};

// Creates the data folder, examines the host, starts the helper processes, and then confines this process
// (sandbox/server_confinement.h), which must have one thread. Throws errors that prevent the start.
PreparedSandbox prepare_and_confine(const Settings& settings);

}  // namespace sk::server
