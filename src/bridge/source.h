// Where a message's files are, when they are not here. A value; nothing of it is ever stored or logged.
#pragma once

#include <string>

#include "base/json.h"

namespace sk::bridge {

enum class SourceKind { openai, foundry, azure };

struct Source {
  SourceKind kind = SourceKind::openai;
  std::string base_url;   // without a '/' at the end
  std::string key;        // of somebody else's system: a secret
  std::string container;  // the one that links without an own one belong to; may be empty
};

enum class PlainHttp { refused, allowed };

// From {kind, base_url, key, container}. Error(bad_request) that names the field, and never shows the key.
// Keys travel over https only, unless private addresses are allowed, where they may be tests and neighbours.
Source parse_source(const Json& json, PlainHttp plain_http);

// "https://host:port" of a URL, in lower case; empty when it is none.
std::string origin_of_url(std::string_view url);

}  // namespace sk::bridge
