#include "server/server.h"

#include "sandbox/host.h"
#include "server/assembly.h"

namespace sk::server {

void run(const Settings& settings, const Clock& clock, const api::mcp::Extension* mcp_extension,
         const std::function<void(const Listening&)>& until_end) {
  Assembly server(settings, clock, mcp_extension);
  server.provision();
  server.recover();
  server.listen();
  until_end({server.url(), server.first_key(), server.authority_file()});
  server.stop();
}

sandbox::Report examine_sandbox(const std::string& folder) { return sandbox::SandboxHost::doctor(folder); }

workspace::AuditVerdict verify_audit(const std::string& file, const std::string& trusted_key_pem) {
  return workspace::Audit::verify_file(file, trusted_key_pem);
}

}  // namespace sk::server
