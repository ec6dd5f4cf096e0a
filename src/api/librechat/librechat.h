// LibreChat's code interpreter under /librechat/v1, and under /librechat/{key}/v1 for versions of LibreChat
// that send no key of their own. Both generations of the protocol are answered at once: what one calls
// session_id and the other storage_session_id is in every answer under both names.
//
// Ids are 21 characters, as LibreChat demands: a session's, and a version's for a file, so that a file id
// gives the same bytes for ever.
#pragma once

#include <optional>

#include "api/common/routes.h"
#include "api/settings.h"
#include "identity/jwt.h"

namespace sk::api::librechat {

// Adds one call under both addresses.
class Mounts {
 public:
  explicit Mounts(Routes& routes) : routes_(routes) {}
  // `operation.pattern` is what stands behind /v1, such as "/exec".
  void add(const Operation& operation, const CallHandler& handler);
  void add_streaming(const Operation& operation, const CallSinkHandler& handler);

 private:
  Routes& routes_;
};

void add_exec_routes(Mounts& mounts);
void add_programmatic_routes(Mounts& mounts);
void add_upload_routes(Mounts& mounts);
void add_file_routes(Mounts& mounts);

// All of the above.
void add_routes(Routes& routes);

// What checks LibreChat's tokens, where the settings name a key. Error(bad_request) for a file that holds
// none.
std::optional<identity::JwtVerifier> load_token_verifier(const Settings& settings);

}  // namespace sk::api::librechat
