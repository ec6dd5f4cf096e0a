// gzip of whole replies (zlib). Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "http/message.h"

namespace sk::http {

// Whether an Accept-Encoding header's value allows gzip.
bool accepts_gzip(std::string_view accept_encoding);

// Whether this reply gains from compression and may be changed: a string of JSON or text over 1 KiB that is
// no range, no stored file and not yet encoded.
bool worth_gzip(const Reply& reply);

std::string gzip(std::string_view data);

}  // namespace sk::http
