#include "api/common/authenticate.h"

#include "base/text.h"

namespace sk::api {

namespace {

std::string secret_from_basic(std::string_view encoded) {
  auto decoded = from_base64(trim(encoded));
  auto colon = decoded ? decoded->find(':') : std::string::npos;
  if (!decoded || colon == std::string::npos) {
    throw Error(Code::unauthorized, "the Authorization header is not valid Basic authentication");
  }
  auto password = decoded->substr(colon + 1);
  // `curl -u KEY:` sends the key as the user name.
  return password.empty() ? decoded->substr(0, colon) : password;
}

std::string secret_from_authorization(std::string_view value) {
  value = trim(value);
  auto space = value.find(' ');
  auto scheme = ascii_lower(value.substr(0, space));
  auto rest = space == std::string_view::npos ? std::string_view{} : trim(value.substr(space + 1));
  if (scheme == "bearer" && !rest.empty()) return std::string(rest);
  if (scheme == "basic" && !rest.empty()) return secret_from_basic(rest);
  throw Error(Code::unauthorized,
              "the Authorization header must be 'Bearer KEY' or Basic with the key as password");
}

}  // namespace

std::optional<std::string> find_cookie(const http::Request& request, std::string_view name) {
  for (const auto& [header, value] : request.headers.all()) {
    if (ascii_lower(header) != "cookie") continue;
    for (auto part : split(value, ';')) {
      part = trim(part);
      auto equals = part.find('=');
      if (equals != std::string_view::npos && part.substr(0, equals) == name)
        return std::string(part.substr(equals + 1));
    }
  }
  return std::nullopt;
}

std::optional<Credential> find_credential(App& app, const http::Request& request) {
  if (auto value = request.headers.get("Authorization"))
    return Credential{.secret = secret_from_authorization(*value)};
  // The header names of Sandkeep and LibreChat, of Azure OpenAI, and of Azure's session pools.
  for (auto name : {"X-API-Key", "api-key", "x-ms-apikey"}) {
    if (auto value = request.headers.get(name)) return Credential{.secret = std::string(trim(*value))};
  }
  auto cookie = find_cookie(request, kSessionCookie);
  if (!cookie) return std::nullopt;
  auto session = app.sign_ins.find(*cookie);
  if (!session) return std::nullopt;
  return Credential{.secret = session->secret, .from_cookie = true, .form_token = session->form_token};
}

workspace::Actor authenticate_key(App& app, http::Request& request, std::string_view secret) {
  auto& access = app.keep.access();
  // A right key is accepted also from an address that sends wrong ones.
  if (app.rates.is_slowed(request) && !access.may_exist(secret)) throw app.rates.too_many_wrong_keys(request);
  try {
    return access.authenticate(secret);
  } catch (const Error& error) {
    // A revoked or expired key is no guess.
    if (error.code() == Code::unauthorized && !access.may_exist(secret)) app.rates.note_wrong_key(request);
    throw;
  }
}

workspace::Actor authenticate(App& app, http::Request& request, const std::optional<Credential>& credential) {
  if (!credential) throw Error(Code::unauthorized, "this needs a key");
  if (credential->from_cookie && request.method != "GET" && request.method != "HEAD") {
    throw Error(Code::forbidden, "a signed-in browser may only read here").advise(Advice::send_valid_key);
  }
  return authenticate_key(app, request, credential->secret);
}

workspace::Actor authenticate_or_token(App& app, http::Request& request,
                                       const std::optional<Credential>& credential) {
  if (!credential || !identity::JwtVerifier::looks_like_token(credential->secret))
    return authenticate(app, request, credential);
  if (!app.librechat_tokens)
    throw Error(Code::unauthorized, "this server has no key to verify LibreChat's tokens")
        .hint("Start the server with --librechat-jwt-key FILE, or configure LibreChat to send a key.");
  auto claims = app.librechat_tokens->verify(credential->secret, app.clock.now_us());
  return app.keep.access().actor_of_subject("librechat", claims.subject);
}

}  // namespace sk::api
