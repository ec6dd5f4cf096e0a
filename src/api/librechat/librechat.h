// LibreChat's code interpreter under /librechat/v1, and under /librechat/{key}/v1 for versions of LibreChat
// that send no key. Supports both generations of the protocol at once. Every answer contains the session
// under both names, session_id and storage_session_id.
//
// Ids have 21 characters, as LibreChat requires. A session id names a session. A file id names a version, so
// it returns the same bytes forever.
#pragma once

#include <optional>

#include "api/common/routes.h"
#include "api/settings.h"
#include "identity/jwt.h"

namespace sk::api::librechat {

// Adds one call under both paths.
class Mounts {
 public:
  explicit Mounts(Routes& routes) : routes_(routes) {}
  // `operation.pattern` is the path after /v1, such as "/exec".
  void add(const Operation& operation, const CallHandler& handler);
  void add_streaming(const Operation& operation, const CallSinkHandler& handler);

 private:
  Routes& routes_;
};

void add_exec_routes(Mounts& mounts);
void add_programmatic_routes(Mounts& mounts);
void add_upload_routes(Mounts& mounts);
void add_file_routes(Mounts& mounts);

// Adds all of the above.
void add_routes(Routes& routes);

// Returns the verifier of LibreChat's tokens; nullopt when the settings name no key. Error(bad_request) when
// the file contains no usable key.
std::optional<identity::JwtVerifier> load_token_verifier(const DialectSettings& settings);

}  // namespace sk::api::librechat
