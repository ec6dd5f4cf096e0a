#include "api/librechat/librechat.h"

#include "base/error.h"
#include "base/fd.h"

namespace sk::api::librechat {

namespace {

Operation at(const Operation& operation, const std::string& root) {
  Operation out = operation;
  out.pattern = root + operation.pattern;
  out.hidden = out.lenient = out.opens_locks = out.takes_librechat_token = true;
  if (root.find("{key}") != std::string::npos) {
    out.key_param = "key";
    out.id += "_by_key";
  }
  // LibreChat's queries say for whom a file is. Access depends only on the actor.
  out.query = std::move(out.query) + Fields{{.name = "kind", .about = "user, agent or skill."},
                                            {.name = "id", .about = "The id of that entity."},
                                            {.name = "version", .about = "Of a skill."},
                                            {.name = "entity_id", .about = "The same, for older versions."}};
  return out;
}

const std::string kRoots[] = {"/librechat/v1", "/librechat/{key}/v1"};

}  // namespace

void Mounts::add(const Operation& operation, const CallHandler& handler) {
  for (const auto& root : kRoots) routes_.add(at(operation, root), handler);
}

void Mounts::add_streaming(const Operation& operation, const CallSinkHandler& handler) {
  for (const auto& root : kRoots) routes_.add_streaming(at(operation, root), handler);
}

void add_routes(Routes& routes) {
  Mounts mounts(routes);
  mounts.add({.method = "GET",
              .pattern = "/health",
              .id = "librechat_health",
              .tag = "librechat",
              .summary = "Checks whether the server answers",
              .auth = Auth::nobody,
              .health_check = true},
             [](Call&) { return http::Reply::json({{"status", "ok"}}); });
  add_exec_routes(mounts);
  add_programmatic_routes(mounts);
  add_upload_routes(mounts);
  add_file_routes(mounts);
}

std::optional<identity::JwtVerifier> load_token_verifier(const DialectSettings& settings) {
  if (settings.librechat_jwt_key.empty()) return std::nullopt;
  auto verifier = identity::JwtVerifier::from_pem(read_file(settings.librechat_jwt_key),
                                                  {.issuer = settings.librechat_jwt_issuer,
                                                   .audience = settings.librechat_jwt_audience,
                                                   .life_max_s = settings.librechat_jwt_life_max_s});
  if (!verifier)
    throw Error(Code::bad_request, settings.librechat_jwt_key +
                                       " (librechat_jwt_key) does not contain a public key in PEM: Ed25519, "
                                       "or RSA of at least 2048 bits")
        .hint("Create it from the private key: openssl pkey -in PRIVATE.pem -pubout -out PUBLIC.pem");
  return verifier;
}

}  // namespace sk::api::librechat
