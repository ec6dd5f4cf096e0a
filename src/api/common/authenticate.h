// Authentication: turns the credential of a request into an Actor. Any thread.
#pragma once

#include <optional>
#include <string>

#include "api/app.h"
#include "http/message.h"
#include "workspace/types.h"

namespace sk::api {

inline constexpr std::string_view kSessionCookie = "sandkeep_session";

// The credential that a request carries.
struct Credential {
  std::string secret;
  // True for the page's cookie. Browsers attach it to every request, so it only permits reads, and forms that
  // carry their token.
  bool from_cookie = false;
  std::string form_token = {};  // of the signed-in session; only for cookies
};

// Reads `Authorization: Bearer KEY` or Basic (the key is the password), X-API-Key (api-key, x-ms-apikey), or
// the page's cookie. Returns nullopt when none is present. Error(unauthorized) for a malformed Authorization
// header.
std::optional<Credential> find_credential(App& app, const http::Request& request);

// Returns the value of a cookie; nullopt when it was not sent.
std::optional<std::string> find_cookie(const http::Request& request, std::string_view name);

// Returns the actor of a key. Error(unauthorized) when it is not valid, Error(too_many_requests) when it is
// nobody's and too many wrong keys came from the request's address.
workspace::Actor authenticate_key(App& app, http::Request& request, std::string_view secret);

// Error(unauthorized) without a valid key. Error(forbidden) for a cookie on a request that could change
// something. Otherwise as authenticate_key().
workspace::Actor authenticate(App& app, http::Request& request, const std::optional<Credential>& credential);

// As authenticate(), but also accepts a token that LibreChat signed. The token's subject becomes the actor.
workspace::Actor authenticate_or_token(App& app, http::Request& request,
                                       const std::optional<Credential>& credential);

}  // namespace sk::api
