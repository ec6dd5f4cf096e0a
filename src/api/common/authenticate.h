// From a request to who is asking.
#pragma once

#include <optional>
#include <string>

#include "api/app.h"
#include "http/message.h"
#include "workspace/types.h"

namespace sk::api {

inline constexpr std::string_view kSessionCookie = "sandkeep_session";

// What a request proves itself with.
struct Credential {
  std::string secret;
  // The page's cookie comes by itself with whatever a browser sends, so it only opens what changes nothing,
  // and forms with their token.
  bool from_cookie = false;
  std::string form_token = {};  // of the session, for cookies
};

// Authorization: Bearer KEY or Basic (the key is the password), X-API-Key (api-key, x-ms-apikey), or the
// page's cookie; nullopt without any of them. Error(unauthorized) for an Authorization header that cannot be
// read.
std::optional<Credential> find_credential(App& app, const http::Request& request);

// The value of a cookie, if it was sent.
std::optional<std::string> find_cookie(const http::Request& request, std::string_view name);

// Error(unauthorized) without a valid key; Error(forbidden) for a cookie on a request that could change
// something.
workspace::Actor authenticate(App& app, const http::Request& request,
                              const std::optional<Credential>& credential);

// The same, where a token that LibreChat signed may stand in the key's place: its subject becomes the actor.
workspace::Actor authenticate_or_token(App& app, const http::Request& request,
                                       const std::optional<Credential>& credential);

}  // namespace sk::api
