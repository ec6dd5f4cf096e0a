#include "api/mcp/guard.h"

#include <algorithm>

#include "base/text.h"

namespace sk::api::mcp {

namespace {

// "[::1]:8420" → "[::1]", "Example.com:80" → "example.com".
std::string host_of(std::string_view authority) {
  authority = trim(authority);
  auto end = authority.starts_with('[') ? authority.find(']') : authority.find(':');
  if (end != std::string_view::npos && authority.starts_with('[')) ++end;
  return ascii_lower(authority.substr(0, end));
}

// "https://host:port/path" → "host:port"; empty when it is not a URL, such as "null".
std::string_view authority_of(std::string_view url) {
  auto scheme = url.find("://");
  if (scheme == std::string_view::npos) return {};
  url.remove_prefix(scheme + 3);
  return url.substr(0, url.find('/'));
}

bool is_this_machine(const std::string& host) {
  return host == "localhost" || host == "127.0.0.1" || host == "[::1]" || host == "::1";
}

}  // namespace

void check_host_and_origin(const App& app, const http::Request& request) {
  auto host = host_of(request.headers.get("Host").value_or(""));
  auto own = host_of(authority_of(app.settings.public_url));
  bool local_only = is_this_machine(ascii_lower(app.settings.listen.host));
  bool host_is_ours = is_this_machine(host) || (!own.empty() && host == own);
  if (local_only && !host_is_ours)
    throw Error(Code::forbidden, "this server does not answer requests for that host name")
        .hint("The server's operator can set public_url to the address that clients use.");
  auto origin = request.headers.get("Origin");
  if (!origin) return;
  const auto& allowed = app.settings.cors_origins;
  if (std::find(allowed.begin(), allowed.end(), *origin) != allowed.end() ||
      std::find(allowed.begin(), allowed.end(), "*") != allowed.end())
    return;
  auto origin_host = host_of(authority_of(*origin));
  if (is_this_machine(origin_host) || (!own.empty() && origin_host == own)) return;
  // Where the server is reachable from other machines, an origin with the same host name is its own page.
  if (!local_only && !origin_host.empty() && origin_host == host) return;
  throw Error(Code::forbidden, "web pages of that origin may not use this server")
      .hint("The server's operator can add it to cors_origins.");
}

}  // namespace sk::api::mcp
