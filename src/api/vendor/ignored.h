// Tells a client which fields of its request were ignored, in dialects that accept unknown fields.
#pragma once

#include <string>
#include <vector>

#include "http/message.h"

namespace sk::api {

// Sets `X-Sandkeep-Ignored: name, name`, percent-encoded and truncated when long. Sets nothing for an empty
// list.
void add_ignored(http::Reply& reply, const std::vector<std::string>& names);

}  // namespace sk::api
