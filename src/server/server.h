// The interface of the server for the command line: running a server, its settings and documents, and two
// checks that need no server. src/cli includes no other header of the server.
#pragma once

#include <functional>
#include <string>

#include "base/clock.h"
#include "sandbox/doctor.h"
#include "server/documents.h"
#include "server/first_key.h"
#include "server/settings.h"
#include "workspace/audit.h"

namespace sk::api::mcp {
class Extension;
}

namespace sk::server {

// A server that answers requests.
struct Listening {
  std::string url;  // "http://127.0.0.1:8420"
  FirstKey first_key;
  std::string authority_file;  // authority to trust, for self-signed TLS; else empty
  enum class Code { none, exact_limits, approximate_limits } code = Code::none;
};

// Runs a server. Calls `until_end` when the server answers requests, and stops it when the callback returns.
// Error(conflict) if another server uses the data folder; other errors that prevent the start also propagate.
// `mcp_extension` is null or outlives the call.
void run(const Settings& settings, const Clock& clock, const api::mcp::Extension* mcp_extension,
         const std::function<void(const Listening&)>& until_end);

// Tests each layer of the sandbox on the filesystem of `folder`.
sandbox::Report examine_sandbox(const std::string& folder);

// Verifies an exported journal. `trusted_key_pem` is the server's public key; "" accepts the key in the file.
workspace::AuditVerdict verify_audit(const std::string& file, const std::string& trusted_key_pem);

}  // namespace sk::server
