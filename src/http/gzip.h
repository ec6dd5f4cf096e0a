// gzip compression of whole replies, with zlib. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "http/message.h"

namespace sk::http {

// Returns whether the value of an Accept-Encoding header allows gzip.
bool accepts_gzip(std::string_view accept_encoding);

// Returns whether compressing this reply is useful and allowed. True for a JSON or text string over 1 KiB
// that is not a range, a stored file or already encoded.
bool worth_gzip(const Reply& reply);

std::string gzip(std::string_view data);

}  // namespace sk::http
