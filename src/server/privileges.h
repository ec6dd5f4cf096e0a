// The start of a server that needs the privileges of its user, and their end.
#pragma once

#include <optional>
#include <string>

#include "sandbox/host.h"
#include "server/settings.h"

namespace sk::server {

struct PreparedSandbox {
  std::optional<sandbox::PreparedHost> host;
  std::string why_not;  // without a host: the reason
};

// Creates the data folder, examines the host, starts the helper process, and then confines this process
// (sandbox/server_confinement.h), which must have one thread. Throws errors that prevent the start.
PreparedSandbox prepare_and_confine(const Settings& settings);

}  // namespace sk::server
