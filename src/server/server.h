// The server's modules as the command line uses them: running a server, its settings and documents, and two
// checks that need no server. The only header of the server's rooms that src/cli includes.
#pragma once

#include <functional>
#include <string>

#include "base/clock.h"
#include "sandbox/doctor.h"
#include "server/documents.h"
#include "server/first_key.h"
#include "server/settings.h"
#include "workspace/audit.h"

namespace sk::server {

// A server that answers.
struct Listening {
  std::string url;  // "http://127.0.0.1:8420"
  FirstKey first_key;
  std::string authority_file;  // to trust, for self-signed TLS; else empty
};

// Runs a server. Calls `until_end` when it answers, and stops it when that returns. Throws Error(conflict)
// when another server has the data folder, and whatever else keeps it from starting.
void run(const Settings& settings, const Clock& clock,
         const std::function<void(const Listening&)>& until_end);

// Tries each layer of the sandbox on the filesystem of `folder`.
sandbox::Report examine_sandbox(const std::string& folder);

// Checks an exported journal. `trusted_key_pem` is the server's public key; "" believes the one in the file.
workspace::AuditVerdict verify_audit(const std::string& file, const std::string& trusted_key_pem);

}  // namespace sk::server
