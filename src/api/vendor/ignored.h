// Telling a client what of its request was not understood, where a dialect takes more than it knows.
#pragma once

#include <string>
#include <vector>

#include "http/message.h"

namespace sk::api {

// Sets `X-Sandkeep-Ignored: name, name`, percent-encoded and cut where it gets long; nothing for no names.
void add_ignored(http::Reply& reply, const std::vector<std::string>& names);

}  // namespace sk::api
