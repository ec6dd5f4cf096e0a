// The remote system that has a message's files. A value that is never stored or logged.
#pragma once

#include <string>

#include "base/json.h"

namespace sk::bridge {

enum class SourceKind { openai, foundry, azure };

struct RemoteSource {
  SourceKind kind = SourceKind::openai;
  std::string base_url;   // without a trailing '/'
  std::string key;        // of the remote system: a secret
  std::string container;  // for links that name no container; may be empty
};

enum class PlainHttp { refused, allowed };

// Parses {kind, base_url, key, container}. Error(bad_request) names the field and never contains the key.
// Keys are sent over https only, unless private addresses are allowed, for tests and local servers.
RemoteSource parse_source(const Json& json, PlainHttp plain_http);

// Returns "https://host:port" of a URL in lower case; empty if it has no such origin.
std::string origin_of_url(std::string_view url);

}  // namespace sk::bridge
