#include "server/server.h"

#include <malloc.h>

#include "sandbox/host.h"
#include "server/assembly.h"
#include "server/privileges.h"

namespace sk::server {

namespace {

// Large blocks go back to the system as soon as they are freed. By default, the allocator raises this limit
// to the largest block freed so far, and then keeps blocks of that size.
void return_large_blocks() { ::mallopt(M_MMAP_THRESHOLD, 1 << 20); }

}  // namespace

void run(const Settings& settings, const Clock& clock, const api::mcp::Extension* mcp_extension,
         const std::function<void(const Listening&)>& until_end) {
  return_large_blocks();
  auto sandbox = prepare_and_confine(settings);
  Assembly server(settings, std::move(sandbox), clock, mcp_extension);
  server.provision();
  server.recover();
  server.listen();
  until_end({server.url(), server.first_key(), server.authority_file(), server.code()});
  server.stop();
}

sandbox::Report examine_sandbox(const std::string& folder) { return sandbox::SandboxHost::doctor(folder); }

workspace::AuditVerdict verify_audit(const std::string& file, const std::string& trusted_key_pem) {
  return workspace::Audit::verify_file(file, trusted_key_pem);
}

}  // namespace sk::server
